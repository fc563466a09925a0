// The state of a rehearsal as numbers, of which two are equal only where what follows is the same.
//
// Clocks are only compared with others of their actor, learnt, and counted on: which of two is the later one
// decides, and not by how much. So a clock is its rank among those of its actor, and a ring of stages that has
// turned once is in the state that it was in before. What a warp knows is compared with clocks of accesses,
// waits and phases alone, and never with what others know: of that, the rank among these decides.
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
        const std::uint64_t clock = numbered(actor, value);
        if (!clocks_.empty() && different_[clocks_.back()] == clock) return clocks_.push_back(clocks_.back());
        const auto [at, added] = places_.try_emplace(clock, static_cast<std::uint32_t>(different_.size()));
        if (added) different_.push_back(clock);
        clocks_.push_back(at->second);
    }
    /// How much is known of an actor's clocks.
    void known(int actor, std::uint32_t value) { known_.push_back(numbered(actor, value)); }
    void knowledge(const Knowledge& of, int actors) {
        number(of.empty() ? 0 : 1);
        if (of.empty()) return;
        for (int actor = 0; actor < actors; ++actor) known(actor, of.of(actor));
        memory(of.memory, actors);
    }
    /// Of accesses to shared memory, in a cluster of `warps` warps.
    void memory(const Clocks& of, int actors) {
        for (int warp = 0; warp < warps; ++warp)
            for (const int at : {2 * warp, 2 * warp + 1}) known(accesses_of(warp), of.of(at));
        for (int actor = warps; actor < actors; ++actor) known(actor, of.of(2 * warps + actor));
    }
    /// Clocks that knowledge is compared with.
    void clocks(const Knowledge& of, int actors) {
        for (int actor = 0; actor < actors; ++actor) clock(actor, of.of(actor));
    }
    static constexpr int accesses_of(int warp) { return -2 - warp; }  ///< the actor that counts them
    /// The actors that count the wgmma of a warpgroup, by its first warp, the copies from a warp, and those
    /// by its threads.
    static constexpr int products_of(int warp) { return -1000 - 3 * warp; }
    static constexpr int stores_of(int warp) { return -1001 - 3 * warp; }
    static constexpr int thread_copies_of(int warp) { return -1002 - 3 * warp; }
    /// The actor that counts the steps of a warpgroup's warps that concern wgmma, by its first warp.
    static constexpr int steps_of(int warp) { return -1000000 - warp; }
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
        numbers_.reserve(numbers_.size() + clocks_.size() + known_.size());
        for (const std::uint32_t place : clocks_) numbers_.push_back(ranks[place]);
        for (const std::uint64_t known : known_) numbers_.push_back(rank_of(known, sorted));
        return std::move(numbers_);
    }

  private:
    /// Actors are small numbers, some below 0.
    static std::uint64_t numbered(int actor, std::uint32_t value) {
        return std::uint64_t{static_cast<std::uint32_t>(actor)} << 32 | value;
    }
    /// How many clocks of the actor are not later. Of an mbarrier it matters whether one is the same.
    std::uint64_t rank_of(std::uint64_t known, const std::vector<std::uint64_t>& sorted) const {
        const auto place = [&](std::uint64_t clock) {
            return static_cast<std::uint64_t>(std::ranges::upper_bound(sorted, clock) - sorted.begin());
        };
        const int actor = static_cast<int>(static_cast<std::uint32_t>(known >> 32));
        const std::uint64_t before = place(known >> 32 << 32), to = place(known);
        const bool same = actor >= warps && to > before && sorted[to - 1] == known;
        return (to - before) << 1 | (same ? 1 : 0);
    }

    std::vector<std::uint64_t> numbers_;
    std::vector<std::uint64_t> different_;                     ///< clocks: the actor, the value
    std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< in different_
    std::vector<std::uint32_t> clocks_;                        ///< places, too
    std::vector<std::uint64_t> known_;                         ///< the actor, the value
};

}  // namespace wgrun::check::rehearsal
