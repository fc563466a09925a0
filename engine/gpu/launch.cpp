// The limits of launches on sm_90 (CUDA C++ programming guide, technical specifications per compute
// capability). The driver refuses the same things with CUDA_ERROR_INVALID_VALUE and no other word.
#include <fmt/format.h>

#include "wgrun/count_of.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

namespace {

constexpr std::int64_t max_threads = sm_90a.cta_threads;
constexpr std::int64_t max_shared_bytes = sm_90a.cta_shared();
constexpr std::int64_t max_cluster = sm_90a.cluster;

std::string text(const Extents& d) { return fmt::format("{{{}, {}, {}}}", d.x, d.y, d.z); }

class Check {
  public:
    Check(std::string_view kernel, const FunctionAttributes& attributes, const LaunchConfig& config)
        : kernel_(kernel), attributes_(attributes), config_(config) {}

    void grid() const {
        extents("grid", config_.grid, {sm_90a.grid_columns, sm_90a.grid_rows, sm_90a.grid_rows});
        extents("block", config_.block, {max_threads, max_threads, sm_90a.cta_layers});
        const std::int64_t threads = config_.block.x * config_.block.y * config_.block.z;
        if (threads > max_threads)
            fail("block {} has {} threads, but a CTA can have at most {}", text(config_.block), threads,
                 max_threads);
        if (threads > attributes_.max_threads)
            fail("block {} has {} threads: compiled for at most {} ({} registers a thread)",
                 text(config_.block), threads, attributes_.max_threads, attributes_.registers);
    }

    void shared() const {
        const auto fixed = static_cast<std::int64_t>(attributes_.shared_bytes);
        if (config_.shared_bytes < 0) fail("{} bytes of dynamic shared memory", config_.shared_bytes);
        if (config_.shared_bytes > max_shared_bytes - fixed)
            fail("{} bytes of dynamic and {} of static shared memory: a CTA has at most {}",
                 config_.shared_bytes, fixed, max_shared_bytes);
    }

    void cluster() const {
        const Extents& c = config_.cluster;
        const Extents& own = attributes_.cluster;
        extents("cluster", c, {max_cluster, max_cluster, max_cluster});
        const bool asked = c != Extents{};
        const bool required = own.x * own.y * own.z > 0;
        if (asked && required && c != own)
            fail("cluster {} is requested, but it was compiled for {} (.reqnctapercluster)", text(c),
                 text(own));
        const Extents& used = required ? own : c;
        const std::int64_t ctas = used.x * used.y * used.z;
        if (ctas > max_cluster)
            fail("cluster {} has {} CTAs, but can have at most {}", text(used), ctas, max_cluster);
        if (ctas > portable_cluster && !config_.non_portable_cluster)
            fail("cluster {} has {} CTAs: more than {} need non_portable_cluster", text(used), ctas,
                 portable_cluster);
        const Extents& g = config_.grid;
        if (g.x % used.x != 0 || g.y % used.y != 0 || g.z % used.z != 0)
            fail("grid {} is not a multiple of cluster {}", text(g), text(used));
    }

    void parameters(std::span<const Parameter> given) const {
        if (!attributes_.parameters) return;
        const std::vector<std::size_t>& expected = *attributes_.parameters;
        if (given.size() != expected.size())
            fail("it takes {}, not {}", count_of(expected.size(), "parameter"), given.size());
        for (std::size_t i = 0; i < given.size(); ++i)
            if (given[i].size() != expected[i])
                fail("parameter {} has {} bytes, but it takes {}", i + 1, given[i].size(), expected[i]);
    }

  private:
    template <class... Arguments>
    [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
        throw ArgumentError(fmt::format("kernel `{}`: {}", kernel_,
                                        fmt::format(format, std::forward<Arguments>(arguments)...)));
    }

    void extents(std::string_view what, const Extents& given, const Extents& most) const {
        if (given.x < 1 || given.y < 1 || given.z < 1)
            fail("{} {}: extents must be at least 1", what, text(given));
        if (given.x > most.x || given.y > most.y || given.z > most.z)
            fail("{} {}: extents may be at most {}", what, text(given), text(most));
    }

    std::string_view kernel_;
    const FunctionAttributes& attributes_;
    const LaunchConfig& config_;
};

}  // namespace

void check_launch(std::string_view kernel, const FunctionAttributes& attributes, const LaunchConfig& config,
                  std::span<const Parameter> parameters) {
    const Check check(kernel, attributes, config);
    check.grid();
    check.shared();
    check.cluster();
    check.parameters(parameters);
}

}  // namespace wgrun::gpu
