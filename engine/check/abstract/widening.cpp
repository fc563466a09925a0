// How a cut is widened so that it covers another one, too.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "check/abstract/affine.hpp"
#include "check/abstract/cut.hpp"

namespace wgrun::check::abstract {
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

}  // namespace wgrun::check::abstract
