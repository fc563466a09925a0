// The state of an abstract execution as numbers.
//
// Clocks are only compared with others of their actor, learnt, and counted on: which of two is the later one
// decides, and not by how much. So a clock is its rank among those of its actor, and a ring of stages that
// has turned once is in the state that it was in before.
//
// What a warp knows of another one is compared with the clocks of accesses, waits and phases alone, and never
// with what others know. That it knows more makes no fault, and allows all that it allowed before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "check/abstract/memory_state.hpp"
#include "check/knowledge.hpp"

namespace wgrun::check::abstract {

struct Encoded {
    /// A clock, or how far one is known.
    struct Clock {
        int actor;
        std::uint32_t value;
    };
    /// What is the same where all that follows is the same, but for what warps know.
    std::vector<std::uint64_t> numbers;
    std::vector<Clock> clocks, known;
    std::vector<std::uint32_t>
        order;  ///< places in `clocks`, by actor and value, without those that are none
    std::vector<std::uint32_t>
        end;  ///< of each piece of knowledge: where in `order` those end that it includes
    int warps = 0;
    std::vector<MemoryOfCta> memory;  ///< where accesses to it are followed

    std::size_t size() const;
    /// Whether all that is known here is known there, where the numbers are the same, and shared memory has
    /// been accessed no less.
    bool knows_no_more_than(const Encoded& other) const;
    /// Up to which clock each piece of knowledge may go, where the numbers are the same, so that it includes
    /// no clock that it does not include there.
    std::vector<std::uint32_t> known_in_both(const Encoded& other) const;
};

class Encoder {
  public:
    explicit Encoder(int warps) { out_.warps = warps; }

    void number(std::uint64_t value) { out_.numbers.push_back(value); }
    /// A clock of an actor; 0: none.
    void clock(int actor, std::uint32_t value) { out_.clocks.push_back({actor, value}); }
    /// The same, which may also be taken to be less (lower).
    void known_at(int actor, std::uint32_t& value) {
        counts_.emplace_back(&value, out_.known.size());
        known(actor, value);
    }
    /// How much is known of an actor's clocks.
    void known(int actor, std::uint32_t value) { out_.known.push_back({actor, value}); }
    void knowledge(Knowledge& of, int actors) {
        pieces_.push_back({&of, out_.known.size()});
        for (int actor = 0; actor < actors; ++actor) known(actor, of.of(actor));
        memory(of.memory, actors);
    }
    /// Of accesses to shared memory.
    void memory(const Clocks& of, int actors) {
        for (int warp = 0; warp < out_.warps; ++warp)
            for (const auto& [actor, at] :
                 {std::pair(accesses_of(warp), 3 * warp), std::pair(fences_of(warp), 3 * warp + 1),
                  std::pair(waits_of(warp), 3 * warp + 2)})
                known(actor, of.of(at));
        for (int actor = out_.warps; actor < actors; ++actor) known(actor, of.of(3 * out_.warps + actor));
    }
    /// Clocks that knowledge is compared with.
    void clocks(const Knowledge& of, int actors) {
        for (int actor = 0; actor < actors; ++actor) clock(actor, of.of(actor));
    }
    static constexpr int accesses_of(int warp) { return -2 - warp; }  ///< the actor that counts them
    /// The same, where up to which one the async proxy sees them is known.
    static constexpr int fences_of(int warp) { return -2000000 - warp; }
    static constexpr int waits_of(int warp) { return -3000000 - warp; }  ///< for wgmma
    /// The actors that count the wgmma of a warp, or of a warpgroup by its first one, and the copies from a
    /// warp.
    static constexpr int products_of(int warp) { return -1000 - 3 * warp; }
    static constexpr int stores_of(int warp) { return -1001 - 3 * warp; }
    /// So many operations of that kind were issued, which count from the last one back.
    void issued(int actor, std::uint32_t count) { issued_[actor] = count; }
    std::uint32_t back(int actor, std::uint32_t number) const { return issued_.at(actor) - number; }
    void memory(std::vector<MemoryOfCta> of_ctas) { out_.memory = std::move(of_ctas); }
    /// The actor that counts the steps of a warpgroup's warps that concern wgmma, by its first warp.
    static constexpr int steps_of(int warp) { return -1000000 - warp; }

    Encoded finish() &&;
    /// What was encoded is known up to these clocks and not beyond (Encoded::known_in_both).
    void lower(const std::vector<std::uint32_t>& kept, int actors) const;

  private:
    std::set<int> actors_of_clocks() const;
    bool decides(int actor, const std::set<int>& of_clocks) const;
    struct Piece {
        Knowledge* of;
        std::size_t first;  ///< of its clocks among all that are known
    };
    Encoded out_;
    std::vector<Piece> pieces_;
    std::vector<std::pair<std::uint32_t*, std::size_t>> counts_;  ///< and their places among all
    std::map<int, std::uint32_t> issued_;                         ///< by actor
};

}  // namespace wgrun::check::abstract
