// The state of a rehearsal as numbers, of which two are equal exactly where what follows is the same.
//
// Clocks are only compared with others of their actor, learnt, and counted on: which of two is the later one
// decides, and not by how much. So a clock is its rank among all clocks of its actor in the state, and a ring
// of stages that has turned once is in the state that it was in before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/knowledge.hpp"

namespace wgrun::check::rehearsal {

class Encoder {
  public:
    void number(std::uint64_t value) { numbers_.push_back(value); }
    /// A clock of an actor; 0: none.
    void clock(int actor, std::uint32_t value) {
        // Actors are small numbers, some below 0.
        const std::uint64_t clock = std::uint64_t{static_cast<std::uint32_t>(actor)} << 32 | value;
        if (!clocks_.empty() && different_[clocks_.back()] == clock) return clocks_.push_back(clocks_.back());
        const auto [at, added] = places_.try_emplace(clock, static_cast<std::uint32_t>(different_.size()));
        if (added) different_.push_back(clock);
        clocks_.push_back(at->second);
    }
    void knowledge(const Knowledge& of, int actors) {
        number(of.empty() ? 0 : 1);
        if (of.empty()) return;
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
    /// The actors that count the wgmma of a warpgroup, by its first warp, the copies from a warp, and those
    /// by its threads.
    static constexpr int products_of(int warp) { return -1000 - 3 * warp; }
    static constexpr int stores_of(int warp) { return -1001 - 3 * warp; }
    static constexpr int thread_copies_of(int warp) { return -1002 - 3 * warp; }
    int warps = 0;

    /// Returns the numbers, with the ranks of the clocks behind them.
    std::vector<std::uint64_t> finish() && {
        std::vector<std::uint64_t> sorted = different_;
        std::ranges::sort(sorted);
        std::vector<std::uint64_t> ranks(different_.size());
        std::uint64_t rank = 0, actor = 0;
        for (const std::uint64_t clock : sorted) {
            if (clock >> 32 != actor) rank = 0;
            actor = clock >> 32;
            if (static_cast<std::uint32_t>(clock) != 0) ranks[places_.at(clock)] = ++rank;
        }
        numbers_.reserve(numbers_.size() + clocks_.size());
        for (const std::uint32_t place : clocks_) numbers_.push_back(ranks[place]);
        return std::move(numbers_);
    }

  private:
    std::vector<std::uint64_t> numbers_;
    std::vector<std::uint64_t> different_;                     ///< clocks: the actor, the value
    std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< in different_
    std::vector<std::uint32_t> clocks_;                        ///< places, too
};

}  // namespace wgrun::check::rehearsal
