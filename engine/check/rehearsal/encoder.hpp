// The state of a rehearsal as numbers, of which two are equal exactly where what follows is the same.
//
// Clocks are only compared with others of their actor, learnt, and counted on: which of two is the later one
// decides, and not by how much. So a clock is its rank among all clocks of its actor in the state, and a ring
// of stages that has turned once is in the state that it was in before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "check/knowledge.hpp"

namespace wgrun::check::rehearsal {

class Encoder {
  public:
    void number(std::uint64_t value) { numbers_.push_back(value); }
    /// A clock of an actor; 0: none.
    void clock(int actor, std::uint32_t value) { clocks_.push_back({actor, value, clocks_.size()}); }
    void knowledge(const Knowledge& of, int actors) {
        for (int actor = 0; actor < actors; ++actor) clock(actor, of.of(actor));
        clocks(of.memory, actors);
    }
    /// Of accesses to shared memory, in a cluster of `warps` warps.
    void clocks(const Clocks& of, int actors) {
        for (int warp = 0; warp < warps; ++warp)
            for (const int at : {2 * warp, 2 * warp + 1}) clock(accesses_of(warp), of.of(at));
        for (int actor = warps; actor < actors; ++actor) clock(actor, of.of(2 * warps + actor));
    }
    static constexpr int accesses_of(int warp) { return -2 - warp; }  ///< the actor that counts them
    int warps = 0;

    /// Returns the numbers, with the ranks of the clocks behind them.
    std::vector<std::uint64_t> finish() && {
        std::ranges::sort(clocks_, [](const Clock& a, const Clock& b) {
            return std::pair(a.actor, a.value) < std::pair(b.actor, b.value);
        });
        const std::size_t first = numbers_.size();
        numbers_.resize(first + clocks_.size());
        std::uint64_t rank = 0;
        for (std::size_t i = 0; i < clocks_.size(); ++i) {
            if (i == 0 || clocks_[i].actor != clocks_[i - 1].actor)
                rank = clocks_[i].value == 0 ? 0 : 1;
            else if (clocks_[i].value != clocks_[i - 1].value)
                ++rank;
            numbers_[first + clocks_[i].place] = rank;
        }
        return std::move(numbers_);
    }

  private:
    struct Clock {
        int actor;
        std::uint32_t value;
        std::size_t place;
    };
    std::vector<std::uint64_t> numbers_;
    std::vector<Clock> clocks_;
};

}  // namespace wgrun::check::rehearsal
