// Launches: kernel:run, kernel:time, kernel:prepare; and cuBLAS, to compare with.
#include <fmt/format.h>

#include <cstdio>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/host_interrupt.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/debugger.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/own_files.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::lua {
namespace {

void set_number(lua_State* L, const char* key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

/// Options of a launch that share ownership of its tensors. Does not live in a C++ frame.
template <class Base>
struct WithTensors : Base {
    std::vector<std::shared_ptr<Tensor>> tensors;
    std::vector<std::shared_ptr<DeviceTensor>> device_tensors;
};

/// Reads the list `args` for `program`: tensors and numbers.
void read_arguments(lua_State* L, const Program& program, const Options& options, std::vector<Argument>& out,
                    std::vector<std::shared_ptr<Tensor>>& tensors,
                    std::vector<std::shared_ptr<DeviceTensor>>& device_tensors) {
    if (!options.has("args")) return;
    if (options.push("args") != LUA_TTABLE) options.fail_value("args", "a list of tensors and numbers");
    const int list = lua_gettop(L);
    const lua_Integer count = luaL_len(L, list);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, list, i);
        if (const std::shared_ptr<Tensor>* tensor = test_tensor(L, -1)) {
            guarded(L, [&] { out.emplace_back(tensors.emplace_back(*tensor).get()); });
        } else if (const DeviceTensorBox* device = test<DeviceTensorBox>(L, -1)) {
            guarded(L, [&] { out.emplace_back(device_tensors.emplace_back(device->tensor).get()); });
        } else if (const ArgumentBox* made = test<ArgumentBox>(L, -1)) {
            guarded(L, [&] {
                out.push_back(made->argument);
                tensors.insert(tensors.end(), made->tensors.begin(), made->tensors.end());
                device_tensors.insert(device_tensors.end(), made->device_tensors.begin(),
                                      made->device_tensors.end());
            });
        } else if (lua_isinteger(L, -1)) {
            const std::int64_t value = lua_tointeger(L, -1);
            guarded(L, [&] { out.emplace_back(value); });
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            const double value = lua_tonumber(L, -1);
            guarded(L, [&] { out.emplace_back(value); });
        } else {
            const bool nothing = lua_isnil(L, -1);
            const ShortText got = describe(L, -1);
            fail(L, [&] {
                const std::vector<Param>& params = program.params();
                const bool known = static_cast<std::size_t>(i) <= params.size();
                return ArgumentError(
                    fmt::format(
                        "kernel {}, argument {}{}: expected a tensor or a number, got {}", program.name(), i,
                        known ? " (" + params[static_cast<std::size_t>(i - 1)].name + ")" : "", got.text),
                    nothing ? "a name that is misspelt, or not defined yet, is nil" : "");
            });
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

template <class Base>
void read_run_options(lua_State* L, Kernel& kernel, const Options& options, WithTensors<Base>& out) {
    out.grid = options.extents("grid");
    if (options.has("block")) out.block = options.extents("block");
    if (options.has("cluster")) out.cluster = options.extents("cluster");
    if (options.has("shared")) out.shared = options.integer("shared", {}, 0, max_shared_bytes);
    read_arguments(L, kernel.program(), options, out.args, out.tensors, out.device_tensors);
    const std::string_view backend = options.string("backend", "auto");
    const Backend asked = guarded(L, [&] { return backend_named(backend); });
    out.seed =
        static_cast<std::uint64_t>(options.integer("seed", static_cast<std::int64_t>(session(L).seed)));
    // The simulator is slow, so it has a limit only where the script sets one.
    const std::chrono::milliseconds timeout(options.integer("timeout_ms", 10000, 0, 86400000));
    out.timeout = within_limit(L, timeout);
    out.simulation = {within_limit(L, options.has("timeout_ms") ? timeout : timeout.zero()),
                      limit_state(L).limits.simulation_steps};
    out.numerics = read_numerics(L, options);
    out.unchecked = options.boolean("unchecked", false);
    out.lines = session(L).lines;
    out.stop = &session(L).stop;
    out.isolation = session(L).isolation;
    out.backend = session(L).mode == Mode::run ? resolve_backend(L, asked) : asked;
    guarded(L, [&] { kernel.fit(out); });
}

/// Options of every launch.
constexpr Option prepare_keys[] = {
    {"grid", "integer|table = 1", "CTAs along x, y and z: a number, or { x, y, z }"},
    {"args", "table", "a list of tensors and numbers, in the order of the parameters"},
    {"backend", R"(string = "auto")",
     R"("gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one)"},
    {"seed", "integer = 0", "the seed of the simulator's schedule"},
    {"timeout_ms", "integer = 10000",
     "milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one "
     "is given"},
    {"numerics", R"(string|table = "exact")",
     R"(how the simulator accumulates the products of wgmma: "exact", "h200", or the parameters of a model)",
     numerics_keys},
    {"unchecked", "boolean = false", "runs the kernel although the checker found errors"},
    {"block", "integer|table?", "the threads of a CTA, for a kernel of wg.ptx whose text leaves them open"},
    {"cluster", "integer|table?",
     "the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open"},
    {"shared", "integer = 0", "bytes of dynamic shared memory, for a kernel of wg.ptx"}};
constexpr Option guarded_key[] = {
    {"guarded", "boolean = false", "runs the guarded build, which reports what hangs or faults"}};
constexpr auto run_keys = joined(prepare_keys, guarded_key);
constexpr Option commands_key[] = {
    {"commands", "table?", "a list of commands; by default they are read from standard input"}};
constexpr auto debug_keys = joined(prepare_keys, commands_key);
constexpr Option profile_key[] = {
    {"clusters", "integer = 1",
     "how many clusters of the grid are noted, and those that run on their SMs later"},
    {"events", "integer = 4096", "room for so many events of each warp"}};
constexpr auto profile_keys = joined(prepare_keys, profile_key);
constexpr Option measurement_keys[] = {
    {"rounds", "integer = 20", "the number of measured launches, 1 to 100000"},
    {"flops", "number = 0", "the floating-point operations of a launch, for `tflops`"},
    {"against", "cublas?", "made by wg.cublas: measured in turn with the kernel, for comparison"}};
constexpr auto time_keys = joined(prepare_keys, measurement_keys);

/// Passes the assembler's warnings to the host, once for each kernel, when it is compiled.
void warn_of_assembly(lua_State* L, Kernel& kernel) {
    guarded(L, [&] {
        for (const Diagnostic& finding : kernel.take_remarks())
            if (finding.severity == Severity::warning && session(L).warn) session(L).warn(finding);
        if (const std::string why = gpu::take_cache_problem(); !why.empty() && session(L).remark)
            session(L).remark(why);
    });
}

/// The stand-in for a launch where kernels are only traced.
void trace_launch(lua_State* L, Kernel& kernel, const RunOptions& run) {
    session(L).withheld = true;
    guarded(L, [&] {
        kernel.foresee(run);
        if (session(L).traced) session(L).traced(kernel, run);
    });
}

void push_name(lua_State* L, std::string_view name) { lua_pushlstring(L, name.data(), name.size()); }

// kernel:run{ grid =, args =, backend =, seed =, timeout_ms =, numerics =, unchecked =, guarded = }: the back
// end that ran it
int kernel_run(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:run", run_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_run_options(L, kernel, options, run);
    run.guarded = options.boolean("guarded", false);
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        return push_name(L, "none"), 1;
    }
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    Backend backend = run.backend;
    guarded_collecting(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            if (!session(L).debug) {
                backend = kernel.run(run);
                return;
            }
            session(L).debug(kernel, run);
            backend = Backend::sim;
        });
    });
    warn_of_assembly(L, kernel);
    push_name(L, to_string(backend));
    return 1;
}

