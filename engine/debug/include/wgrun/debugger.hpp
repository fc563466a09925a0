// A debugger for kernels, on the simulator (docs/debugging.md). Thread-safe for different kernels.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The threads that stop, and when: "cta=3,warp=1,nth=2". An absent field matches anything.
struct DebugWhen {
    std::optional<std::uint64_t> cta;  ///< its number in the grid; x counts fastest
    std::optional<int> warp;           ///< within its CTA
    std::optional<int> lane;           ///< a lane that executes the step
    std::optional<std::uint64_t> nth;  ///< the nth time that a warp gets there, from 1

    /// Reads "cta=3,warp=1,lane=4,nth=2"; thread=36 gives warp and lane. Throws ArgumentError for other text.
    static DebugWhen parse(std::string_view text);
};

/// A value to print when warps reach a line.
struct DebugDump {
    std::string name;  ///< a register or array by its name in the script, a shared buffer, a parameter
    int line = 0;      ///< of the script
    DebugWhen when;

    /// Reads "acc@42". Throws ArgumentError for other text.
    static DebugDump parse(std::string_view text);
};

/// The source of commands and the sink of output.
struct DebugConsole {
    /// Returns the next command, or nothing if there are no more: the kernel then runs to its end.
    std::function<std::optional<std::string>()> read;
    std::function<void(std::string_view)> write;  ///< receives whole lines
    /// When another thread sets it, the kernel stops as soon as possible, and the flag is cleared.
    std::atomic<bool>* interrupt = nullptr;
};

/// Runs the kernel on the simulator under the console's commands, which are read before the first step and at
/// every stop. Going back means running again: the same seed gives the same run. Findings of the static
/// checker are printed, and the kernel runs nevertheless. At its end it throws what Kernel::run throws for a
/// run; the tensors are then as after a run. After `quit` they are as before.
void debug(Kernel& kernel, const RunOptions& options, const DebugConsole& console);

/// Runs the kernel on the simulator and writes each dump when warps reach its line, by default the first
/// time; a fragment of a warpgroup when all four warps have reached it. Returns for each dump whether a warp
/// has reached it. Dumps at lines without a step of this kernel are ignored. Throws what Kernel::run throws
/// and, before the run, ArgumentError for a name that does not exist.
std::vector<bool> dump(Kernel& kernel, const RunOptions& options, std::span<const DebugDump> dumps,
                       const std::function<void(std::string_view)>& write);

}  // namespace wgrun

#pragma GCC visibility pop
