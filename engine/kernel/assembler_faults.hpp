// What is known of versions of ptxas: the PTX that each reads, and the faults that each has.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// 13.0.88
using AssemblerVersion = std::array<int, 3>;

/// Reads "13.0.88", or as much of it as there is; nothing: it is no version.
std::optional<AssemblerVersion> assembler_version_of(std::string_view text);

/// Returns the latest version of PTX that such a ptxas, or a driver of that version of CUDA, reads; nothing:
/// it is older than all that are known.
std::optional<isa::PtxVersion> newest_ptx(AssemblerVersion version);

/// A fault that changes what a correct kernel computes.
struct AssemblerFault {
    std::string_view reports;         ///< where it was found: "triton#11781"
    AssemblerVersion first{}, until;  ///< the versions that have it, without the last
    std::string_view what;
    /// The kernels that it can hit, in words, and whether one is such a kernel. None: their shape is not
    /// known.
    std::string_view shape;
    std::optional<Where> (*hits)(const Program& program);
    std::string_view remedy;

    bool in(AssemblerVersion version) const { return version >= first && version < until; }
};

std::span<const AssemblerFault> assembler_faults();

/// Returns the findings (WG-ASM-03) of a kernel that a ptxas of that version assembles.
std::vector<Diagnostic> faults_hitting(const Program& program, AssemblerVersion version);

}  // namespace wgrun
