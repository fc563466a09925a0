#include "check/abstract/cut.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace wgrun::check::abstract {
namespace {

/// A sum of variables for turns of loops and a constant.
struct Affine {
    std::int64_t constant = 0;
    Form turns{};

    bool operator==(const Affine&) const = default;
    Affine& add(const Affine& other, std::int64_t times) {
        constant += other.constant * times;
        abstract::add(turns, other.turns, times);
        return *this;
    }
    bool never_negative() const {
        return constant >= 0 && std::ranges::all_of(turns, [](const auto& one) { return one.second >= 0; });
    }
};

const Root& root_at(const Symbols& symbols, int variable) {
    return symbols.roots[static_cast<std::size_t>(root_of(variable))];
}

Window window(const Cut& of, std::size_t root, const Symbols& symbols) {
    return root < of.windows.size() ? of.windows[root] : symbols.window(static_cast<int>(root));
}

/// The value of the first lane, less what it depends on by numbers of the launch. A place in the grid is what
/// the machine takes it for.
Affine number(const Register& of, const Cut& cut, const Symbols& symbols) {
    if (of.form.cyclic) return {of.form.cyclic->further, of.form.cyclic->turns};
    Affine out{of.lanes[static_cast<std::size_t>(std::countr_zero(of.known))]};
    for (const auto& [variable, slope] : of.form.form) {
        if (which_of(variable) != Variable::excess) {
            out.turns[variable] += slope;
        } else if (root_at(symbols, variable).kind == Root::Kind::number) {
            const Window its = window(cut, static_cast<std::size_t>(root_of(variable)), symbols);
            out.add({its.value, its.growth}, -slope);
        }
    }
    std::erase_if(out.turns, [](const auto& one) { return one.second == 0; });
    return out;
}

/// Whether some lanes alone have the register's form.
bool partly(const Register& one) { return one.form.lanes != 0 && one.form.lanes != one.known; }

/// The number of places of the cycle that the register's number is one of; 0: it is none.
std::int64_t places(const Register& one, const Symbols& symbols) {
    return one.form.cyclic ? static_cast<std::int64_t>(symbols.cycles[one.form.cyclic->cycle].size()) : 0;
}

/// Whether two registers are the same but for a number that is `more` in all lanes.
bool differ_by(const Register& a, const Register& b, std::int64_t more, const Symbols& symbols) {
    if (a.warp != b.warp || a.slot != b.slot || a.known != b.known) return false;
    if (a.form.cyclic || b.form.cyclic) {
        if (!a.form.cyclic || !b.form.cyclic || a.form.cyclic->root != b.form.cyclic->root ||
            a.form.cyclic->cycle != b.form.cyclic->cycle || a.form.lanes != b.form.lanes)
            return false;
        for (isa::Mask left = a.known; left != 0; left &= left - 1)
            if (const auto lane = static_cast<std::size_t>(std::countr_zero(left));
                a.lanes[lane] != b.lanes[lane])
                return false;
        return true;
    }
    const auto first = static_cast<std::size_t>(std::countr_zero(a.known));
    for (isa::Mask left = a.known; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        if (b.lanes[lane] - a.lanes[lane] != b.lanes[first] - a.lanes[first]) return false;
    }
    const auto slope = [](const Form& form, int variable) {
        const auto at = form.find(variable);
        return at == form.end() ? 0 : at->second;
    };
    Form all = a.form.form;
    all.insert(b.form.form.begin(), b.form.form.end());
    for (const auto& [variable, unused] : all) {
        if (which_of(variable) != Variable::excess) continue;
        // A stride of the grid, which is taken to be 1, is added as often as the number is greater.
        const bool strides = root_at(symbols, variable).kind == Root::Kind::stride;
        if (slope(b.form.form, variable) - slope(a.form.form, variable) != (strides ? more : 0)) return false;
    }
    return (!partly(a) && !partly(b)) || (a.form == b.form && a.lanes == b.lanes && more == 0);
}

bool is_turns(const Symbols& symbols, std::size_t root) {
    return std::ranges::find(symbols.turns, static_cast<int>(root)) != symbols.turns.end();
}

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

namespace {

/// A number that differs between two cuts: that of the cut before, and of the one now.
struct Growing {
    Affine before, now;
    int root = -1;           ///< that it belongs to
    std::int64_t times = 1;  ///< by so much it grows where the root is 1 more

