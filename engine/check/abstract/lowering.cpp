// How a cut stands for fewer turns of loops, too.
#include <algorithm>
#include <map>
#include <utility>

#include "check/abstract/affine.hpp"
#include "check/abstract/cut.hpp"

namespace wgrun::check::abstract {

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

}  // namespace wgrun::check::abstract
