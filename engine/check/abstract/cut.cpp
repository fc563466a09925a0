#include "check/abstract/cut.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "check/abstract/affine.hpp"

namespace wgrun::check::abstract {
namespace {

/// The number of turns of each of the general cut's variables, as a sum of the special one's.
class Turns {
  public:
    /// The general number is to be this special one. Returns whether there is nothing left to learn from it.
    /// places: of a cycle in which both are; 0: they are in none.
    void equal(const Affine& general, const Affine& special, std::int64_t places) {
        rows_.push_back({general, special, places});
    }
    bool solve() {
        for (bool any = true; any;) {
            any = false;
            for (const Row& row : rows_) any |= row.places == 0 && learn(row.general, row.special);
        }
        return !failed_ && std::ranges::all_of(rows_, [&](const auto& row) {
            Affine left = row.special;
            left.add(of(row.general), -1);
            const auto is_nothing = [&](std::int64_t number) {
                return row.places == 0 ? number == 0 : number % row.places == 0;
            };
            return is_nothing(left.constant) &&
                   std::ranges::all_of(left.turns, [&](const auto& one) { return is_nothing(one.second); });
        });
    }
    /// The general number in terms of the special cut's variables.
    Affine of(const Affine& general) const {
        Affine out{general.constant};
        for (const auto& [variable, slope] : general.turns)
            if (const auto at = turns_.find(variable); at != turns_.end()) out.add(at->second, slope);
        return out;
    }

  private:
    bool learn(const Affine& general, const Affine& special) {
        int open = -1;
        std::int64_t slope = 0;
        for (const auto& [variable, its] : general.turns) {
            if (turns_.contains(variable)) continue;
            if (open >= 0) return false;
            open = variable;
            slope = its;
        }
        if (open < 0) return false;
        Affine turns = special;
        turns.add(of(general), -1);
        const auto divide = [&](std::int64_t& by) {
            failed_ |= by % slope != 0;
            by /= slope;
        };
        divide(turns.constant);
        for (auto& [variable, its] : turns.turns) divide(its);
        failed_ |= !turns.never_negative();
        turns_[open] = std::move(turns);
        return true;
    }

    struct Row {
        Affine general, special;
        std::int64_t places;
    };
    std::vector<Row> rows_;
    std::map<int, Affine> turns_;
    bool failed_ = false;
};

bool includes(const Affine& low, std::int64_t room, const Affine& other_low, std::int64_t other_room) {
    Affine below = other_low;
    if (!below.add(low, -1).never_negative()) return false;
    if (room == unlimited) return true;
    if (other_room == unlimited) return false;
    Affine above = low;
    above.constant += room - other_room;
    return above.add(other_low, -1).never_negative();
}

}  // namespace

bool covers(const Cut& general, const Cut& special, const Symbols& symbols) {
    return covers_but_for_knowledge(general, special, symbols) &&
           general.code.knows_no_more_than(special.code);
}

bool covers_but_for_knowledge(const Cut& general, const Cut& special, const Symbols& symbols) {
    if (general.hash != special.hash || general.code.numbers != special.code.numbers ||
        general.registers.size() != special.registers.size())
        return false;
    Turns turns;
    for (std::size_t i = 0; i < general.registers.size(); ++i) {
        const Register &a = general.registers[i], &b = special.registers[i];
        const Affine from = number(a, general, symbols), to = number(b, special, symbols);
        if (!differ_by(a, b, to.constant - from.constant, symbols)) return false;
        turns.equal(from, to, places(a, symbols));
    }
    if (!turns.solve()) return false;
    for (std::size_t root = 0; root < symbols.roots.size(); ++root) {
        if (is_turns(symbols, root)) continue;
        const Window its = window(general, root, symbols), other = window(special, root, symbols);
        if (!includes(turns.of({its.value, its.growth}), its.room, {other.value, other.growth}, other.room))
            return false;
    }
    return true;
}

std::set<int> idle_draws(const std::vector<Register>& registers, const Symbols& symbols) {
    std::set<int> held, out;
    for (const Register& one : registers) {
        for (const auto& [variable, slope] : one.form.form) held.insert(root_of(variable));
        if (one.form.cyclic) held.insert(one.form.cyclic->root);
    }
    for (const int root : symbols.drawn)
        if (std::ranges::none_of(symbols.made_of(root), [&](int made) { return held.contains(made); }))
            out.insert(root);
    return out;
}

std::set<int> turns_in_registers(const Cut& cut, const Symbols& symbols) {
    std::set<int> out;
    for (const Register& one : cut.registers)
        for (const auto& [variable, slope] : number(one, cut, symbols).turns) out.insert(variable);
    return out;
}

}  // namespace wgrun::check::abstract