/// The commands of kernel:debug: the option, or else the lines of standard input.
struct Commands {
    std::vector<std::string> list;
    std::size_t next = 0;
    bool given = false;
};

std::optional<std::string> read_line() {
    std::string line;
    for (int c = std::getc(stdin); c != '\n'; c = std::getc(stdin)) {
        if (c == EOF) return line.empty() ? std::nullopt : std::optional(line);
        line += static_cast<char>(c);
    }
    return line;
}

// kernel:debug{ grid =, args =, seed =, timeout_ms =, numerics =, commands = { "break 12", ... } }: runs the
// kernel on the simulator under the commands of docs/debugging.md
int kernel_debug(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:debug", debug_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_run_options(L, kernel, options, run);
    auto& commands = held<Commands>(L);
    const int type = options.push("commands");
    if (type != LUA_TNIL) {
        if (type != LUA_TTABLE) options.fail_value("commands", "a list of commands");
        commands.given = true;
        const lua_Integer count = luaL_len(L, -1);
        for (lua_Integer i = 1; i <= count; ++i) {
            lua_rawgeti(L, -1, i);
            const std::string_view command = string_argument(L, -1);
            guarded(L, [&] { commands.list.emplace_back(command); });
            lua_pop(L, 1);
        }
    }
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        return 0;
    }
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    guarded(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            DebugConsole console;
            console.interrupt = &session(L).stop;
            console.write = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
            console.read = [&commands]() -> std::optional<std::string> {
                if (commands.next < commands.list.size()) return commands.list[commands.next++];
                return commands.given ? std::nullopt : read_line();
            };
            debug(kernel, run, console);
        });
    });
    return 0;
}

