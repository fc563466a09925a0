// A debugger for kernels, on the simulator (docs/debugging.md).
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

/// Whom a stop is for, and when: "cta=3,warp=1,nth=2". What is absent may be anything.
struct DebugWhen {
    std::optional<std::uint64_t> cta;  ///< number in the grid, x counting first
    std::optional<int> warp;           ///< of the CTA
    std::optional<int> lane;           ///< that takes part
    std::optional<std::uint64_t> nth;  ///< time that the warp comes there, from 1

    /// Reads "cta=3,warp=1,lane=4,nth=2"; thread=36 stands for its warp and lane. Throws ArgumentError.
    static DebugWhen parse(std::string_view text);
};

/// What is printed when warps come to a line.
struct DebugDump {
    std::string name;  ///< a register or an array as the script calls it, a shared buffer, a parameter
    int line = 0;      ///< of the script
    DebugWhen when;

    /// Reads "acc@42". Throws ArgumentError.
    static DebugDump parse(std::string_view text);
};

/// Where commands come from and answers go.
struct DebugConsole {
    /// The next command; nothing: there are no more, and the kernel runs on to its end.
    std::function<std::optional<std::string>()> read;
    std::function<void(std::string_view)> write;  ///< whole lines
    /// Raised from outside, it stops the kernel as soon as possible, and is taken back.
    std::atomic<bool>* interrupt = nullptr;
};

/// Runs the kernel on the simulator under the commands of the console: before its first step, and wherever it
/// is to stop. Going back is running again: the same seed gives the same run. What the static checker finds
/// is said, and the kernel runs all the same. Throws what Kernel::run throws of the run, at its end. The
/// tensors are then as after a run; ended by `quit`, they are as before.
void debug(Kernel& kernel, const RunOptions& options, const DebugConsole& console);

/// Runs the kernel on the simulator and writes each dump when warps come to its line, the first time if it
/// does not say which; a fragment of a warpgroup when all four warps have. For each dump: has anybody come
/// there? What is of a line that no step of this kernel has is left alone. Throws what Kernel::run throws,
/// and ArgumentError, before the run, for a name that nothing has.
std::vector<bool> dump(Kernel& kernel, const RunOptions& options, std::span<const DebugDump> dumps,
                       const std::function<void(std::string_view)>& write);

}  // namespace wgrun

#pragma GCC visibility pop
