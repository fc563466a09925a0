// Launches: kernel:run, kernel:time, kernel:prepare.
#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/launch_options.hpp"

namespace wgrun::lua {
namespace {

constexpr Option guarded_key[] = {
    {"guarded", "boolean = false", "runs the guarded build, which reports what hangs or faults"}};
constexpr auto run_keys = joined(launch_keys, guarded_key);
constexpr Option measurement_keys[] = {
    {"rounds", "integer = 20", "the number of measured launches, 1 to 100000"},
    {"against", "cublas?", "made by wg.cublas: measured in turn with the kernel, for comparison"}};
constexpr auto time_keys = joined(launch_keys, measurement_keys);

// kernel:run{ grid =, args =, backend =, seed =, timeout_ms =, numerics =, unchecked =, guarded = }: the back
// end that ran it
int kernel_run(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:run", run_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_launch_options(L, kernel, options, run);
    run.guarded = options.boolean("guarded", false);
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        lua_pushliteral(L, "none");
        return 1;
    }
    Backend backend = run.backend;
    run_guarded(L, [&] {
        if (!session(L).debug) {
            backend = kernel.run(run);
            return;
        }
        session(L).debug(kernel, run);
        backend = Backend::sim;
    });
    warn_of_assembly(L, kernel);
    const std::string_view name = to_string(backend);
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

void push_timing(lua_State* L, const Timing& timing) {
    lua_createtable(L, 0, 7);
    put_number(L, "median_us", timing.median_us);
    put_number(L, "min_us", timing.min_us);
    put_number(L, "max_us", timing.max_us);
    put_number(L, "tflops", timing.tflops);
    put_integer(L, "rounds", timing.rounds);
    put_string(L, "backend", to_string(timing.backend));
}

// kernel:time{ ..., rounds =, flops = }: { median_us, min_us, max_us, tflops, rounds, backend }
int kernel_time(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:time", time_keys);
    auto& run = held<WithTensors<TimeOptions>>(L);
    read_launch_options(L, kernel, options, run);
    run.rounds = static_cast<int>(options.integer("rounds", 20, 1, 100000));
    run.flops = options.number("flops", 0);
    if (options.push("against") != LUA_TNIL) {
        const CublasBox* against = test<CublasBox>(L, -1);
        if (against == nullptr) options.fail_value("against", "a product made by wg.cublas");
        run.against = &*against->cublas;
    }
    auto& timing = held<Timing>(L);
    timing.backend = run.backend;
    if (session(L).mode == Mode::run) {
        run_guarded(L, [&] { timing = kernel.time(run); });
        warn_of_assembly(L, kernel);
    } else {
        trace_launch(L, kernel, run);
    }
    push_timing(L, timing);
    if (timing.against) {
        push_timing(L, *timing.against);
        lua_setfield(L, -2, "against");
    }
    return 1;
}

// kernel:resident_clusters(): the number of clusters (CTAs, where it has none) that the GPU runs at a time;
// nil without a GPU. Compiles the kernel.
int kernel_resident_clusters(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    auto& clusters = held<std::optional<int>>(L);
    const Session& here = session(L);
    if (here.resident_clusters)
        guarded(L, [&] { clusters = here.resident_clusters(kernel); });
    else if (here.mode == Mode::run && resolve_backend(L, Backend::automatic) != Backend::sim)
        guarded(L, [&] {
            const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
            clusters = kernel.resident_clusters(here.isolation);
        });
    if (clusters)
        lua_pushinteger(L, *clusters);
    else
        lua_pushnil(L);
    return 1;
}

// kernel:prepare{ grid =, args =, backend =, seed =, timeout_ms =, numerics =, unchecked = }: a launch.
// Launches that live at the same time share the tensors on the device.
int kernel_prepare(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:prepare", launch_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_launch_options(L, kernel, options, run);
    const bool runs = session(L).mode == Mode::run;
    if (!runs) trace_launch(L, kernel, run);
    auto& launch = held<std::optional<Launch>>(L);
    const bool debugged = runs && session(L).debug;
    if (runs && !debugged) guarded_collecting(L, [&] { launch.emplace(kernel.prepare(run)); });
    LaunchBox& box = push_object<LaunchBox>(L, [&] {
        return LaunchBox{run.tensors, run.device_tensors, std::move(launch)};
    });
    if (debugged || (box.launch && box.launch->backend() == Backend::sim))
        guarded(L, [&] { box.simulated.emplace(run); });
    warn_of_assembly(L, kernel);
    // Keeps the tensors alive even if the caller's list changes; and the kernel, at 0.
    lua_createtable(L, static_cast<int>(run.args.size()), 1);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 0);
    if (options.push("args") == LUA_TTABLE) {
        for (std::size_t i = 1; i <= run.args.size(); ++i) {
            lua_rawgeti(L, -1, static_cast<lua_Integer>(i));
            lua_rawseti(L, -3, static_cast<lua_Integer>(i));
        }
    }
    lua_pop(L, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

// The launch at argument 1; raises when one of its tensors was closed.
std::optional<Launch>& check_launch(lua_State* L) {
    LaunchBox& box = check<LaunchBox>(L, 1);
    lua_getiuservalue(L, 1, 1);
    const lua_Integer count = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, i);
        test_tensor(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return box.launch;
}

template <void (Launch::*step)()>
int launch_step(lua_State* L) {
    std::optional<Launch>& launch = check_launch(L);
    guarded_collecting(L, [&] {
        if (launch) ((*launch).*step)();
    });
    return 0;
}

// launch:start(): on the GPU it does not touch host tensors, and it is kept short.
int launch_start(lua_State* L) {
    LaunchBox& box = check<LaunchBox>(L, 1);
    std::optional<Launch>& launch = box.launch;
    if (!box.simulated) {
        if (launch) guarded_collecting(L, [&] { launch->start(); });
        return 0;
    }
    check_launch(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, 0);
    auto& kernel = check<Kernel>(L, -1);
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    guarded(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            if (session(L).debug)
                session(L).debug(kernel, *box.simulated);
            else
                launch->start();
        });
        if (launch && session(L).warn)
            for (const Diagnostic& finding : launch->take_remarks()) session(L).warn(finding);
    });
    warn_of_assembly(L, kernel);
    return 0;
}

}  // namespace

