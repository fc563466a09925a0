// Whose turn it is: clusters run at once on several host threads, but what they combine with global memory
// (reductions) comes in the order of the grid, so that a run can be repeated.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace wgrun::sim {

class Turns {
  public:
    /// One cluster's run: takes the next number of the grid, and gives it back at the end.
    class Turn {
      public:
        explicit Turn(Turns& turns) : turns_(turns) {
            const std::lock_guard lock(turns_.mutex_);
            index_ = turns_.next_++;
            turns_.running_.insert(index_);
        }
        ~Turn() {
            {
                const std::lock_guard lock(turns_.mutex_);
                turns_.running_.erase(index_);
            }
            turns_.ended_.notify_all();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        std::uint64_t index() const { return index_; }

      private:
        Turns& turns_;
        std::uint64_t index_;
    };

    /// Returns when all clusters before this one have ended.
    void await(std::uint64_t index) {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [&] { return *running_.begin() >= index; });
    }

    /// Held by whoever reads and writes global memory in one operation.
    std::mutex& global_memory() { return global_memory_; }

  private:
    std::mutex global_memory_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::uint64_t next_ = 0;
    std::set<std::uint64_t> running_;
};

}  // namespace wgrun::sim
