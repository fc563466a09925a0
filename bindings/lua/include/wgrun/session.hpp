// What the host (the command line, an embedding program) asks of the scripts of one Lua state.
#pragma once

#include <lua.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>

#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun::lua {

enum class Mode {
    run,    ///< kernels run
    trace,  ///< kernels are made and kept, kernel:run and kernel:time do nothing (wgrun check, ptx, cuda)
};

/// Belongs to the thread that has the Lua state, but for `stop`.
struct Session {
    Mode mode = Mode::run;
    /// What a kernel runs on when the script leaves it open.
    Backend backend = Backend::automatic;
    /// Whether the GPU's driver is in a worker process or in this one.
    gpu::Isolation isolation = gpu::Isolation::worker;
    /// How the simulator adds up when the script leaves it open.
    isa::Numerics numerics;
    std::uint64_t seed = 0;  ///< of the simulator's schedule, where a run names none
    /// While it is raised, simulator runs stop, and so does Lua code that was interrupted (interrupt.hpp).
    std::atomic<bool> stop = false;
    bool colour = false;         ///< of remarks, on standard error
    bool colour_output = false;  ///< of pictures, on standard output
    /// Where remarks go ("no GPU here: running on the simulator"). Empty: nowhere.
    std::function<void(std::string_view)> remark;
    /// Where warnings about a kernel that runs all the same go. Empty: nowhere.
    std::function<void(const Diagnostic&)> warn;

    /// Answers kernel:resident_clusters() for a host that launches the kernels itself. Empty: the device that
    /// they run on does, and nothing where they do not run.
    std::function<std::optional<int>(Kernel&)> resident_clusters;

    /// Runs the kernels in the place of kernel:run, for a debugger: on the simulator. Empty: kernel:run does.
    std::function<void(Kernel&, const RunOptions&)> debug;
    /// Hears of each launch that is only traced. Empty: nobody does.
    std::function<void(Kernel&, const RunOptions&)> traced;
    bool name_registers = false;  ///< kernels remember what the script calls their registers
    bool lines = false;           ///< machine code names the script's lines

    bool said_simulator = false;
    bool withheld = false;  ///< a launch was only traced: what it would have computed is not there
};

/// The session of this Lua state; made with the values above when the host made none.
Session& session(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
