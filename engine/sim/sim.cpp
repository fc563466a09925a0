// Running a grid: clusters are assigned to host threads in order, and their findings are merged in order.
#include "sim/sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sim/cluster.hpp"
#include "sim/executed.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/progress.hpp"
#include "wgrun/target.hpp"

namespace wgrun::sim {
namespace {

/// Returns how many clusters the chip holds at a time, limited by threads and shared memory.
std::size_t resident_clusters(const Program& program, int multiprocessors) {
    const std::int64_t ctas = sm_90a.residents(program.threads(), program.shared_bytes(), 0).least();
    const auto volume = static_cast<std::int64_t>(program.cluster().volume());
    return static_cast<std::size_t>(std::max<std::int64_t>(multiprocessors * ctas / volume, 1));
}

/// The program's code. Clusters of several devices hand values over, and differ by their arguments.
Code code_of(const Program& program, const SimulatedLaunch& launch) {
    Code code = flatten(program);
    if (launch.devices.count > 1) {
        code.hands_over = true;
        code.clusters_alike = false;
    }
    return code;
}

/// What all host threads share. The first cluster of the grid with findings decides: later ones are dropped,
/// so that the outcome does not depend on which thread was faster.
class Grid {
  public:
    Grid(const Program& program, const SimulatedLaunch& launch)
        : program_(program),
          launch_(launch),
          code_(code_of(program, launch)),
          in_grid_(std::min(launch.grid.volume() / program.cluster().volume(),
                            launch.synthetic != nullptr ? launch.synthetic->clusters : UINT64_MAX)),
          clusters_(in_grid_ * launch.devices.count),
          resident_(resident_clusters(program, launch.multiprocessors)),
          exchange_(launch.devices),
          of_devices_(launch.devices.count) {
        if (code_.hands_over && launch.detect_races) exchange_.history.emplace(launch.devices);
        if (code_.discards && launch.detect_races) exchange_.discarded.emplace();
        if (launch.executed != nullptr) launch.executed->begin(code_);
        // A debugger, which is an observer, waits for a person meanwhile; runs ahead are a part of a check.
        if (launch.observer == nullptr && launch.synthetic == nullptr)
            progress_.emplace(Progress::Is::work,
                              program.name() + " on the simulator:", clusters_ * program.cluster().volume(),
                              "CTAs");
    }

    /// Clusters that pass values to each other take turns on one host thread, so that a run can be repeated.
    std::uint64_t most_workers() const {
        return code_.hands_over || launch_.observer != nullptr
                   ? 1
                   : std::max(1U, std::thread::hardware_concurrency());
    }

