#include "bindings/lua/launch_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::lua {
namespace {

/// Reads the list on the stack's top for `program`: tensors and numbers. device: of `devices`, from 1; 0:
/// `args`.
void read_list(lua_State* L, const Program& program, lua_Integer device, std::vector<Argument>& out,
               LaunchTensors& into) {
    const int list = lua_gettop(L);
    const lua_Integer count = luaL_len(L, list);
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, list, i);
        if (const std::shared_ptr<Tensor>* tensor = test_tensor(L, -1)) {
            guarded(L, [&] { out.emplace_back(into.tensors.emplace_back(*tensor).get()); });
        } else if (const DeviceTensorBox* on_device = test<DeviceTensorBox>(L, -1)) {
            guarded(L, [&] { out.emplace_back(into.device_tensors.emplace_back(on_device->tensor).get()); });
        } else if (const ArgumentBox* made = test<ArgumentBox>(L, -1)) {
            guarded(L, [&] {
                out.push_back(made->argument);
                into.tensors.insert(into.tensors.end(), made->tensors.begin(), made->tensors.end());
                into.device_tensors.insert(into.device_tensors.end(), made->device_tensors.begin(),
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
                    fmt::format("kernel {}, argument {}{}{}: expected a tensor or a number, got {}",
                                program.name(), i,
                                known ? " (" + params[static_cast<std::size_t>(i - 1)].name + ")" : "",
                                device < 0 ? "" : fmt::format(" of device {}", device), got.text),
                    nothing ? "a name that is misspelt, or not defined yet, is nil" : "");
            });
        }
        lua_pop(L, 1);
    }
}

/// Reads `args`, or `devices`.
void read_arguments(lua_State* L, const Program& program, const Options& options, RunOptions& out,
                    LaunchTensors& into) {
    constexpr lua_Integer most_devices = 16;
    if (options.has("devices")) {
        if (options.has("args"))
            fail(L, [] { return ArgumentError("`args` and `devices` are given: one of them is possible"); });
        const char* const wanted = "a list of 1 to 16 lists of tensors and numbers";
        if (options.push("devices") != LUA_TTABLE) options.fail_value("devices", wanted);
        const int devices = lua_gettop(L);
        const lua_Integer count = luaL_len(L, devices);
        if (count < 1 || count > most_devices) options.fail_value("devices", wanted);
        guarded(L, [&] { out.further_devices.resize(static_cast<std::size_t>(count - 1)); });
        for (lua_Integer i = 1; i <= count; ++i) {
            if (lua_rawgeti(L, devices, i) != LUA_TTABLE) options.fail_value("devices", wanted);
            read_list(L, program, i - 1,
                      i == 1 ? out.args : out.further_devices[static_cast<std::size_t>(i - 2)], into);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    } else if (options.has("args")) {
        if (options.push("args") != LUA_TTABLE) options.fail_value("args", "a list of tensors and numbers");
        read_list(L, program, -1, out.args, into);
        lua_pop(L, 1);
    }
}

}  // namespace

void read_launch_options(lua_State* L, Kernel& kernel, const Options& options, RunOptions& out,
                         LaunchTensors& tensors) {
    const std::optional<Dim3> declared = kernel.program().grid();
    out.grid = declared && !options.has("grid") ? *declared : options.extents("grid");
    if (options.has("block")) out.block = options.extents("block");
    if (options.has("cluster")) out.cluster = options.extents("cluster");
    if (options.has("shared")) out.shared = options.integer("shared", {}, 0, max_shared_bytes);
    read_arguments(L, kernel.program(), options, out, tensors);
    const std::string_view backend = options.string("backend", "auto");
    const Backend asked = guarded(L, [&] { return backend_named(backend); });
    out.coverage = session(L).coverage;
    out.seed =
        static_cast<std::uint64_t>(options.integer("seed", static_cast<std::int64_t>(session(L).seed)));
    // The simulator is slow, so it has a limit only where the script sets one.
    const std::chrono::milliseconds timeout(options.integer("timeout_ms", 10000, 0, 86400000));
    out.timeout = within_limit(L, timeout);
    out.simulation = {.timeout = within_limit(L, options.has("timeout_ms") ? timeout : timeout.zero()),
                      .steps = limit_state(L).limits.simulation_steps,
                      .multiprocessors = limit_state(L).limits.multiprocessors};
    out.numerics = read_numerics(L, options);
    out.unchecked = options.boolean("unchecked", false);
    out.lines = session(L).lines;
    out.stop = &session(L).stop;
    out.isolation = session(L).isolation;
    out.backend = asked;
    if (session(L).mode == Mode::run) {
        // Nothing but the simulator runs on several devices.
        const bool free = asked == Backend::automatic && session(L).backend == Backend::automatic;
        out.backend = free && !out.further_devices.empty() ? Backend::sim : resolve_backend(L, asked);
    }
    guarded(L, [&] { kernel.fit(out); });
}

void warn_of_assembly(lua_State* L, Kernel& kernel) {
    guarded(L, [&] {
        for (const Diagnostic& finding : kernel.take_remarks())
            if (finding.severity == Severity::warning && session(L).warn) session(L).warn(finding);
        if (const std::string why = gpu::take_cache_problem(); !why.empty() && session(L).remark)
            session(L).remark(why);
    });
}

void trace_launch(lua_State* L, Kernel& kernel, const RunOptions& run) {
    // Of a launch before this one nobody knows the results, which may be what this one is given.
    const bool certain = !std::exchange(session(L).withheld, true);
    guarded(L, [&] {
        try {
            kernel.foresee(run);
        } catch (const ArgumentError&) {
            if (certain) throw;
        }
        if (session(L).traced) session(L).traced(kernel, run);
    });
}

}  // namespace wgrun::lua
