// The sizes that scripts declare to be legal for their kernels, and launches with them.
#include "bindings/lua/sizes.hpp"

#include <algorithm>

#include "bindings/c/findings.hpp"
#include "bindings/c/structs.hpp"
#include "bindings/c/with_kernel.hpp"
#include "bindings/lua/session.hpp"

namespace wgrun::c {
namespace {

struct SizedLaunch {
    KernelRef& ref;
    std::vector<std::int64_t> values{};
    std::uint64_t seed = 0;
    lua::DeclaredSizes declared{};
    std::optional<Interruptible> interruptible{};
};

// Reads what the script declares.
void read_sizes(lua_State* L, void* context) {
    auto& launch = *static_cast<SizedLaunch*>(context);
    launch.ref.run->push_kernel(L, *launch.ref.kernel);
    if (const lua::DeclaredSizes* sizes = lua::push_sizes(L, -1))
        lua::guarded(L, [&] { launch.declared = *sizes; });
}

lua::DeclaredSizes declared(KernelRef& ref) {
    SizedLaunch launch{ref};
    ref.run->state->protect(read_sizes, &launch);
    return std::move(launch.declared);
}

// Calls the script's function that launches the kernel.
void launch_size(lua_State* L, void* context) {
    auto& launch = *static_cast<SizedLaunch*>(context);
    Engine& engine = launch.ref.engine();
    lua::set_limits(L, engine.limits);
    lua::guarded(L, [&] { launch.interruptible.emplace(engine, lua::session(L).stop); });
    lua::session(L).seed = launch.seed;
    launch.ref.run->push_kernel(L, *launch.ref.kernel);
    if (lua::push_sizes(L, -1) == nullptr) return;
    lua::push_size(L, launch.declared.ranges, launch.values);
    lua_call(L, 1, 0);
}

void check_values(const std::vector<SizeRange>& ranges, const std::int64_t* values, std::size_t count) {
    if (ranges.empty()) refuse_argument("the script declares no sizes of this kernel (kernel:sizes)");
    if (count != ranges.size() || values == nullptr)
        refuse_argument("expected " + std::to_string(ranges.size()) + " sizes, got " +
                        std::to_string(values == nullptr ? 0 : count));
    for (std::size_t i = 0; i < count; ++i) {
        const SizeRange& range = ranges[i];
        if (values[i] < range.least || values[i] > range.most || values[i] % range.multiple_of != 0)
            refuse_argument("size `" + range.name + "` is " + std::to_string(values[i]) +
                            ", which is not legal");
    }
}

}  // namespace
}  // namespace wgrun::c

using namespace wgrun::c;

extern "C" {

int wgrun_kernel_size_count(wgrun_kernel* kernel, size_t* count) {
    return with_kernel(kernel, [&](KernelRef& ref) { result(count, "count") = declared(ref).ranges.size(); });
}

int wgrun_kernel_size(wgrun_kernel* kernel, size_t index, wgrun_size* size) {
    return with_kernel(kernel, [&](KernelRef& ref) {
        ref.sizes = declared(ref).ranges;
        if (index >= ref.sizes.size())
            refuse_argument("size " + std::to_string(index) + " of " + std::to_string(ref.sizes.size()));
        const wgrun::SizeRange& range = ref.sizes[index];
        wgrun_size out{};
        out.name = range.name.c_str();
        out.least = range.least;
        out.most = range.most;
        out.multiple_of = range.multiple_of;
        write_struct(size, out, "size");
    });
}

int wgrun_kernel_edge_sizes(wgrun_kernel* kernel, size_t most, const int64_t** values, size_t* launches) {
    return with_kernel(kernel, [&](KernelRef& ref) {
        result(values, "values");
        result(launches, "launches");
        const std::vector<wgrun::SizeRange> ranges = declared(ref).ranges;
        const auto edges = ranges.empty()
                               ? std::vector<std::vector<std::int64_t>>()
                               : wgrun::edge_sizes(ref.kernel->program(), ranges, {}, most == 0 ? 96 : most);
        ref.edges.clear();
        for (const auto& each : edges) ref.edges.insert(ref.edges.end(), each.begin(), each.end());
        *values = ref.edges.data();
        *launches = edges.size();
    });
}

int wgrun_kernel_check_size(wgrun_kernel* kernel, const int64_t* values, size_t count, uint64_t seed,
                            wgrun_findings** findings) {
    return with_kernel(kernel, [&](KernelRef& ref) {
        result(findings, "findings");
        SizedLaunch launch{ref};
        launch.declared = declared(ref);
        check_values(launch.declared.ranges, values, count);
        launch.values.assign(values, values + count);
        launch.seed = seed;
        std::vector<wgrun::Diagnostic> found;
        const KernelsRun running(*ref.run->state, wgrun::Backend::sim);
        try {
            ref.run->state->protect(launch_size, &launch);
        } catch (const Failure& failure) {
            if (failure.status() != WGRUN_FOUND_ERRORS && failure.status() != WGRUN_SCRIPT_FAILED) throw;
            found = failure.findings();
        }
        for (wgrun::Diagnostic& finding : found)
            wgrun::lua::name_size(finding, ref.kernel->program().name(), launch.declared, launch.values,
                                  seed);
        give_findings(findings, std::move(found));
    });
}

}  // extern "C"
