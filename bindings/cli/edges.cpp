#include "bindings/cli/edges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "bindings/lua/sizes.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {

namespace {

constexpr std::size_t most_edges = 96;                // launches of a kernel
constexpr std::uint64_t few = 256;                    // legal sizes of a kernel, which are all launched
constexpr auto most_time = std::chrono::seconds(60);  // of a kernel: then no more are, except edges
constexpr std::uint64_t most_steps = 4000000;         // warp instructions of a launch: some seconds

/// The sizes of the finding's launch, if it is one of the kernel.
std::vector<std::vector<std::int64_t>> sizes_of(const FoundIn& launch, const Program& program,
                                                const std::vector<SizeRange>& ranges) {
    std::vector<std::int64_t> out;
    for (const SizeRange& range : ranges)
        for (const auto& [name, value] : launch.numbers)
            if (name == range.name) out.push_back(value);
    if (program.name() != launch.kernel || out.size() != ranges.size()) return {};
    return {std::move(out)};
}

/// The sweep, and what the launches of one size report. Outlives the Lua state.
struct Context {
    Sweep& sweep;
    const Sweeping& how;
    const std::vector<SizeRange>* ranges = nullptr;     ///< of the kernel at hand
    std::vector<std::vector<std::int64_t>> launches{};  ///< of the kernel at hand
    std::size_t next = 0;                               ///< of them
    std::vector<std::uint64_t> grids{};                 ///< CTAs of its launches so far, each once
    bool too_long = false;
    enum class Phase { edges, edges_of_grids, whole } phase = Phase::edges;
    std::chrono::steady_clock::time_point end{};  ///< of phase `whole`

    void begin(const Program& program, const std::vector<SizeRange>& its) {
        ranges = &its;
        launches = how.only != nullptr ? sizes_of(*how.only, program, its)
                                       : edge_sizes(program, its, {}, most_edges);
        next = 0;
        grids.clear();
        phase = how.only != nullptr ? Phase::whole : Phase::edges;
        end = std::chrono::steady_clock::now() + most_time;
    }
    void add(std::vector<std::vector<std::int64_t>> more, std::uint64_t most) {
        for (auto& launch : more)
            if (launches.size() < most && std::ranges::find(launches, launch) == launches.end())
                launches.push_back(std::move(launch));
    }
    /// The next launches, when all so far have run; false: there are none.
    bool more(const Program& program) {
        if (phase == Phase::whole) return false;
        if (phase == Phase::edges) {
            phase = Phase::edges_of_grids;
            add(edge_sizes(program, *ranges, grids, most_edges), most_edges);
        } else {
            phase = Phase::whole;
            if (how.whole && count_sizes(*ranges) <= few) add(all_sizes(*ranges), few);
        }
        return true;
    }
    std::uint64_t seed() const {
        return how.only != nullptr ? how.only->seed : 1 + next % static_cast<std::uint64_t>(how.seeds);
    }
    bool out_of_time() const { return phase == Phase::whole && std::chrono::steady_clock::now() >= end; }
};

void launch(Context& context, Kernel& kernel, const RunOptions& options) {
    RunOptions run = options;
    if (run.simulation.steps == 0 || run.simulation.steps > most_steps) run.simulation.steps = most_steps;
    if (std::ranges::find(context.grids, run.grid.volume()) == context.grids.end())
        context.grids.push_back(run.grid.volume());
    if (context.how.before)
        context.how.before(kernel, run, text_of(*context.ranges, context.launches[context.next]));
    try {
        run_or_guard(context.how.backend, kernel, run);
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
        lua::name_size(finding, kernel.kernel, {kernel.ranges, kernel.where}, values, context.seed());
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
        context.begin(kernel.program(), sizes->ranges);
        return &context.sweep.kernels.emplace_back(
            LookedAt{kernel.program().name(), sizes->where, sizes->ranges});
    });
    while (context.sweep.code == Exit::ok) {
        if (context.next == context.launches.size()) {
            if (!lua::guarded(L, [&] { return context.more(kernel.program()); })) break;
            continue;
        }
        if (context.out_of_time()) {
            lua::guarded(L, [&] { looked.left_out.push_back(context.launches[context.next++]); });
            continue;
        }
        lua::session(L).seed = context.seed();
        context.too_long = false;
        lua_pushvalue(L, function);
        lua::push_size(L, sizes->ranges, context.launches[context.next]);
        call_protected(L, 1, drawn);
        lua::guarded(L, [&] {
            collect(context, looked, context.launches[context.next], drawn, outcome.findings);
            ++context.next;
        });
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
    lua::session(L).coverage = context.how.coverage;
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

Sweep sweep_sizes(const Request& request, const Sweeping& how) {
    Request run = request;
    run.backend = how.backend;
    run.keep_warnings = true;
    Sweep sweep;
    Context context{sweep, how};
    const Progress progress(Progress::Is::around, "edge sizes");
    // What the script itself does was reported by its check and its runs.
    with_state(run, lua::Mode::trace, body, &context);
    return sweep;
}

namespace {

/// Of many that follow each other the first and the last.
std::string listed(const std::set<std::int64_t>& values, std::int64_t step) {
    constexpr int many = 8;
    std::vector<std::string> parts;
    for (auto first = values.begin(); first != values.end();) {
        auto end = std::next(first);
        int count = 1;
        while (end != values.end() && *end == *std::prev(end) + step) ++end, ++count;
        if (count >= many)
            parts.push_back(fmt::format("{}-{}", *first, *std::prev(end)));
        else
            std::transform(first, end, std::back_inserter(parts),
                           [](std::int64_t value) { return std::to_string(value); });
        first = end;
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string values_of(const LookedAt& kernel) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < kernel.ranges.size(); ++i) {
        std::set<std::int64_t> values;
        for (const auto& launch : kernel.launches) values.insert(launch[i]);
        parts.push_back(
            fmt::format("{} = {}", kernel.ranges[i].name, listed(values, kernel.ranges[i].multiple_of)));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace wgrun::cli
