// What kernel:run, kernel:time, kernel:prepare and the like have in common: the options of a launch, and what
// is done where kernels are only traced.
#pragma once

#include <memory>
#include <vector>

#include "bindings/lua/host_interrupt.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::lua {

/// Options of every launch.
constexpr Option launch_keys[] = {
    {"grid", "integer|table = 1", "CTAs along x, y and z: a number, or { x, y, z }"},
    {"args", "table", "a list of tensors and numbers, in the order of the parameters"},
    {"devices", "table?",
     "a list of such lists, in place of `args`: the grid runs on as many devices at the same time, each with "
     "arguments of its own, and all reach all tensors. The simulator alone does that"},
    {"backend", R"(string = "auto")",
     R"("gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one)"},
    {"seed", "integer = 0", "the seed of the simulator's schedule"},
    {"timeout_ms", "integer = 10000",
     "milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one "
     "is given"},
    {"numerics", R"(string|table = "exact")",
     R"(how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model)",
     numerics_keys},
    {"unchecked", "boolean = false", "runs the kernel although the checker found errors"},
    {"block", "integer|table?", "the threads of a CTA, for a kernel of wg.ptx whose text leaves them open"},
    {"cluster", "integer|table?",
     "the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open"},
    {"shared", "integer = 0", "bytes of dynamic shared memory, for a kernel of wg.ptx"},
    {"flops", "number = 0",
     "the floating-point operations of a launch, for the `tflops` of kernel:time; what measures nothing does "
     "without them"}};
/// The tensors of a launch.
struct LaunchTensors {
    std::vector<std::shared_ptr<Tensor>> tensors;
    std::vector<std::shared_ptr<DeviceTensor>> device_tensors;
};

/// Options of a launch that share ownership of its tensors. Does not live in a C++ frame.
template <class Base>
struct WithTensors : Base, LaunchTensors {};

/// Reads launch_keys.
void read_launch_options(lua_State* L, Kernel& kernel, const Options& options, RunOptions& out,
                         LaunchTensors& tensors);
template <class Base>
void read_launch_options(lua_State* L, Kernel& kernel, const Options& options, WithTensors<Base>& out) {
    read_launch_options(L, kernel, options, out, out);
}

/// Passes the assembler's warnings to the host, once for each kernel, when it is compiled.
void warn_of_assembly(lua_State* L, Kernel& kernel);

/// The stand-in for a launch where kernels are only traced.
void trace_launch(lua_State* L, Kernel& kernel, const RunOptions& run);

/// Runs a kernel by `run`: as guarded_collecting, within the state's limit of time, and ended by an interrupt
/// of the host.
template <class Run>
void run_guarded(lua_State* L, Run run) {
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    guarded_collecting(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            run();
        });
    });
}

}  // namespace wgrun::lua
