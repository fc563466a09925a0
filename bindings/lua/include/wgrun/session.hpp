// The settings of one Lua state that its host (the command line, an embedding program) chooses.
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
    trace,  ///< kernels are made and kept; kernel:run and kernel:time do nothing (wgrun check, ptx, cuda)
};

/// Belongs to the thread that uses the Lua state, except `stop`.
struct Session {
    Mode mode = Mode::run;
    /// The back end of launches that leave it open.
    Backend backend = Backend::automatic;
    /// Whether the GPU's driver runs in a worker process or in this one.
    gpu::Isolation isolation = gpu::Isolation::worker;
    /// How the simulator accumulates when the script leaves it open.
    isa::Numerics numerics;
    std::uint64_t seed = 0;  ///< of the simulator's schedule, for launches without `seed`
    /// While it is true, simulator runs stop, and so does Lua code that was interrupted (interrupt.hpp).
    std::atomic<bool> stop = false;
    /// Where standard error is one, a line there may say what takes long; the debugger reads standard input.
    bool terminal = true;
    bool colour = false;         ///< of remarks, on standard error
    bool colour_output = false;  ///< of pictures, on standard output
    /// Receives what pictures and the debugger print. If it is empty, standard output does.
    std::function<void(std::string_view)> print;
    /// Receives remarks ("no GPU here: running on the simulator"). May be empty.
    std::function<void(std::string_view)> remark;
    /// Receives warnings about a kernel that runs nevertheless. May be empty.
    std::function<void(const Diagnostic&)> warn;

    /// Answers kernel:resident_clusters() for a host that launches the kernels itself. If it is empty, the
    /// device that they run on answers; where they do not run, there is no answer.
    std::function<std::optional<int>(Kernel&)> resident_clusters;

    /// Runs kernels on the simulator in place of kernel:run, for a debugger. May be empty.
    std::function<void(Kernel&, const RunOptions&)> debug;
    /// Called for each launch that is only traced. May be empty.
    std::function<void(Kernel&, const RunOptions&)> traced;
    /// Is told what launches on the simulator execute. May be null.
    Coverage* coverage = nullptr;
    bool name_registers = false;  ///< kernels remember the script's names of their registers
    bool lines = false;           ///< machine code names the script's lines

    bool said_simulator = false;
    bool withheld = false;  ///< a launch was only traced, so its results are missing
};

/// The session of this Lua state; made with the values above when the host made none.
Session& session(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