void open_launch(lua_State* L) {
    static const Member of_kernel[] = {{"run", kernel_run, R"(
Runs the kernel and waits until its results are in the tensors.
@param options table
@return string  the back end that ran it: "gpu", "gpu-cuda" or "sim"; "none" where kernels are only traced (wgrun check)
@raise when the checker finds an error, an argument does not fit its parameter, or the kernel faults, hangs or exceeds its time limit.
@example
  kernel:run { grid = { 4 }, args = { A, B, D, 1024 } })",
                                        run_keys},

                                       {"time", kernel_time, R"(
Measures how long the kernel takes, with its tensors already on the device.
@param options table
@return table
@field median_us number  the median, in microseconds
@field min_us number  the shortest, in microseconds
@field max_us number  the longest, in microseconds
@field tflops number  for the median, if `flops` is given; else 0
@field rounds integer  the number of measured launches
@field backend string  the back end that ran it
@field against table?  the same for `against`)",
                                        time_keys},

                                       {"prepare", kernel_prepare, R"(
Prepares a launch that can be started many times: compiles the kernel and copies the tensors to the device. Prepared launches share the tensors that they have in common.
@param options table
@return launch
@see launch)",
                                        launch_keys},

                                       {"resident_clusters", kernel_resident_clusters, R"(
The number of clusters (CTAs, where the kernel has none) that the GPU runs at a time. Compiles the kernel.
@return integer?  nil without a GPU)"},

                                       {}};
    add_methods<Kernel>(L, of_kernel);
    static const Member methods[] = {
        {"start", launch_start,
         "Starts the launch. On the GPU it returns at once; the simulator runs the kernel to its end."},

        {"wait", launch_step<&Launch::wait>, R"(
Waits until the started launches are complete.
@raise when the kernel faulted or hung.)"},

        {"upload", launch_step<&Launch::upload>,
         "Copies the tensors from host memory to the device again, after the host has changed them."},

        {"download", launch_step<&Launch::download>,
         "Waits until the started launches are complete, and copies the tensors that they wrote to host "
         "memory."},
        {}};
    declare<LaunchBox>(L, {.methods = methods, .text = R"(
A prepared launch, made by kernel:prepare: its kernel is compiled and its tensors are on the device.
@see kernel:prepare
@example
  local launch = kernel:prepare { grid = { 132 }, args = { A, B, D } }
  for _ = 1, 100 do launch:start() end
  launch:download()  -- waits, and copies D to the host)"});
}

}  // namespace wgrun::lua
