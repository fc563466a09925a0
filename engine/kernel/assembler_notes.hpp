// The assembler's notes on a kernel, as findings of the catalogue at lines of the script.
#pragma once

#include <span>
#include <vector>

#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// The notes and figures of `log` (ptxas, the driver's JIT, NVRTC) as WG-PERF findings, in the order of the
/// log. `lines` is emit::Text::lines of the text that was assembled; without it, and for notes that name no
/// line, the program says which of its steps they are about.
std::vector<Diagnostic> assembler_findings(const gpu::AssemblerLog& log, std::span<const Where> lines,
                                           const Program& program);

/// Where the script asked for what the first error of `log` is about; the kernel's own place if it names no
/// line.
Where place_of_error(const gpu::AssemblerLog& log, std::span<const Where> lines, const Program& program);

}  // namespace wgrun