    void work() try {
        while (Running* running = next()) {
            const Cluster::Pause pause = run(*running);
            const bool ended = pause == Cluster::Pause::ended;
            GlobalTrace trace = ended ? running->cluster->global_trace() : GlobalTrace();
            const std::lock_guard lock(mutex_);
            --at_work_;
            running->at_work = false;
            running->waits = pause == Cluster::Pause::waits;
            if (running->waits) turns_.waits(true);
            if (pause == Cluster::Pause::stands_back) running->stood_back = ++times_stood_back_;
            if (ended) finish(*running, std::move(trace));
            moved_.notify_all();
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        last_ = 0;
        turns_.end_all();
        moved_.notify_all();
    }

    bool stopped() const { return launch_.stop != nullptr && launch_.stop->load(std::memory_order_relaxed); }

    Outcome outcome() {
        if (launch_.messages != nullptr) collect(*launch_.messages);
        if (failure_) std::rethrow_exception(failure_);
        if (stopped()) throw EnvironmentError("EINTR", "the simulation was interrupted");
        Outcome out;
        for (const Done& cluster : done_) {
            if (cluster.index > last_.load()) continue;
            out.steps += cluster.steps;
            out.mmas += cluster.mmas;
        }
        out.findings = std::move(findings_);
        if (out.findings.empty() && !warnings_.empty()) out.findings = std::move(warnings_.begin()->second);
        return out;
    }

  private:
    // Collects from the clusters that count, and from those that were running when the run was ended.
    void collect(MessageLog& log) {
        for (auto& [index, running] : running_)
            if (running->cluster != nullptr && !running->fresh)
                said_.emplace(index, running->cluster->take_messages());
        for (const auto& [index, messages] : said_)
            if (index <= last_.load() || failure_) log.append(messages);
    }

    struct Done {
        std::uint64_t index, steps, mmas;
    };
    /// A cluster that has begun and not ended: a thread runs it, or it waits for others.
    struct Running {
        std::unique_ptr<Cluster> cluster;
        std::uint64_t index = 0;
        std::uint64_t changes = 0;  ///< of memory, when a thread last took it
        bool fresh = true, at_work = false, alone = false;
        bool waits = false;
        Crowd crowd = {};              ///< where it is alone
        std::uint64_t stood_back = 0;  ///< when it last did; 0: it does not
    };

    /// Returns what to run next: a waiting cluster that may continue, else the next of the grid. Null:
    /// nothing is left.
    Running* next() {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (failure_ || stopped()) return nullptr;
            Cancellation::poll();
            std::erase_if(running_, [&](const auto& one) {
                const bool drop = !one.second->at_work && one.first > last_.load();
                if (drop) --of_devices_[launch_.devices.of(one.first)].running;
                return drop;
            });
            for (const auto& [index, running] : running_)
                if (running->waits && running->changes != turns_.changes()) return take(*running, false);
            if (const auto index = with_room(); index < clusters_ && index <= last_.load())
                return begin(index);
            if (Running* longest = stood_back()) return take(*longest, false);
            if (at_work_ == 0) return running_.empty() ? nullptr : take(*running_.begin()->second, true);
            moved_.wait_for(lock, std::chrono::milliseconds(1));
        }
    }
    /// Returns the cluster that has stood back longest, or null.
    Running* stood_back() {
        Running* longest = nullptr;
        for (const auto& [index, running] : running_)
            if (running->stood_back != 0 && (longest == nullptr || running->stood_back < longest->stood_back))
                longest = running.get();
        return longest;
    }
    Cluster::Pause run(Running& running) {
        const Turns::Ending ending(turns_, running.index);
        if (running.cluster == nullptr)
            running.cluster =
                std::make_unique<Cluster>(program_, code_, launch_, turns_, exchange_, allowance_);
        Observer* observer = launch_.observer;
        if (std::exchange(running.fresh, false)) {
            running.cluster->reset(running.index);
            if (observer != nullptr) observer->begin(View(*running.cluster));
        }
        const Cluster::Pause pause = running.cluster->run(running.alone, running.crowd);
        if (pause == Cluster::Pause::ended && observer != nullptr) observer->ended(View(*running.cluster));
        return pause;
    }
    /// Returns the first cluster that has not begun, on a device with room; behind the last one if there is
    /// none.
    std::uint64_t with_room() const {
        std::uint64_t first = clusters_;
        for (std::uint32_t device = 0; device < of_devices_.size(); ++device)
            if (const OfDevice& of = of_devices_[device]; of.begun < in_grid_ && of.running < resident_)
                first = std::min(first, launch_.devices.number(device, of.begun));
        return first;
    }
    Running* begin(std::uint64_t index) {
        auto running = std::make_unique<Running>();
        running->index = index;
        OfDevice& of = of_devices_[launch_.devices.of(index)];
        ++of.begun;
        ++of.running;
        if (!idle_.empty()) {
            running->cluster = std::move(idle_.back());
            idle_.pop_back();
        }
        return take(*(running_[index] = std::move(running)), false);
    }
    Running* take(Running& running, bool alone) {
        if (std::exchange(running.waits, false)) turns_.waits(false);
        running.stood_back = 0;
        running.at_work = true;
        running.alone = alone;
        const std::uint32_t device = launch_.devices.of(running.index);
        const std::uint64_t next = of_devices_[device].begun;
        running.crowd =
            alone && next < in_grid_ ? Crowd{launch_.devices.number(device, next), resident_} : Crowd{};
        running.changes = turns_.changes();
        ++at_work_;
        turns_.begin(running.index);
        return &running;
    }

    void finish(Running& running, GlobalTrace trace) {
        const std::uint64_t index = running.index;
        Cluster& cluster = *running.cluster;
        turns_.changed();
        if (const EndOfRunAhead taint = cluster.ended_by_taint();
            taint && launch_.synthetic->ended != nullptr)
            if (index < tainted_by_) {
                tainted_by_ = index;
                *launch_.synthetic->ended = taint;
            }
        if (launch_.synthetic != nullptr && launch_.synthetic->boxes != nullptr)
            cluster.measure(*launch_.synthetic->boxes);
        done_.push_back({index, cluster.steps(), cluster.mmas()});
        if (progress_) progress_->done(done_.size() * program_.cluster().volume());
        if (MessageLog messages = cluster.take_messages(); !messages.empty())
            said_.emplace(index, std::move(messages));
        if (std::vector<Diagnostic> found = cluster.report().take(); !found.empty()) {
            if (launch_.weigh) std::ranges::for_each(found, launch_.weigh);
            const bool wrong = std::ranges::any_of(
                found, [](const Diagnostic& finding) { return finding.severity == Severity::error; });
            if (!wrong) {
                warnings_.emplace(index, std::move(found));
            } else if (index < last_.load()) {
                last_ = index;
                findings_ = std::move(found);
            }
        }
        traces_.emplace(index, std::move(trace));
        compare();
        idle_.push_back(std::move(running.cluster));
        --of_devices_[launch_.devices.of(index)].running;
        running_.erase(index);
    }

