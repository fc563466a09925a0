// What check --assemble says of kernels, of scripts and of PTX texts.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "wgrun/finding_set.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::cli {

/// The reports on some kernels.
struct Assembly {
    std::vector<std::pair<std::string, AssemblyReport>> reports;  ///< by the kernel's name
    std::string missing;                                          ///< the reason, if there is no assembler

    /// Assembles a kernel. Its findings, and faults of the assembler that may hit it, go to `findings`.
    /// Throws EnvironmentError ECOMPILE, EINTR.
    void add(Kernel& kernel, const std::string& name, const std::atomic<bool>* stop, FindingSet& findings);
    std::string text() const;
    /// Adds `assembly` and, if there is no assembler, `not_assembled`.
    void add_to(nlohmann::ordered_json& json) const;
};

}  // namespace wgrun::cli
