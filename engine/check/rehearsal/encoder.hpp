// The state of a rehearsal as numbers, of which two are equal only where what follows is the same.
//
// Clocks are only compared with others of their actor, learnt, and counted on: which of two is the later one
// decides, and not by how much. So a clock is its rank among those of its actor, and a ring of stages that has
// turned once is in the state that it was in before.
//
// What a warp knows of another one is compared with the clocks of accesses, waits and phases alone, and never
// with what others know. So two of these clocks between which nobody's knowledge ends are the same, and of
// knowledge its place among them decides. What is written down at an mbarrier or a barrier is learnt from there:
// that it is less than what all warps know makes no difference. And a clock that all of them know is one that
// nobody asks for.
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
    void knowledge(const Knowledge& of, int actors) { knowledge(of, actors, Clocks(), Clocks()); }
    /// Of a place that warps learn from, all of which know `floor`.
    void learnt(const Knowledge& of, int actors) { knowledge(of, actors, floor, floor_of_memory); }
    /// Of accesses to shared memory, in a cluster of `warps` warps.
    void memory(const Clocks& of, int actors) { memory(of, actors, Clocks()); }
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
    Clocks floor, floor_of_memory;  ///< what all warps know; of accesses, all others
    bool is_known(int actor, std::uint32_t clock) const { return clock != 0 && clock <= floor.of(actor); }

    /// Returns the numbers, with the ranks of clocks and knowledge behind them.
    std::vector<std::uint64_t> finish() && {
        std::vector<std::uint64_t> sorted = different_;
        std::ranges::sort(sorted);
        std::vector<std::uint64_t> knowledge;
        for (const std::uint64_t known : known_)
            if (is_warps(actor_of(known))) knowledge.push_back(known);
        std::ranges::sort(knowledge);
        // A clock begins another rank where somebody knows the one before and not it.
        std::unordered_map<std::uint64_t, std::uint64_t> ranks;
        std::vector<std::uint64_t> ranked;  // as `sorted`
        std::uint64_t rank = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const bool first = i == 0 || actor_of(sorted[i]) != actor_of(sorted[i - 1]);
            if (first) rank = 0;
            const bool none = static_cast<std::uint32_t>(sorted[i]) == 0;
            const bool before_is_none = first || static_cast<std::uint32_t>(sorted[i - 1]) == 0;
            if (!none && (before_is_none || !is_warps(actor_of(sorted[i])) ||
                          ends_between(knowledge, sorted[i - 1], sorted[i])))
                ++rank;
            ranked.push_back(none ? 0 : rank);
            ranks[sorted[i]] = ranked.back();
        }
        std::vector<std::uint64_t> by_place;
        by_place.reserve(different_.size());
        for (const std::uint64_t clock : different_) by_place.push_back(ranks.at(clock));
        numbers_.reserve(numbers_.size() + clocks_.size() + known_.size());
        for (const std::uint32_t place : clocks_) numbers_.push_back(by_place[place]);
        for (const std::uint64_t known : known_) numbers_.push_back(rank_of(known, sorted, ranked));
        return std::move(numbers_);
    }

  private:
    /// Actors are small numbers, some below 0.
    static std::uint64_t numbered(int actor, std::uint32_t value) {
        return std::uint64_t{static_cast<std::uint32_t>(actor)} << 32 | value;
    }
    static int actor_of(std::uint64_t clock) { return static_cast<int>(static_cast<std::uint32_t>(clock >> 32)); }
    /// Whether knowledge and clocks of the actor are compared by "not before" alone: a warp's, and its accesses'.
    bool is_warps(int actor) const { return actor < warps && actor >= accesses_of(warps - 1) && actor != -1; }
    static bool ends_between(const std::vector<std::uint64_t>& knowledge, std::uint64_t clock, std::uint64_t next) {
        const auto at = std::ranges::lower_bound(knowledge, clock);
        return at != knowledge.end() && *at < next;
    }
    /// The rank of the last clock that it includes. Of an mbarrier it matters whether that is the same.
    std::uint64_t rank_of(std::uint64_t known, const std::vector<std::uint64_t>& sorted,
                          const std::vector<std::uint64_t>& ranked) const {
        const auto to = static_cast<std::size_t>(std::ranges::upper_bound(sorted, known) - sorted.begin());
        if (to == 0 || actor_of(sorted[to - 1]) != actor_of(known)) return 0;
        const bool same = !is_warps(actor_of(known)) && sorted[to - 1] == known;
        return ranked[to - 1] << 1 | (same ? 1 : 0);
    }
    void knowledge(const Knowledge& of, int actors, const Clocks& least, const Clocks& least_of_memory) {
        number(of.empty() ? 0 : 1);
        if (of.empty()) return;
        for (int actor = 0; actor < actors; ++actor)
            known(actor, actor < warps ? of.of(actor) : std::max(of.of(actor), least.of(actor)));
        memory(of.memory, actors, least_of_memory);
    }
    void memory(const Clocks& of, int actors, const Clocks& least) {
        const auto one = [&](int actor, int at) { known(actor, std::max(of.of(at), least.of(at))); };
        for (int warp = 0; warp < warps; ++warp)
            for (const int at : {2 * warp, 2 * warp + 1}) one(accesses_of(warp), at);
        for (int actor = warps; actor < actors; ++actor) one(actor, 2 * warps + actor);
    }

    std::vector<std::uint64_t> numbers_;
    std::vector<std::uint64_t> different_;                     ///< clocks: the actor, the value
    std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< in different_
    std::vector<std::uint32_t> clocks_;                        ///< places, too
    std::vector<std::uint64_t> known_;                         ///< the actor, the value
};

}  // namespace wgrun::check::rehearsal
