// wg.kernel, and what can be done with a kernel.
#include "wgrun/kernel.hpp"

#include <fmt/format.h>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

/// Reads {x, y, z}, {x} or x.
Dim3 read_dim3(lua_State* L, const Options& options, std::string_view key) {
    if (!options.has(key)) return {};
    options.push(key);
    auto& values = held<std::vector<std::int64_t>>(L);
    read_integers(L, -2, key.data(), values, 3);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] < 1 || values[i] > INT32_MAX)
            fail(L, [&] {
                return fmt::format("option `{}`: entry {} is {}, extents are 1 to 2147483647", key, i + 1,
                                   values[i]);
            });
    Dim3 out;
    if (!values.empty()) out.x = static_cast<std::uint32_t>(values[0]);
    if (values.size() > 1) out.y = static_cast<std::uint32_t>(values[1]);
    if (values.size() > 2) out.z = static_cast<std::uint32_t>(values[2]);
    lua_pop(L, 2);
    return out;
}

// wg.kernel(name, { threads =, cluster = }, function(k) ... end)
int kernel_new(lua_State* L) {
    static constexpr std::string_view keys[] = {"threads", "cluster"};
    const std::string_view name = string_argument(L, 1);
    const Options options(L, 2, "wg.kernel", keys);
    const std::int64_t threads = options.integer("threads", 128, 0, INT32_MAX);
    const Dim3 cluster = read_dim3(L, options, "cluster");
    if (lua_type(L, 3) != LUA_TFUNCTION) fail_argument(L, 3, "a function that builds the kernel");
    const Where where = caller(L);

    lua_pushvalue(L, 3);
    BuilderBox& box = push_object<BuilderBox>(L, [&] {
        auto trace = std::make_shared<Trace>();
        trace->name = name;
        trace->threads = static_cast<int>(threads);
        trace->builder.emplace(std::string(name), static_cast<int>(threads), cluster, where);
        return BuilderBox{std::move(trace)};
    });
    lua_pushvalue(L, -1);
    lua_insert(L, -3);  // keep the builder below the call
    lua_call(L, 1, 0);
    push_object<Kernel>(L, [&] {
        Program program = box.trace->builder->finish();
        box.trace->builder.reset();
        return Kernel(std::move(program));
    });
    remember_kernel(L, -1);
    return 1;
}

// kernel:check()
int kernel_check(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const std::vector<Diagnostic>* findings = guarded(L, [&] { return &kernel.check(); });
    push_findings(L, *findings);
    return 1;
}

template <const std::string& (Kernel::*text)()>
int kernel_text(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    const std::string* result = guarded(L, [&] { return &(kernel.*text)(); });
    lua_pushlstring(L, result->data(), result->size());
    return 1;
}

