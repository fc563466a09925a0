// The turns of clusters. They run at the same time on several host threads, but their reductions in global
// memory happen in the order of the grid, so that a run can be repeated.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace wgrun::sim {

class Turns {
  public:
    void begin(std::uint64_t index) {
        const std::lock_guard lock(mutex_);
        running_.insert(index);
    }
    /// Ends a turn that has begun, whatever happens to the run: clusters that await it must not hang.
    class Ending {
      public:
        Ending(Turns& turns, std::uint64_t index) : turns_(turns), index_(index) {}
        ~Ending() {
            {
                const std::lock_guard lock(turns_.mutex_);
                turns_.running_.erase(index_);
            }
            turns_.ended_.notify_all();
        }
        Ending(const Ending&) = delete;
        Ending& operator=(const Ending&) = delete;

      private:
        Turns& turns_;
        std::uint64_t index_;
    };

    /// Returns when all clusters before this one have ended, or wait for others.
    void await(std::uint64_t index) {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [&] { return *running_.begin() >= index; });
    }

    /// Returns the mutex for operations that read and write global memory.
    std::mutex& global_memory() { return global_memory_; }

    /// Returns a count of the writes of clusters for which others may wait.
    std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
    void changed() { changes_.fetch_add(1, std::memory_order_relaxed); }

    /// Ends the run: all clusters are to end where they are.
    void end_all() { over_.store(true, std::memory_order_relaxed); }
    bool over() const { return over_.load(std::memory_order_relaxed); }

    /// A cluster begins, or ceases, to wait for others to change memory.
    void waits(bool begins) { waiting_.fetch_add(begins ? 1 : -1, std::memory_order_relaxed); }
    /// Returns whether a cluster waits for others.
    bool waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  private:
    std::mutex global_memory_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::set<std::uint64_t> running_;
    std::atomic<std::uint64_t> changes_{0};
    std::atomic<int> waiting_{0};
    std::atomic<bool> over_{false};
};

}  // namespace wgrun::sim
