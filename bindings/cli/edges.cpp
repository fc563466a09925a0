#include "bindings/cli/edges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bindings/lua/sizes.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {
namespace {

constexpr std::size_t most_launches = 96;      // of a kernel
constexpr std::uint64_t most_steps = 4000000;  // warp instructions of a launch: some seconds

/// The sweep, and what the launches of one size report. Outlives the Lua state.
struct Context {
    Sweep& sweep;
    int seeds;
    const BeforeLaunch& before;
    const std::vector<SizeRange>* ranges = nullptr;   ///< of the kernel at hand
    std::vector<std::vector<std::int64_t>> launches;  ///< of the kernel at hand
    std::size_t next = 0;                             ///< of them
    std::vector<std::uint64_t> grids;                 ///< CTAs of its launches so far, each once
    bool too_long = false;
    bool spread = false;  ///< the launches know the grids
};

std::string text_of(const std::vector<SizeRange>& ranges, const std::vector<std::int64_t>& values) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < ranges.size(); ++i)
        parts.push_back(fmt::format("{} = {}", ranges[i].name, values[i]));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void launch(Context& context, Kernel& kernel, const RunOptions& options) {
    RunOptions run = options;
    run.backend = Backend::sim;
    if (run.simulation.steps == 0 || run.simulation.steps > most_steps) run.simulation.steps = most_steps;
    if (std::ranges::find(context.grids, run.grid.volume()) == context.grids.end())
        context.grids.push_back(run.grid.volume());
    if (context.before) context.before(kernel, run, text_of(*context.ranges, context.launches[context.next]));
    try {
        kernel.run(run);
    } catch (const EnvironmentError& error) {
        context.too_long = context.too_long || error.code() == "ELIMIT";
        throw;
    }
}

/// Moves what a launch has shown to the sweep.
void collect(Context& context, LookedAt& kernel, const std::vector<std::int64_t>& values, Outcome& outcome,
             std::vector<Diagnostic>& warnings) {
    if (context.too_long) {
        kernel.left_out.push_back(values);
        outcome = {};
        warnings.clear();
        return;
    }
    kernel.launches.push_back(values);
    std::ranges::move(warnings, std::back_inserter(outcome.findings));
    warnings.clear();
    for (Diagnostic& finding : outcome.findings) {
        finding.notes.push_back({kernel.where, "with " + text_of(kernel.ranges, values)});
        context.sweep.findings.add(std::move(finding));
    }
    if (outcome.code != Exit::failed && outcome.code != Exit::ok) context.sweep.code = outcome.code;
    outcome = {};
}

/// Launches the kernel at the top of the stack with each of the sizes that its script declares.
void sweep_kernel(lua_State* L, Context& context, Outcome& outcome) {
    Kernel& kernel = lua::check<Kernel>(L, -1);
    const lua::DeclaredSizes* sizes = lua::push_sizes(L, -1);
    if (sizes == nullptr) return;
    const int function = lua_gettop(L);
    auto& drawn = lua::held<Outcome>(L);
    LookedAt& looked = *lua::guarded(L, [&] {
        context.grids.clear();
        context.next = 0;
        context.ranges = &sizes->ranges;
        context.launches = edge_sizes(kernel.program(), sizes->ranges, {}, most_launches);
        return &context.sweep.kernels.emplace_back(
            LookedAt{kernel.program().name(), sizes->where, sizes->ranges, {}, {}});
    });
    for (context.spread = false; context.sweep.code == Exit::ok;) {
        if (context.next == context.launches.size()) {
            if (context.spread) break;
            lua::guarded(L, [&] {
                for (auto& more : edge_sizes(kernel.program(), sizes->ranges, context.grids, most_launches))
                    if (context.launches.size() < most_launches &&
                        std::ranges::find(context.launches, more) == context.launches.end())
                        context.launches.push_back(std::move(more));
            });
            context.spread = true;
            continue;
        }
        lua::session(L).seed = 1 + context.next % static_cast<std::uint64_t>(context.seeds);
        context.too_long = false;
        lua_pushvalue(L, function);
        lua::push_size(L, sizes->ranges, context.launches[context.next]);
        call_protected(L, 1, drawn);
        lua::guarded(
            L, [&] { collect(context, looked, context.launches[context.next++], drawn, outcome.findings); });
        lua_gc(L, LUA_GCCOLLECT);  // the tensors of this size
    }
    lua_settop(L, function - 1);
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context_of) {
    Context& context = *static_cast<Context*>(context_of);
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    if (outcome.code != Exit::ok) return;
    lua::session(L).mode = lua::Mode::run;
    lua::guarded(L, [&] {
        lua::session(L).debug = [&context](Kernel& kernel, const RunOptions& options) {
            launch(context, kernel, options);
        };
    });
    lua::push_kernels(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, i);
        sweep_kernel(L, context, outcome);
        lua_pop(L, 1);
    }
}

}  // namespace