void set_text(lua_State* L, const char* key, std::string_view text) {
    lua_pushlstring(L, text.data(), text.size());
    lua_setfield(L, -2, key);
}

/// A timeline with its texts. Does not live in a C++ frame.
struct Texts {
    Timeline timeline;
    std::string text, svg, perfetto, json;
};

// What the prompt shows of a timeline, and print.
int timeline_tostring(lua_State* L) { return lua_getfield(L, 1, "text"), 1; }

void push_timeline(lua_State* L, const Texts& texts) {
    const Timeline& timeline = texts.timeline;
    lua_createtable(L, 0, 17);
    set_text(L, "source", to_string(timeline.source));
    lua_pushinteger(L, static_cast<lua_Integer>(timeline.dropped));
    lua_setfield(L, -2, "dropped");
    lua_pushinteger(L, static_cast<lua_Integer>(timeline.dropped_warps));
    lua_setfield(L, -2, "dropped_warps");
    set_number(L, "cycles", timeline.cycles);
    set_number(L, "microseconds", timeline.microseconds);
    set_number(L, "ghz", timeline.ghz);
    set_number(L, "tensor_busy", timeline.tensor);
    if (timeline.source == Timeline::Source::model) set_number(L, "memory_busy", timeline.memory);
    set_text(L, "text", texts.text);
    set_text(L, "svg", texts.svg);
    set_text(L, "perfetto", texts.perfetto);
    set_text(L, "json", texts.json);
    lua_createtable(L, static_cast<int>(timeline.verdict.size()), 0);
    for (std::size_t i = 0; i < timeline.verdict.size(); ++i) {
        lua_pushlstring(L, timeline.verdict[i].data(), timeline.verdict[i].size());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "verdict");
    lua_createtable(L, static_cast<int>(timeline.rows.size()), 0);
    for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
        lua_createtable(L, 0, 3);
        set_text(L, "name", timeline.rows[i].name);
        if (timeline.rows[i].warp >= 0) set_number(L, "warp", timeline.rows[i].warp);
        lua_pushboolean(L, timeline.rows[i].exclusive ? 1 : 0);
        lua_setfield(L, -2, "exclusive");
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "rows");
    lua_createtable(L, static_cast<int>(timeline.spans.size()), 0);
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const Timeline::Span& span = timeline.spans[i];
        lua_createtable(L, 0, 7);
        lua_pushinteger(L, span.row + 1);
        lua_setfield(L, -2, "row");
        set_text(L, "kind", to_string(span.kind));
        set_number(L, "first", span.begin);
        set_number(L, "last", span.end);
        set_text(L, "what", span.what);
        set_text(L, "file", span.where.file);
        lua_pushinteger(L, span.where.line);
        lua_setfield(L, -2, "line");
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "spans");
    if (luaL_newmetatable(L, "wgrun.timeline") != 0) {
        lua_pushcfunction(L, timeline_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
}

/// Makes a timeline by `make`, and its texts.
template <class Run, class Make>
int timeline_by(lua_State* L, Kernel& kernel, Run& run, Make make) {
    auto& texts = held<Texts>(L);
    if (session(L).mode == Mode::trace) {
        trace_launch(L, kernel, run);
        return push_timeline(L, texts), 1;
    }
    const HostHooks hooks = host_hooks(L);
    LimitState& limits = limit_state(L);
    guarded_collecting(L, [&] {
        on_time(limits, [&] {
            const HostInterrupt interrupt(hooks);
            texts.timeline = make(kernel, run);
            texts.text = to_text(texts.timeline);
            texts.svg = to_svg(texts.timeline);
            texts.perfetto = to_chrome(std::span(&texts.timeline, 1));
            texts.json = to_json(texts.timeline);
        });
    });
    return push_timeline(L, texts), 1;
}

// kernel:timeline{ grid =, args =, seed =, timeout_ms =, numerics =, unchecked = }: a table
int kernel_timeline(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:timeline", prepare_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_run_options(L, kernel, options, run);
    return timeline_by(L, kernel, run, timeline_of);
}

// kernel:profile{ grid =, args =, ..., clusters =, events = }: a table
int kernel_profile(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:profile", profile_keys);
    auto& run = held<WithTensors<ProfileOptions>>(L);
    read_run_options(L, kernel, options, run);
    run.clusters = static_cast<int>(options.integer("clusters", 1, 1, INT32_MAX));
    run.events = options.integer("events", 4096, 1, INT32_MAX);
    return timeline_by(L, kernel, run, profile_of);
}

void push_timing(lua_State* L, const Timing& timing) {
    lua_createtable(L, 0, 7);
    set_number(L, "median_us", timing.median_us);
    set_number(L, "min_us", timing.min_us);
    set_number(L, "max_us", timing.max_us);
    set_number(L, "tflops", timing.tflops);
    lua_pushinteger(L, timing.rounds);
    lua_setfield(L, -2, "rounds");
    push_name(L, to_string(timing.backend));
    lua_setfield(L, -2, "backend");
}

constexpr Option cublas_keys[] = {{"a", "tensor", "A"},
                                  {"b", "tensor", "B"},
                                  {"d", "tensor", "D, the result"},
                                  {"a_major", R"(string = "K")", R"("K" or "MN")"},
                                  {"b_major", R"(string = "K")", R"("K" or "MN")"}};

// wg.cublas{ a =, b =, d =, a_major = "K", b_major = "K" }: a product by cuBLAS, or nil, message, code
int cublas_new(lua_State* L) {
    check_unrestricted(L, "wg.cublas");
    const Options options(L, 1, "wg.cublas", cublas_keys);
    CublasBox& box = push_object<CublasBox>(L, [] { return CublasBox{}; });
    for (int i = 0; i < 3; ++i) {
        options.push(cublas_keys[i].name);
        const std::shared_ptr<Tensor>* tensor = test_tensor(L, -1);
        if (tensor == nullptr) options.fail_value(cublas_keys[i].name, "a tensor");
        guarded(L, [&] { box.tensors.push_back(*tensor); });
        lua_pop(L, 1);
    }
    const std::string_view a_major = options.string("a_major", "K"), b_major = options.string("b_major", "K");
    const Session& here = session(L);
    const auto make = [&] {
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        box.cublas.emplace(*box.tensors[0], parse_major(a_major), *box.tensors[1], parse_major(b_major),
                           *box.tensors[2], here.isolation);
    };
    bool full = false;
    if (const int failed = attempted(L, [&] { full = lacks_memory(make); })) return failed;
    if (full) {
        lua_gc(L, LUA_GCCOLLECT);
        if (const int failed = attempted(L, make)) return failed;
    }
    return 1;
}

int cublas_run(lua_State* L) {
    CublasBox& box = check<CublasBox>(L, 1);
    const Session& here = session(L);
    guarded(L, [&] {
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        box.cublas->run();
    });
    return 0;
}

// kernel:time{ ..., rounds =, flops = }: { median_us, min_us, max_us, tflops, rounds, backend }
int kernel_time(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:time", time_keys);
    auto& run = held<WithTensors<TimeOptions>>(L);
    read_run_options(L, kernel, options, run);
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
        const HostHooks hooks = host_hooks(L);
        LimitState& limits = limit_state(L);
        guarded_collecting(L, [&] {
            on_time(limits, [&] {
                const HostInterrupt interrupt(hooks);
                timing = kernel.time(run);
            });
        });
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
    const Options options(L, 2, "kernel:prepare", prepare_keys);
    auto& run = held<WithTensors<RunOptions>>(L);
    read_run_options(L, kernel, options, run);
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

                                       {"debug", kernel_debug, R"(
Runs the kernel on the simulator under the debugger (docs/debugging.md), which stops at lines, steps forwards and backwards, prints values by their names in the script, and says who wrote them. A kernel in which the checker found errors runs, too; the errors are printed first.
@param options table
@raise errors of the run, if the commands let it run to its end.
@see k:breakpoint
@example
  kernel:debug { grid = { 4 }, args = { A, B, D, 1024 }, commands = { "break 42 cta=1", "continue", "print acc" } })",
                                        debug_keys},

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

                                       {"timeline", kernel_timeline, R"(
Computes the timeline of one cluster of a launch by a model of an H200's SM (docs/timeline.md): what each warp, the tensor core and the copies do at which time, and what limits the kernel. The cluster runs on the simulator; afterwards the tensors hold its results.
@param options table
@return table
@field cycles number  the cycles until the last CTA of the cluster has ended
@field microseconds number  the estimated time of the whole launch, one of many in a row
@field ghz number  the clock that this assumes
@field tensor_busy number  the share of the time in which the tensor core multiplies
@field memory_busy number  the share of the time in which bytes are in flight between memory and the SM
@field verdict table  sentences: what limits the kernel, the most important first
@field rows table  a list of { name =, warp =, exclusive = }; warp is nil for engines of the SM
@field spans table  a list of { row =, kind =, first =, last =, what =, file =, line = }; first and last are cycles
@field text string  the picture as text, 80 columns wide
@field svg string  the picture as SVG
@field perfetto string  trace events for ui.perfetto.dev
@field json string  everything as JSON
@example
  print(kernel:timeline { grid = { 132 }, args = { A, B, D } }.text))",
                                        prepare_keys},

                                       {"profile", kernel_profile, R"(
Runs a launch with a build of the kernel that notes when its warps wait, copy and multiply (docs/timeline.md), on the GPU or on the simulator, which counts steps instead of cycles. The tensors hold the results. The kernel without notes stays as it is.
@param options table
@return table  as kernel:timeline, with these differences
@field source string  "gpu" or "simulator"; of kernel:timeline "model"
@field cycles number  of the SM's clock, from the begin of its first CTA until the last that is shown has ended
@field microseconds number  the same; 0 on the simulator
@field tensor_busy number  share of the time that the products take at the tensor core's full speed; 0 on the simulator
@field memory_busy number?  nil
@field dropped integer  events for which there was no room
@field dropped_warps integer  warps for which there was no room
@field verdict table  empty on the simulator
@field rows table  products and copies: those that have begun and are not known to have ended
@see kernel:timeline
@example
  print(kernel:profile { grid = { 132 }, args = { A, B, D } }.text))",
                                        profile_keys},

                                       {"prepare", kernel_prepare, R"(
Prepares a launch that can be started many times: compiles the kernel and copies the tensors to the device. Prepared launches share the tensors that they have in common.
@param options table
@return launch
@see launch)",
                                        prepare_keys},

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
    static const Member cublas_methods[] = {{"run", cublas_run, "Computes D on the GPU with cuBLAS."}, {}};
    declare<CublasBox>(L, {.methods = cublas_methods, .text = R"(
A matrix product by cuBLAS, made by wg.cublas.)"});
    static const Member functions[] = {{"cublas", cublas_new, R"(
The product D = A * B by cuBLAS: a reference, and a comparison for kernel:time. The majors are those of wg.gemm.
@param options table
@return cublas  or nil, message, code where there is no GPU or no cuBLAS)",
                                        cublas_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
