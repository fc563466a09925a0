// Running a grid: clusters are handed out to host threads in order, and what they found is merged in order.
#include "sim/sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "sim/cluster.hpp"

namespace wgrun::sim {
namespace {

/// What all host threads share. The cluster with findings that comes first in the grid decides: later ones
/// count for nothing, so that the outcome does not depend on who was faster.
class Grid {
  public:
    Grid(const Program& program, const Launch& launch)
        : program_(program),
          launch_(launch),
          code_(flatten(program)),
          clusters_(launch.grid.volume() / program.cluster().volume()) {}

    void work() try {
        Cluster cluster(program_, code_, launch_, turns_);
        for (;;) {
            const Turns::Turn turn(turns_);
            const std::uint64_t index = turn.index();
            if (index >= clusters_ || index > last_.load() || stopped()) return;
            cluster.run(index);
            GlobalTrace trace = cluster.global_trace();
            const std::lock_guard lock(mutex_);
            done_.push_back({index, cluster.steps(), cluster.mmas()});
            if (!cluster.report().empty() && index < last_.load()) {
                last_ = index;
                findings_ = cluster.report().take();
            }
            traces_.emplace(index, std::move(trace));
            compare();
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        last_ = 0;
    }

    bool stopped() const { return launch_.stop != nullptr && launch_.stop->load(std::memory_order_relaxed); }

    Outcome outcome() {
        if (failure_) std::rethrow_exception(failure_);
        if (stopped()) throw EnvironmentError("EINTR", "the simulation was interrupted");
        Outcome out;
        for (const Done& cluster : done_) {
            if (cluster.index > last_.load()) continue;
            out.steps += cluster.steps;
            out.mmas += cluster.mmas;
        }
        out.findings = std::move(findings_);
        return out;
    }

  private:
    struct Done {
        std::uint64_t index, steps, mmas;
    };

    // Compares what the clusters did to global memory, in their order.
    void compare() {
        for (; traces_.contains(compared_); ++compared_) {
            auto trace = traces_.extract(compared_);
            if (compared_ >= last_.load()) continue;
            const auto conflicts = launch_shadow_.add(compared_, std::move(trace.mapped()));
            if (conflicts.empty()) continue;
            const GlobalMemory memory(program_, launch_);
            Report report(program_, code_, launch_.grid);
            report.reset(cluster_position(launch_.grid, program_.cluster(), compared_));
            for (const auto& conflict : conflicts)
                report.global_conflict(conflict, memory.place(conflict.address));
            last_ = compared_;
            findings_ = report.take();
        }
    }

    const Program& program_;
    const Launch& launch_;
    const Code code_;
    const std::uint64_t clusters_;
    Turns turns_;
    std::atomic<std::uint64_t> last_{UINT64_MAX};  ///< no cluster after this one counts
    std::mutex mutex_;
    std::vector<Done> done_;
    std::vector<Diagnostic> findings_;
    std::map<std::uint64_t, GlobalTrace> traces_;  ///< of clusters, to be compared
    std::uint64_t compared_ = 0;                   ///< clusters
    LaunchShadow launch_shadow_;
    std::exception_ptr failure_;
};

void check(const Program& program, const Launch& launch) {
    const Dim3& grid = launch.grid;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        throw ArgumentError(fmt::format("grid {{{}, {}, {}}}: extents are 1 to 2147483647, 65535 and 65535",
                                        grid.x, grid.y, grid.z));
    if (const Dim3 c = program.cluster(); grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
        throw ArgumentError(fmt::format("grid {{{}, {}, {}}} is not made of clusters of {{{}, {}, {}}}",
                                        grid.x, grid.y, grid.z, c.x, c.y, c.z),
                            "make each extent of the grid a multiple of the cluster's");
    if (launch.params.size() != program.params().size())
        throw ArgumentError(fmt::format("kernel {} has {} parameters, the launch gives {}", program.name(),
                                        program.params().size(), launch.params.size()));
    check_tensor_maps(program, launch);
}

}  // namespace

Outcome run(const Program& program, const Launch& launch) {
    check(program, launch);
    Grid grid(program, launch);
    const std::uint64_t workers =
        std::min<std::uint64_t>(launch.grid.volume(), std::max(1U, std::thread::hardware_concurrency()));
    {
        std::vector<std::jthread> others;
        for (std::uint64_t i = 1; i < workers; ++i) others.emplace_back([&grid] { grid.work(); });
        grid.work();
    }
    return grid.outcome();
}

}  // namespace wgrun::sim
