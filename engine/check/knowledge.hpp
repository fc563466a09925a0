// What a warp knows to have happened: a vector clock, whose entries are added when they are first learnt.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wgrun::check {

class Clocks {
  public:
    std::uint32_t of(int actor) const {
        const auto i = static_cast<std::size_t>(actor);
        return i < seen_.size() ? seen_[i] : 0;
    }
    void learn(int actor, std::uint32_t clock) {
        if (clock == 0) return;
        const auto i = static_cast<std::size_t>(actor);
        if (i >= seen_.size()) seen_.resize(i + 1);
        seen_[i] = std::max(seen_[i], clock);
    }
    void learn(const Clocks& other) {
        if (other.seen_.size() > seen_.size()) seen_.resize(other.seen_.size());
        for (std::size_t i = 0; i < other.seen_.size(); ++i) seen_[i] = std::max(seen_[i], other.seen_[i]);
    }
    /// Forgets what is beyond that clock of an actor.
    void limit(int actor, std::uint32_t most) {
        const auto i = static_cast<std::size_t>(actor);
        if (i < seen_.size()) seen_[i] = std::min(seen_[i], most);
    }
    void clear() { seen_.clear(); }
    bool empty() const { return seen_.empty(); }

  private:
    std::vector<std::uint32_t> seen_;  ///< by actor
};

class Knowledge {
  public:
    /// Returns the latest known clock of `actor`; 0: nothing is known.
    std::uint32_t of(int actor) const {
        const auto i = static_cast<std::size_t>(actor);
        return i < seen_.size() ? seen_[i] : 0;
    }
    void learn(int actor, std::uint32_t clock) {
        const auto i = static_cast<std::size_t>(actor);
        if (i >= seen_.size()) seen_.resize(i + 1);
        seen_[i] = std::max(seen_[i], clock);
    }
    /// Forgets what is beyond that clock of an actor.
    void limit(int actor, std::uint32_t most) {
        const auto i = static_cast<std::size_t>(actor);
        if (i < seen_.size()) seen_[i] = std::min(seen_[i], most);
    }
    /// Learns what `other` knows of the actors from `first` on.
    void learn(const Knowledge& other, int first = 0) {
        if (other.seen_.size() > seen_.size()) seen_.resize(other.seen_.size());
        for (auto i = static_cast<std::size_t>(first); i < other.seen_.size(); ++i)
            seen_[i] = std::max(seen_[i], other.seen_[i]);
        if (first == 0) memory.learn(other.memory);
    }
    void clear() {
        seen_.clear();
        memory.clear();
    }
    /// In a proof: what is known of accesses to shared memory (abstract/shared_memory.hpp).
    Clocks memory{};
    bool empty() const {
        return memory.empty() && std::ranges::all_of(seen_, [](std::uint32_t clock) { return clock == 0; });
    }
    /// Whether this, and that `self` has come to `now`, includes what `other` knows of one of its actors.
    bool meets(const Knowledge& other, int self, std::uint32_t now) const {
        for (std::size_t i = 0; i < other.seen_.size(); ++i) {
            const int actor = static_cast<int>(i);
            if (other.seen_[i] != 0 &&
                (of(actor) >= other.seen_[i] || (actor == self && now >= other.seen_[i])))
                return true;
        }
        return false;
    }
    /// Whether this includes all that `other` knows.
    bool includes(const Knowledge& other) const {
        for (std::size_t i = 0; i < other.seen_.size(); ++i)
            if (of(static_cast<int>(i)) < other.seen_[i]) return false;
        return true;
    }

  private:
    std::vector<std::uint32_t> seen_;  ///< by actor
};

}  // namespace wgrun::check
