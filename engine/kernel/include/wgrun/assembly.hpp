// What the assembler's report on a kernel amounts to, as `wgrun report` prints it.
#pragma once

#include <string>
#include <string_view>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The CTAs of a kernel that fit into an SM at a time.
struct CtasPerSm {
    int count = 0;
    std::string_view limited_by;  ///< "registers", "shared memory", "threads" or "CTAs"
};

/// `threads` of a CTA.
CtasPerSm ctas_per_sm(const AssemblyReport& report, int threads);

/// The version of the ptxas that is here; empty: there is none. Asks it once in the life of the process.
const std::string& ptxas_version();
/// The version of ptxas if it made the report; empty if the driver did.
std::string assembler_version(const AssemblyReport& report);

/// Of the report on a kernel with this program: a few lines, and an entry of `kernels` of `wgrun report
/// --json`.
std::string to_text(const AssemblyReport& report, const Program& program);
std::string to_json(const AssemblyReport& report, const Program& program);

}  // namespace wgrun

#pragma GCC visibility pop