Sweep sweep_sizes(const Request& request, int seeds, const BeforeLaunch& before) {
    Request run = request;
    run.backend = Backend::sim;
    run.keep_warnings = true;
    Sweep sweep;
    Context context{sweep, seeds, before, nullptr, {}, 0, {}, false, false};
    const Progress progress(Progress::Is::around, "edge sizes");
    // What the script itself does was reported by its check and its runs.
    with_state(run, lua::Mode::trace, body, &context);
    return sweep;
}

namespace {

/// The same for the kernel at the top of the stack.
void look_ahead(lua_State* L, Sweep& sweep) {
    constexpr std::size_t most_ahead = 8;
    Kernel& kernel = lua::check<Kernel>(L, -1);
    const lua::DeclaredSizes* sizes = lua::push_sizes(L, -1);
    if (sizes == nullptr) return;
    const int function = lua_gettop(L);
    auto& drawn = lua::held<Outcome>(L);
    auto& launches = lua::held<std::vector<std::vector<std::int64_t>>>(L);
    LookedAt& looked = *lua::guarded(L, [&] {
        launches = edge_sizes(kernel.program(), sizes->ranges, {}, most_ahead);
        return &sweep.kernels.emplace_back(
            LookedAt{kernel.program().name(), sizes->where, sizes->ranges, {}, {}});
    });
    for (const std::vector<std::int64_t>& values : launches) {
        const std::size_t known = lua::guarded(L, [&] { return kernel.check().size(); });
        lua_pushvalue(L, function);
        lua::push_size(L, sizes->ranges, values);
        call_protected(L, 1, drawn);
        lua::guarded(L, [&] {
            if (drawn.code == Exit::interrupted) sweep.code = drawn.code;
            drawn = {};
            looked.launches.push_back(values);
            const std::vector<Diagnostic>& findings = kernel.check();
            for (std::size_t i = known; i < findings.size(); ++i) {
                Diagnostic finding = findings[i];
                finding.notes.push_back({sizes->where, "with " + text_of(sizes->ranges, values)});
                sweep.findings.add_wordings({&finding, 1});
            }
        });
        if (sweep.code != Exit::ok) break;
        lua_gc(L, LUA_GCCOLLECT);  // the tensors of this size
    }
    lua_settop(L, function - 1);
}

}  // namespace

void look_ahead_at_sizes(lua_State* L, Sweep& sweep) {
    lua::push_kernels(L);
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
    for (lua_Integer i = 1; i <= count && sweep.code == Exit::ok; ++i) {
        lua_rawgeti(L, -1, i);
        look_ahead(L, sweep);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

std::string values_of(const LookedAt& kernel) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < kernel.ranges.size(); ++i) {
        std::set<std::int64_t> values;
        for (const auto& launch : kernel.launches) values.insert(launch[i]);
        parts.push_back(fmt::format("{} = {}", kernel.ranges[i].name, fmt::join(values, ", ")));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace wgrun::cli
