// The assembler's notes on a kernel, as findings of the catalogue at lines of the script.
#pragma once

#include <span>
#include <vector>

#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

/// A code of ptxas and what it means: one row each.
struct AssemblerCode {
    /// The subject of a note that names no line.
    enum class About : std::uint8_t { pipeline, operands, reads, writes, calls, quoted };
    std::string_view code;  ///< "C7510"
    const Rule* rule;
    About about;
    std::string_view message;     ///< what the assembler has found; of a repair, what it inserts
    std::string_view fix;         ///< as a script's author is told it
    std::string_view fix_in_ptx;  ///< empty: in the same words
    std::string_view cause;       ///< what it usually is in kernels
};
std::span<const AssemblerCode> assembler_codes();

/// The notes and figures of `log` (ptxas, the driver's JIT, NVRTC) as WG-PERF findings, in the order of the
/// log. `lines` is emit::Text::lines of the text that was assembled; without it, and for notes that name no
/// line, the program says which of its steps they are about, and `calls` where it calls functions.
std::vector<Diagnostic> assembler_findings(const gpu::AssemblerLog& log, std::span<const Where> lines,
                                           const Program& program, std::span<const Where> calls = {});

/// Where the script asked for what the first error of `log` is about; the kernel's own place if it names no
/// line.
Where place_of_error(const gpu::AssemblerLog& log, std::span<const Where> lines, const Program& program);

}  // namespace wgrun
