// The lanes of a warp that have diverged.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/lanes.hpp"

namespace wgrun::flow {

/// Lanes that diverge at a branch run one group after the other, and reconverge where their paths meet again.
/// Where the active lanes wait in vain, other groups may run first (independent thread scheduling).
/// Operations are numbered; the warp that owns this has the number of the next one, and the active lanes.
class Divergence {
  public:
    static constexpr std::uint32_t nowhere = UINT32_MAX;

    /// A branch: the first operation of each side, and the one at which both sides reconverge (nowhere: they
    /// do not).
    struct Ways {
        std::uint32_t taken, otherwise, join;
    };
    /// Lanes that are not active.
    struct Group {
        isa::Mask lanes;
        std::uint32_t next;            ///< the operation at which they continue
        std::uint32_t join;            ///< where they wait for others
        std::uint32_t from = nowhere;  ///< the branch whose other side is active now; nowhere: they wait for
                                       ///< all lanes of their own
        bool operator==(const Group&) const = default;
    };

    void clear() {
        groups_.clear();
        join_ = nowhere;
    }
    /// The last to become active come first.
    const std::vector<Group>& groups() const { return groups_; }

    /// The active lanes execute `branch`; those of `taken` take it.
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

    /// The active lanes continue at operation `to`, or wait there for others, which become active.
    void go(std::uint32_t to, isa::Mask& running, std::uint32_t& next) {
        next = to;
        while (next == join_ && !groups_.empty()) take_turn(running, next);
    }

    /// Lanes that were active end, and the others go on.
    void forget(isa::Mask ended) {
        for (Group& group : groups_) group.lanes &= ~ended;
    }

    /// The active lanes end. False: no lane is left.
    bool end(isa::Mask& running, std::uint32_t& next) {
        for (Group& group : groups_) group.lanes &= ~running;
        running = 0;
        while (running == 0 && !groups_.empty()) take_turn(running, next);
        if (running == 0) return false;
        go(next, running, next);
        return true;
    }

    /// The active lanes wait for something: the group that has waited longest runs instead, and they run
    /// after it. `early`: so do lanes that wait where they would reconverge with others, without those.
    /// False: no other lanes can run.
    bool let_others(isa::Mask& running, std::uint32_t& next, bool early) {
        for (const bool whole : {true, false}) {
            if (!whole && !early) break;
            for (std::size_t i = 0; i < groups_.size(); ++i) {
                // A group waits for its own lanes that are active, or in a group above it.
                isa::Mask others = running;
                for (std::size_t above = i + 1; above < groups_.size(); ++above)
                    others |= groups_[above].lanes;
                Group chosen = groups_[i];
                const isa::Mask missing = chosen.lanes & others;
                chosen.lanes &= ~others;
                if (chosen.lanes == 0 || (whole && missing != 0)) continue;
                if (missing == 0)
                    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
                else
                    groups_[i].lanes = missing;
                groups_.push_back({running, next, join_});
                running = chosen.lanes;
                join_ = chosen.join;
                go(chosen.next, running, next);
                return true;
            }
        }
        return false;
    }

    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(join_);
        to.number(groups_.size());
        for (const Group& group : groups_) {
            to.number(std::uint64_t{group.lanes} << 32 | group.next);
            to.number(std::uint64_t{group.join} << 32 | group.from);
        }
    }

  private:
    void take_turn(isa::Mask& running, std::uint32_t& next) {
        running = groups_.back().lanes;
        next = groups_.back().next;
        join_ = groups_.back().join;
        groups_.pop_back();
    }

    std::vector<Group> groups_;
    std::uint32_t join_ = nowhere;  ///< where the active lanes wait for others
};

}  // namespace wgrun::flow
