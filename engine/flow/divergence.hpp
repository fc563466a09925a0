// Where the lanes of a warp are that do not run together.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/lanes.hpp"

namespace wgrun::flow {

/// Lanes that part at a branch run one group after the other, and go on together where their ways meet again.
/// Operations are numbered; the warp that owns this has the number of the next one, and the lanes that run.
class Divergence {
  public:
    static constexpr std::uint32_t nowhere = UINT32_MAX;

    /// A branch: operations that each side begins with, and the one at which both sides meet again (nowhere:
    /// they do not).
    struct Ways {
        std::uint32_t taken, otherwise, join;
    };
    /// Lanes that wait for their turn.
    struct Group {
        isa::Mask lanes;
        std::uint32_t next;            ///< the operation that they go on with
        std::uint32_t join;            ///< where they are to wait for others
        std::uint32_t from = nowhere;  ///< the branch whose other side has its turn now; nowhere: they wait
                                       ///< for all of their own
    };

    void clear() {
        groups_.clear();
        join_ = nowhere;
    }
    /// Those that have their turn last come first.
    const std::vector<Group>& groups() const { return groups_; }

    /// The lanes that run come to `branch`, and `taken` of them go that way.
    void part(std::uint32_t branch, const Ways& ways, isa::Mask taken, isa::Mask& running,
              std::uint32_t& next) {
        const isa::Mask others = running & ~taken;
        if (taken != 0 && others != 0) {
            const std::uint32_t join = ways.join == nowhere ? join_ : ways.join;
            if (join != join_) groups_.push_back({running, join, join_});
            if (ways.otherwise != join) groups_.push_back({others, ways.otherwise, join, branch});
            join_ = join;
            running = taken;
        }
        go(taken != 0 ? ways.taken : ways.otherwise, running, next);
    }

    /// The lanes that run go on with operation `to`, or wait there for others, whose turn it is then.
    void go(std::uint32_t to, isa::Mask& running, std::uint32_t& next) {
        next = to;
        while (next == join_ && !groups_.empty()) take_turn(running, next);
    }

    /// The lanes that run end. False: no lane is left.
    bool end(isa::Mask& running, std::uint32_t& next) {
        for (Group& group : groups_) group.lanes &= ~running;
        running = 0;
        while (running == 0 && !groups_.empty()) take_turn(running, next);
        if (running == 0) return false;
        go(next, running, next);
        return true;
    }

  private:
    void take_turn(isa::Mask& running, std::uint32_t& next) {
        running = groups_.back().lanes;
        next = groups_.back().next;
        join_ = groups_.back().join;
        groups_.pop_back();
    }

    std::vector<Group> groups_;
    std::uint32_t join_ = nowhere;  ///< where the lanes that run wait for others
};

}  // namespace wgrun::flow