void set_integer(lua_State* L, const char* key, std::int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void set_number(lua_State* L, const char* key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

// kernel:report(): registers, spills, shared memory, notes
int kernel_report(lua_State* L) {
    Kernel& kernel = check<Kernel>(L, 1);
    auto& report = held<AssemblyReport>(L);
    if (const int failed = attempted(L, [&] { report = kernel.report(); })) return failed;
    lua_createtable(L, 0, 7);
    set_integer(L, "registers", report.registers);
    set_integer(L, "spill_stores", report.spill_stores);
    set_integer(L, "spill_loads", report.spill_loads);
    set_integer(L, "static_shared", report.static_shared);
    set_integer(L, "dynamic_shared", report.dynamic_shared);
    lua_pushstring(L, report.assembler.c_str());
    lua_setfield(L, -2, "assembler");
    lua_createtable(L, static_cast<int>(report.notes.size()), 0);
    for (std::size_t i = 0; i < report.notes.size(); ++i) {
        lua_pushstring(L, report.notes[i].c_str());
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(L, -2, "notes");
    return 1;
}

/// Reads the list `args`: tensors and numbers. `out` does not live in a C++ frame.
void read_arguments(lua_State* L, const Options& options, std::vector<Argument>& out) {
    if (!options.has("args")) return;
    if (options.push("args") != LUA_TTABLE) options.fail_value("args", "a list of tensors and numbers");
    const int list = lua_gettop(L);
    const lua_Integer count = luaL_len(L, list);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, list, i);
        if (Tensor* tensor = test_tensor(L, -1)) {
            guarded(L, [&] { out.emplace_back(tensor); });
        } else if (lua_isinteger(L, -1)) {
            const std::int64_t value = lua_tointeger(L, -1);
            guarded(L, [&] { out.emplace_back(value); });
        } else if (lua_type(L, -1) == LUA_TNUMBER) {
            const double value = lua_tonumber(L, -1);
            guarded(L, [&] { out.emplace_back(value); });
        } else {
            const ShortText got = describe(L, -1);
            fail(L, [&] {
                return "argument " + std::to_string(i) + " of a kernel: expected a tensor or a number, got " +
                       got.text;
            });
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void read_run_options(lua_State* L, const Options& options, RunOptions& out) {
    out.grid = read_dim3(L, options, "grid");
    read_arguments(L, options, out.args);
    const std::string_view backend = options.string("backend", "auto");
    const Backend asked = guarded(L, [&] { return backend_named(backend); });
    out.seed =
        static_cast<std::uint64_t>(options.integer("seed", static_cast<std::int64_t>(session(L).seed)));
    out.timeout = std::chrono::milliseconds(options.integer("timeout_ms", 10000, 0, 86400000));
    out.numerics = read_numerics(L, options);
    out.stop = &session(L).stop;
    out.backend = session(L).mode == Mode::run ? resolve_backend(L, asked) : asked;
}

void push_name(lua_State* L, std::string_view name) { lua_pushlstring(L, name.data(), name.size()); }

// kernel:run{ grid =, args =, backend =, seed =, timeout_ms =, numerics = }: the back end that ran it
int kernel_run(lua_State* L) {
    static constexpr std::string_view keys[] = {"grid", "args", "backend", "seed", "timeout_ms", "numerics"};
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:run", keys);
    auto& run = held<RunOptions>(L);
    read_run_options(L, options, run);
    if (session(L).mode == Mode::trace) return push_name(L, "none"), 1;
    push_name(L, to_string(guarded(L, [&] { return kernel.run(run); })));
    return 1;
}

void push_timing(lua_State* L, const Timing& timing) {
    lua_createtable(L, 0, 7);
    set_number(L, "median_us", timing.median_us);
    set_number(L, "min_us", timing.min_us);
    set_number(L, "max_us", timing.max_us);
    set_number(L, "tflops", timing.tflops);
    set_integer(L, "rounds", timing.rounds);
    push_name(L, to_string(timing.backend));
    lua_setfield(L, -2, "backend");
}

// wg.cublas{ a =, b =, d =, a_major = "K", b_major = "K" }: a yardstick, or nil, message, code
int cublas_new(lua_State* L) {
    static constexpr std::string_view keys[] = {"a", "b", "d", "a_major", "b_major"};
    const Options options(L, 1, "wg.cublas", keys);
    Tensor* tensors[3];
    for (int i = 0; i < 3; ++i) {
        options.push(keys[i]);
        tensors[i] = test_tensor(L, -1);
        if (tensors[i] == nullptr) options.fail_value(keys[i], "a tensor");
    }
    const std::string_view a_major = options.string("a_major", "K"), b_major = options.string("b_major", "K");
    auto& made = held<std::optional<Cublas>>(L);
    if (const int failed = attempted(L, [&] {
            made.emplace(*tensors[0], parse_major(a_major), *tensors[1], parse_major(b_major), *tensors[2]);
        }))
        return failed;
    push_object<Cublas>(L, [&] { return std::move(*made); });
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);  // keeps the tensors
    return 1;
}

int cublas_run(lua_State* L) {
    Cublas& cublas = check<Cublas>(L, 1);
    guarded(L, [&] { cublas.run(); });
    return 0;
}

// kernel:time{ ..., rounds =, flops = }: { median_us, min_us, max_us, tflops, rounds, backend }
int kernel_time(lua_State* L) {
    static constexpr std::string_view keys[] = {"grid",   "args",  "backend", "seed",    "timeout_ms",
                                                "rounds", "flops", "against", "numerics"};
    Kernel& kernel = check<Kernel>(L, 1);
    const Options options(L, 2, "kernel:time", keys);
    auto& run = held<TimeOptions>(L);
    read_run_options(L, options, run);
    run.rounds = static_cast<int>(options.integer("rounds", 20, 1, 100000));
    run.flops = options.number("flops", 0);
    if (options.push("against") != LUA_TNIL) {
        run.against = test<Cublas>(L, -1);
        if (run.against == nullptr) options.fail_value("against", "a yardstick made by wg.cublas");
    }
    auto& timing = held<Timing>(L);
    timing.backend = run.backend;
    if (session(L).mode == Mode::run) guarded(L, [&] { timing = kernel.time(run); });
    push_timing(L, timing);
    if (timing.against) {
        push_timing(L, *timing.against);
        lua_setfield(L, -2, "against");
    }
    return 1;
}

int kernel_name(lua_State* L) {
    lua_pushstring(L, check<Kernel>(L, 1).program().name().c_str());
    return 1;
}

int kernel_shared_bytes(lua_State* L) {
    lua_pushinteger(L, check<Kernel>(L, 1).program().shared_bytes());
    return 1;
}

int kernel_tostring(lua_State* L) {
    const Program& program = check<Kernel>(L, 1).program();
    lua_pushfstring(L, "kernel %s (%d threads, %d bytes of shared memory)", program.name().c_str(),
                    program.threads(), static_cast<int>(program.shared_bytes()));
    return 1;
}

}  // namespace

void open_kernel(lua_State* L) {
    open_trace(L);
    open_reg(L);
    open_wgmma(L);
    static const luaL_Reg methods[] = {{"check", kernel_check},
                                       {"ptx", kernel_text<&Kernel::ptx>},
                                       {"cuda", kernel_text<&Kernel::cuda>},
                                       {"report", kernel_report},
                                       {"run", kernel_run},
                                       {"time", kernel_time},
                                       {nullptr, nullptr}};
    static const luaL_Reg fields[] = {
        {"name", kernel_name}, {"shared_bytes", kernel_shared_bytes}, {nullptr, nullptr}};
    static const luaL_Reg metamethods[] = {{"__tostring", kernel_tostring}, {nullptr, nullptr}};
    declare<Kernel>(L, {.methods = methods, .fields = fields, .metamethods = metamethods});
    lua_pushcfunction(L, kernel_new);
    lua_setfield(L, -2, "kernel");
    static const luaL_Reg cublas_methods[] = {{"run", cublas_run}, {nullptr, nullptr}};
    declare<Cublas>(L, {.methods = cublas_methods});
    lua_pushcfunction(L, cublas_new);
    lua_setfield(L, -2, "cublas");
}

}  // namespace wgrun::lua