    // Compares what the clusters did to global memory, in their order.
    void compare() {
        for (; traces_.contains(compared_); ++compared_) {
            auto trace = traces_.extract(compared_);
            if (compared_ >= last_.load()) continue;
            std::vector<Conflict> conflicts;
            if (exchange_.history) conflicts = exchange_.history->take(compared_);
            for (const Conflict& found : launch_shadow_.add(compared_, std::move(trace.mapped())))
                if (std::ranges::none_of(conflicts,
                                         [&](const Conflict& one) { return one.of_same_steps(found); }))
                    conflicts.push_back(found);
            if (conflicts.empty()) continue;
            const GlobalMemory memory(program_, launch_);
            const machine::Waits none;
            Report report(program_, code_, launch_, none);
            report.reset(
                cluster_position(launch_.grid, program_.cluster(), launch_.devices.in_grid(compared_)),
                launch_.devices.of(compared_));
            for (const auto& conflict : conflicts)
                report.global_conflict(conflict, memory.place(conflict.address));
            last_ = compared_;
            findings_ = report.take();
            if (launch_.weigh) std::ranges::for_each(findings_, launch_.weigh);
        }
    }

    const Program& program_;
    const SimulatedLaunch& launch_;
    const Code code_;
    const std::uint64_t in_grid_, clusters_;  ///< clusters of a device, and of all
    const std::size_t resident_;              ///< how many of a device may have begun and not ended
    Turns turns_;
    Exchange exchange_;
    Allowance allowance_{program_, launch_};
    std::atomic<std::uint64_t> last_{UINT64_MAX};  ///< no cluster after this one counts
    std::mutex mutex_;
    std::condition_variable moved_;  ///< a cluster has ended, or waits
    std::map<std::uint64_t, std::unique_ptr<Running>> running_;
    std::vector<std::unique_ptr<Cluster>> idle_;  ///< for reuse
    struct OfDevice {
        std::uint64_t begun = 0;  ///< clusters of its grid
        std::size_t running = 0;
    };
    std::vector<OfDevice> of_devices_;
    std::uint64_t times_stood_back_ = 0;
    std::uint64_t tainted_by_ = UINT64_MAX;  ///< the first cluster that ended by a doubt
    int at_work_ = 0;
    std::vector<Done> done_;
    std::map<std::uint64_t, MessageLog> said_;  ///< by cluster
    std::vector<Diagnostic> findings_;
    std::map<std::uint64_t, std::vector<Diagnostic>> warnings_;  ///< by cluster, of those without errors
    std::map<std::uint64_t, GlobalTrace> traces_;                ///< of clusters, to be compared
    std::uint64_t compared_ = 0;                                 ///< clusters
    LaunchShadow launch_shadow_;
    std::exception_ptr failure_;
    std::optional<Progress> progress_;
};

void check(const Program& program, const SimulatedLaunch& launch) {
    const Dim3& grid = launch.grid;
    constexpr std::int64_t columns = sm_90a.grid_columns, rows = sm_90a.grid_rows;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > columns || grid.y > rows || grid.z > rows)
        throw rules::refusal(rules::WG_FORM_04,
                             fmt::format("grid {{{}, {}, {}}}: extents are 1 to {}, {} and {}", grid.x,
                                         grid.y, grid.z, columns, rows, rows));
    if (const Dim3 c = program.cluster(); grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
        throw rules::refusal(rules::WG_FORM_04,
                             fmt::format("grid {{{}, {}, {}}} is not made of clusters of {{{}, {}, {}}}",
                                         grid.x, grid.y, grid.z, c.x, c.y, c.z),
                             "make each extent of the grid a multiple of the cluster's");
    if (launch.params.size() != program.params().size() * launch.devices.count)
        throw ArgumentError(fmt::format("kernel {} has {}, the launch gives {}", program.name(),
                                        count_of(program.params().size(), "parameter"),
                                        launch.params.size()));
    check_tensor_maps(program, launch);
}

}  // namespace

Outcome run(const Program& program, const SimulatedLaunch& launch) {
    check(program, launch);
    Grid grid(program, launch);
    const std::uint64_t workers =
        std::min<std::uint64_t>(launch.grid.volume() * launch.devices.count, grid.most_workers());
    {
        std::vector<std::jthread> others;
        try {
            for (std::uint64_t i = 1; i < workers; ++i) others.emplace_back([&grid] { grid.work(); });
        } catch (const std::exception&) {
            // No more threads, or no memory for one: the existing ones do the work.
        }
        grid.work();
    }
    return grid.outcome();
}

}  // namespace wgrun::sim