    std::int64_t more() const { return now.constant - before.constant; }
    /// 1 where it grows by the turns of loops, -1 where it falls; 0: it depends on none, or on several in
    /// both ways.
    int direction() const {
        int out = 0;
        for (const Form* turns : {&before.turns, &now.turns})
            for (const auto& [variable, slope] : *turns) {
                const int its = slope > 0 ? 1 : -1;
                if (out != 0 && its != out) return 0;
                out = its;
            }
        return out;
    }
    bool has_turns() const { return !before.turns.empty() || !now.turns.empty(); }
    /// The greatest step in which it can have grown.
    std::int64_t step() const {
        std::int64_t out = more() < 0 ? -more() : more();
        for (const Form* turns : {&before.turns, &now.turns})
            for (const auto& [variable, slope] : *turns) out = std::gcd(out, slope);
        return out;
    }
    /// Numbers that belong to one root and differ alike are taken to grow together.
    using Kind = std::tuple<int, Form, Form, std::int64_t>;
    Kind kind(bool in_proportion) const {
        const bool falls = has_turns() ? direction() < 0 : more() < 0;
        const std::int64_t unit = in_proportion         ? std::max<std::int64_t>(step(), 1)
                                  : step() % times == 0 ? times
                                                        : 1;
        const auto turned = [&](Form form) {
            for (auto& [variable, slope] : form) slope = (falls ? -slope : slope) / unit;
            return form;
        };
        return {root, turned(before.turns), turned(now.turns), (falls ? -more() : more()) / unit};
    }
};

}  // namespace

std::optional<Widening> widening(const Cut& before, const Cut& now, Symbols& symbols,
                                 const Relations& relations, bool in_proportion) {
    if (before.hash != now.hash || before.code.numbers != now.code.numbers ||
        before.registers.size() != now.registers.size())
        return std::nullopt;
    Widening out;
    struct Group {
        bool backwards = false;  ///< the cut before has the greater numbers
        bool of_root = false;
        int variable = 0;
    };
    std::map<Growing::Kind, Group> groups;
    std::set<int> used;
    const auto use = [&](const Form& form) {
        for (const auto& [variable, slope] : form)
            if (which_of(variable) != Variable::excess) used.insert(variable);
    };
    for (const Register& one : now.registers) use(one.form.form);
    for (const Window& one : now.windows) use(one.growth);
    std::vector<Growing> registers, roots;
    for (std::size_t i = 0; i < now.registers.size(); ++i) {
        const Register& one = now.registers[i];
        auto [root, times] = relations.counts(one.warp, one.slot);
        for (const auto& [variable, slope] : one.form.form)
            if (which_of(variable) == Variable::excess &&
                root_at(symbols, variable).kind == Root::Kind::number)
                root = root_of(variable), times = 1;
        if (one.form.cyclic) root = one.form.cyclic->root, times = 1;
        registers.push_back(
            {number(before.registers[i], before, symbols), number(one, now, symbols), root, times});
        if (const std::int64_t cycle = places(one, symbols); cycle != 0) {
            // Places go round: it has moved back by as much as the root's least value has moved on, if it
            // can.
            const auto its_root = static_cast<std::size_t>(root);
            Growing& place = registers.back();
            const std::int64_t back =
                window(before, its_root, symbols).value - window(now, its_root, symbols).value;
            if ((place.more() - back) % cycle == 0) place.now.constant = place.before.constant + back;
        }
        const Growing& its = registers.back();
        if (!differ_by(before.registers[i], now.registers[i], its.more(), symbols)) return std::nullopt;
        if (its.before == its.now) continue;
        if (!relations.may_count(one.slot)) return std::nullopt;
        if (its.has_turns() && its.direction() == 0) return std::nullopt;
        groups.try_emplace(its.kind(in_proportion));
    }
    // Counters that belong to no number of the launch go with one that does, as addresses of stages do with
    // the number of the turn.
    const auto kind_of = [&](const Growing& its) {
        Growing::Kind kind = its.kind(in_proportion);
        if (!in_proportion || std::get<int>(kind) >= 0) return kind;
        for (const auto& [other, unused] : groups) {
            kind = other;
            std::get<int>(kind) = -1;
            if (std::get<int>(other) >= 0 && kind == its.kind(in_proportion)) return other;
        }
        return its.kind(in_proportion);
    };
    std::erase_if(groups, [&](const auto& one) {
        return std::ranges::none_of(registers, [&](const Growing& its) {
            return its.before != its.now && kind_of(its) == one.first;
        });
    });
    for (std::size_t root = 0; root < symbols.roots.size(); ++root) {
        const Window a = window(before, root, symbols), b = window(now, root, symbols);
        roots.push_back({{a.value, a.growth}, {b.value, b.growth}, static_cast<int>(root)});
        const Growing& its = roots.back();
        if (a == b || is_turns(symbols, root)) continue;
        const auto group = groups.find(its.kind(in_proportion));
        if (its.before == its.now || a.room != b.room || its.direction() < 0 || group == groups.end() ||
            !relations.keeps(static_cast<int>(root))) {
            out.freed.push_back(static_cast<int>(root));
            continue;
        }
        // The proof follows the least values of such a number one by one: no widening joins them.
        if (const auto from = relations.told_apart.find(static_cast<int>(root));
            from != relations.told_apart.end() && std::max(a.value, b.value) < from->second)
            return std::nullopt;
        group->second.backwards |= its.more() < 0;
        group->second.of_root = true;
        out.roots.push_back({root, 0, {}, 0});
    }
    if (groups.empty() && out.freed.empty()) return std::nullopt;
    // Counters that belong to no number of the launch go as those do that belong to one.
    const auto goes = [&](bool backwards) {
        return std::ranges::any_of(
            groups, [&](const auto& one) { return one.second.of_root && one.second.backwards == backwards; });
    };
    const bool all_backwards = goes(true) && !goes(false);
    std::size_t next = 0;
    for (auto& [kind, group] : groups) {
        // A counter that goes up to such a number is widened together with it, and not alone.
        if (!group.of_root && relations.told_apart.contains(std::get<0>(kind))) return std::nullopt;
        if (!group.of_root) group.backwards = all_backwards;
        while (used.contains(variable(symbols.turn(next), Variable::repeated))) ++next;
        group.variable = variable(symbols.turn(next++), Variable::repeated);
    }
    if (in_proportion) out.mix(1);
    const auto falls_in = [](const Group& group, const Growing& its) {
        return its.has_turns() ? its.direction() < 0 : (its.more() < 0) != group.backwards;
    };
    const auto change = [&](std::size_t index, const Growing& its) {
        const Group& group = groups.at(kind_of(its));
        const bool falls = falls_in(group, its);
        const std::int64_t step = falls ? -its.step() : its.step();
        // The least of both, or the greatest where it falls.
        const bool from_before = falls ? its.more() < 0 : its.more() > 0;
        Form turns{{group.variable, step}};
        add(turns, its.now.turns, -1);
        out.mix(index);
        out.mix(static_cast<std::uint64_t>(step));
        return Widening::Change{index, from_before ? its.more() : 0, std::move(turns), group.variable};
    };
    for (std::size_t i = 0; i < registers.size(); ++i) {
        const Growing& its = registers[i];
        if (its.before == its.now) continue;
        // A counter does not fall where the number that it counts to grows.
        const Forms::Slot& slot = now.registers[i].form;
        const Group& group = groups.at(kind_of(its));
        if (group.of_root && falls_in(group, its) && slot.form.empty() && !slot.cyclic) return std::nullopt;
        out.registers.push_back(change(i, its));
    }
    for (Widening::Change& root : out.roots) root = change(root.index, roots[root.index]);
    for (const int root : out.freed) out.mix(static_cast<std::uint64_t>(root));
    return out;
}

Window told_apart(Window window, std::int64_t from, const Window& all) {
    if (std::ranges::any_of(window.growth, [](const auto& one) { return one.second < 0; })) return all;
    if (window.growth.empty() && window.value < from) return window;
    window.value = std::min(window.value, from);
    return {window.value, all.room == unlimited ? unlimited : all.value + all.room - window.value, {}};
}

std::vector<Widening> lowerings(const Cut& cut, const Symbols& symbols, const ToldApart& told_apart) {
    std::vector<Affine> registers, roots;
    for (const Register& one : cut.registers) registers.push_back(number(one, cut, symbols));
    for (std::size_t root = 0; root < symbols.roots.size(); ++root) {
        const Window its = window(cut, root, symbols);
        roots.push_back({its.value, its.growth});
    }
    std::map<int, Widening> out;
    std::map<int, std::int64_t> fewer;  // turns, by variable
    const auto look = [&](const Affine& its, std::int64_t least) {
        for (const auto& [variable, slope] : its.turns) {
            const std::int64_t turns = slope < 0 ? unlimited : (its.constant - least) / slope - 1;
            const auto at = fewer.try_emplace(variable, unlimited).first;
            at->second = std::max<std::int64_t>(0, std::min(at->second, turns));
        }
    };
    for (std::size_t i = 0; i < registers.size(); ++i) {
        look(registers[i], 0);
        if (!partly(cut.registers[i])) continue;
        for (const auto& [variable, slope] : registers[i].turns) fewer[variable] = 0;  // other lanes stay
    }
    for (std::size_t root = 0; root < roots.size(); ++root) {
        const auto from = told_apart.find(static_cast<int>(root));
        if (!is_turns(symbols, root))
            look(roots[root], from == told_apart.end() ? symbols.roots[root].least : from->second);
    }
    const auto change = [&](std::vector<Widening::Change> Widening::*list, std::size_t index,
                            const Affine& its) {
        for (const auto& [variable, slope] : its.turns) {
            const std::int64_t turns = fewer[variable];
            if (turns == 0 || turns == unlimited) continue;
            Widening& by = out[variable];
            (by.*list).push_back({index, turns * slope, {}, variable});
            by.mix(index);
            by.mix(static_cast<std::uint64_t>(slope));
        }
    };
    for (std::size_t i = 0; i < registers.size(); ++i) change(&Widening::registers, i, registers[i]);
    for (std::size_t root = 0; root < roots.size(); ++root)
        if (!is_turns(symbols, root)) change(&Widening::roots, root, roots[root]);
    std::vector<Widening> list;
    for (auto& [variable, by] : out)
        if (!by.registers.empty()) list.push_back(std::move(by));
    return list;
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
