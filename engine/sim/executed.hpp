// Which steps of a program a launch has executed.
#pragma once

#include <atomic>
#include <unordered_set>
#include <vector>

#include "sim/code.hpp"

namespace wgrun::sim {

/// Filled by the threads of one run. A step whose guard holds in no lane is not executed.
class Executed {
  public:
    /// Before the code runs.
    void begin(const Code& code) {
        steps_.clear();
        for (const Op& op : code.ops) steps_.push_back(op.step);
        ran_ = std::vector<std::atomic<bool>>(code.ops.size());
    }
    void note(std::uint32_t pc) {
        // Threads that write it over and over would take the cache's line from each other.
        if (!ran_[pc].load(std::memory_order_relaxed)) ran_[pc].store(true, std::memory_order_relaxed);
    }
    /// After the run: the steps of the program.
    std::unordered_set<const isa::Step*> steps() const {
        std::unordered_set<const isa::Step*> out;
        for (std::size_t pc = 0; pc < ran_.size(); ++pc)
            if (ran_[pc] && steps_[pc] != nullptr) out.insert(steps_[pc]);
        return out;
    }

  private:
    std::vector<const isa::Step*> steps_;  ///< by operation
    std::vector<std::atomic<bool>> ran_;
};

}  // namespace wgrun::sim
