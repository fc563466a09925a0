// Groups of asynchronous operations: wgmma (PTX ISA 9.7.15.7), bulk copies and cp.async (9.7.9.25).
//
// Each kind has its commit_group and its wait_group, and all three count in the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/warp.hpp"

namespace wgrun::machine {

/// The operations of one kind that the lanes of a warp issue. Each lane has groups of its own; operations are
/// numbered through all lanes, from 1. Note: what is remembered of a group besides.
template <class Note = std::uint32_t>
class Groups {
  public:
    struct Group {
        isa::Mask lanes;     ///< that have committed it and not waited for it
        std::uint32_t last;  ///< the last operation before the commit, of any lane
        Note note;
    };

    /// Lanes issue an operation. Returns its number.
    std::uint32_t issue() { return ++issued_; }
    /// commit_group: for each of the lanes, what it has issued since its last one is a group, perhaps an
    /// empty one.
    void commit(isa::Mask lanes, Note note = {}) {
        committed_.push_back({lanes, issued_, note});
        opened_ = issued_ + 1;
    }
    /// wait_group: returns the last operation that a lane waits for if at most `pending` of its groups may
    /// still run. All those that the lane has issued up to this one are waited for. 0: none is.
    std::uint32_t awaited(int lane, int pending) const {
        for (auto group = committed_.rbegin(); group != committed_.rend(); ++group)
            if ((group->lanes >> lane & 1U) != 0 && pending-- <= 0) return group->last;
        return 0;
    }
    /// The lane has waited for its operations up to this number: their groups are over. A wait for reads
    /// alone
    /// (.read) ends no group, since another wait may be for the writes.
    void finish(int lane, std::uint32_t last) {
        for (Group& group : committed_) {
            if (group.last > last) break;
            group.lanes &= ~(isa::Mask{1} << lane);
        }
        const auto runs = [](const Group& group) { return group.lanes != 0; };
        committed_.erase(committed_.begin(), std::ranges::find_if(committed_, runs));
    }

    std::uint32_t issued() const { return issued_; }  ///< the number of the last operation
    /// Of the first operation that no lane has committed: those from there on go together.
    std::uint32_t opened() const { return opened_; }
    /// The last operation that a commit_group of the lane has closed and no wait_group has ended; 0: none.
    std::uint32_t committed(int lane) const { return awaited(lane, 0); }
    /// Those that some lane has not waited for, in order.
    const std::vector<Group>& running() const { return committed_; }

    /// Writes down what is running, counted back from the last operation.
    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(committed_.size());
        for (const Group& group : committed_) {
            to.number(group.lanes);
            to.number(issued_ - group.last);
        }
    }

  private:
    std::uint32_t issued_ = 0, opened_ = 1;
    std::vector<Group> committed_;
};

}  // namespace wgrun::machine
