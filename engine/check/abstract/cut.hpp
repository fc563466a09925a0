// The state of an abstract execution at a cut: every warp that could go on is parked before a comparison with
// a number of the launch. A cut stands for many states: counters have turned any number of times, and numbers
// of the launch are anything from a least value on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "check/abstract/registers.hpp"

namespace wgrun::check::abstract {

/// Why variables for turns of loops are there: a proof that fails for one is tried without.
using Widenings = std::map<int, std::uint64_t>;

struct Cut {
    std::uint64_t hash = 0;
    Encoded code;
    std::vector<Register> registers;
    std::vector<Window> windows;  ///< by root
    Widenings widenings{};        ///< by variable
};

/// Returns whether every state of `special` is one of `general`.
bool covers(const Cut& general, const Cut& special, const Symbols& symbols);

/// The same whatever warps know.
bool covers_but_for_knowledge(const Cut& general, const Cut& special, const Symbols& symbols);

/// What makes a cut one that covers another one, too.
struct Widening {
    struct Change {
        std::size_t index;  ///< of the register, or the root
        std::int64_t back;  ///< the least value is less by so much
        Form turns;         ///< it depends on these more
        int variable;       ///< the new one of them
    };
    std::vector<Change> registers, roots;
    std::vector<int> freed;  ///< roots that may be anything
    std::uint64_t key = 0;   ///< the same for the same registers and changes

    void mix(std::uint64_t number) { key = (key ^ number) * 0x9E3779B97F4A7C15U + (key >> 29); }
};

/// By root: the proof takes the number of the launch for any one from this value on. It follows lesser ones
/// one by one.
using ToldApart = std::map<int, std::int64_t>;

/// What a widening relates. Nothing that is proved rests on it.
struct Relations {
    std::function<bool(int root)> keeps;  ///< whether its values belong to counters
    std::function<CountedTo(std::uint32_t warp, std::uint32_t slot)> counts;
    std::function<bool(std::uint32_t slot)> may_count;
    const ToldApart& told_apart;
};
/// Returns how `now` is to be widened so that it covers `before`, too; nothing where they differ in more than
/// counters. in_proportion: counters stay in the proportion in which they have grown; else those alone that
/// have grown by as much.
std::optional<Widening> widening(const Cut& before, const Cut& now, Symbols& symbols,
                                 const Relations& relations, bool in_proportion = false);

/// Returns for each variable for turns how the cut stands for fewer turns, too: a loop that has turned some
/// times may have turned once. So cuts that were come to after other numbers of turns are one.
std::vector<Widening> lowerings(const Cut& cut, const Symbols& symbols, const ToldApart& told_apart);

/// Returns what a window becomes when nothing compares the root any more. The proof follows its values up to
/// `from` one by one.
Window told_apart(Window window, std::int64_t from, const Window& all);

/// The drawn numbers that no register depends on, neither on them nor on what is computed of them.
std::set<int> idle_draws(const std::vector<Register>& registers, const Symbols& symbols);

/// The variables for turns that its registers depend on.
std::set<int> turns_in_registers(const Cut& cut, const Symbols& symbols);

}  // namespace wgrun::check::abstract
