// Registers that have one of few values, by a root: the stage of a ring after so many turns, and its phase.
// Which value it is follows once a comparison decides the root. Until then the register has a place in a
// cycle of values, which a loop that counts to the root moves on as it moves the root's least value.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "check/abstract/forms.hpp"

namespace wgrun::check::abstract {

namespace {

constexpr std::int64_t most_places = 4096;

/// Where the same values in turn begin, whichever of them a cycle is given from.
std::size_t first_place(const std::vector<std::int64_t>& cycle) {
    std::size_t best = 0;
    const auto less = [&](std::size_t a, std::size_t b) {
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const std::int64_t x = cycle[(a + i) % cycle.size()], y = cycle[(b + i) % cycle.size()];
            if (x != y) return x < y;
        }
        return false;
    };
    for (std::size_t i = 1; i < cycle.size(); ++i)
        if (cycle[i] != cycle[i - 1] && less(i, best)) best = i;
    return best;
}

}  // namespace

/// The value of a function where the root that it is one of in the end is `base`.
std::int64_t Forms::value_at(int root, std::int64_t base) const {
    const auto& function = symbols_.roots[static_cast<std::size_t>(root)].function;
    if (!function) return base;
    const std::int64_t n = value_at(function->of, base) - function->from;
    const auto period = static_cast<std::int64_t>(function->values.size());
    return function->values[static_cast<std::size_t>(n % period)] + n / period * function->more;
}

/// After how many values of that root the function is greater by how much.
Ratio Forms::rate(int root) const {
    const auto& function = symbols_.roots[static_cast<std::size_t>(root)].function;
    if (!function) return {1, 1};
    const auto period = static_cast<std::int64_t>(function->values.size());
    const Ratio of = rate(function->of);
    const std::int64_t times = period / std::gcd(period, of.over);
    return {of.over * times / period * function->more, of.under * times};
}

/// What a register of that form has, and that number besides.
std::optional<Cyclic> Forms::cyclic(const Slot& slot, std::int64_t besides) {
    std::optional<int> base;
    Form rest = slot.form;
    std::int64_t places = 1;
    for (const auto& [variable, slope] : slot.form) {
        if (which_of(variable) != Variable::excess) continue;
        int root = root_of(variable);
        if (!symbols_.roots[static_cast<std::size_t>(root)].function) return std::nullopt;
        const Ratio its = rate(root);
        if (its.under > most_places) return std::nullopt;
        places = std::lcm(places, its.under);
        add(rest, form_of_root(root), -slope);
        while (const auto& function = symbols_.roots[static_cast<std::size_t>(root)].function) {
            // The root may be less now than where the function was found.
            if (symbols_.roots[static_cast<std::size_t>(function->of)].least < function->from)
                return std::nullopt;
            root = function->of;
        }
        if (base.value_or(root) != root || places > most_places) return std::nullopt;
        base = root;
    }
    if (!base || !rest.empty()) return std::nullopt;
    std::int64_t grows = 0;
    for (const auto& [variable, slope] : slot.form)
        if (which_of(variable) == Variable::excess)
            if (const Ratio its = rate(root_of(variable)); true)
                grows += slope * its.over * (places / its.under);
    if (grows != 0) return std::nullopt;
    const std::int64_t least = symbols_.roots[static_cast<std::size_t>(*base)].least;
    std::vector<std::int64_t> cycle;
    for (std::int64_t n = 0; n < places; ++n) {
        std::int64_t& value = cycle.emplace_back(besides);
        for (const auto& [variable, slope] : slot.form)
            if (which_of(variable) == Variable::excess)
                value += slope * value_at(root_of(variable), least + n);
    }
    const std::size_t first = first_place(cycle);
    std::ranges::rotate(cycle, cycle.begin() + static_cast<std::ptrdiff_t>(first));
    const auto at = std::ranges::find(symbols_.cycles, cycle);
    Cyclic out{*base, static_cast<std::size_t>(at - symbols_.cycles.begin()), 0, {}};
    if (at == symbols_.cycles.end()) symbols_.cycles.push_back(std::move(cycle));
    out.further = ((-least - static_cast<std::int64_t>(first)) % places + places) % places;
    return out;
}

void Forms::pack() {
    for (std::size_t warp = 0; warp < slots_.size(); ++warp)
        for (std::size_t index = 0; index < slots_[warp].size(); ++index) {
            Slot& slot = slots_[warp][index];
            const std::optional<std::int64_t> value =
                slot.form.empty() ? std::nullopt : values_.of_all(static_cast<int>(warp), index, slot.lanes);
            if (!value) continue;
            std::int64_t besides = *value;
            for (const auto& [variable, slope] : slot.form)
                if (which_of(variable) == Variable::excess)
                    besides -= slope * symbols_.roots[static_cast<std::size_t>(root_of(variable))].value;
            std::optional<Cyclic> its = cyclic(slot, besides);
            if (!its) continue;
            values_.increase(static_cast<int>(warp), index, slot.lanes, -*value);
            slot = {{}, slot.lanes, std::move(its)};
        }
}

/// The value of the cycle, if it is the same for all that the root may be.
std::optional<std::int64_t> Forms::decided(const Cyclic& cyclic) const {
    const std::vector<std::int64_t>& cycle = symbols_.cycles[cyclic.cycle];
    const auto places = static_cast<std::int64_t>(cycle.size());
    const Window root = window(cyclic.root);
    Form turns = cyclic.turns;
    add(turns, root.growth);
    if (root.room >= places ||
        std::ranges::any_of(turns, [&](const auto& one) { return one.second % places != 0; }))
        return std::nullopt;
    const auto at = [&](std::int64_t n) {
        return cycle[static_cast<std::size_t>(((cyclic.further + root.value + n) % places + places) %
                                              places)];
    };
    for (std::int64_t n = 1; n <= root.room; ++n)
        if (at(n) != at(0)) return std::nullopt;
    return at(0);
}

/// A step is about to use the register: what it has of a cycle is a number of the launch.
void Forms::unpack(int warp, std::size_t index, Where where) {
    Slot& slot = slots_[static_cast<std::size_t>(warp)][index];
    if (!slot.cyclic) return;
    const Cyclic its = *std::exchange(slot.cyclic, std::nullopt);
    const isa::Mask lanes = std::exchange(slot.lanes, 0);
    if (const std::optional<std::int64_t> value = decided(its)) {
        values_.increase(warp, index, lanes, *value);
        return;
    }
    for (const auto& [variable, slope] : its.turns)
        stop(root_of(variable), where, "a value that recurs depends on the turn of a loop");
    const std::vector<std::int64_t>& cycle = symbols_.cycles[its.cycle];
    const auto [at, added] =
        symbols_.root({fmt::format("cycle {}", its.cycle), {Source{{{its.root, 1}}, its.further}}});
    Root& root = symbols_.roots[static_cast<std::size_t>(at)];
    if (added) {
        const std::int64_t least = symbols_.roots[static_cast<std::size_t>(its.root)].least;
        const auto places = static_cast<std::int64_t>(cycle.size());
        std::vector<std::int64_t> values = cycle;
        std::ranges::rotate(values, values.begin() + ((its.further + least) % places + places) % places);
        const auto [smallest, greatest] = std::ranges::minmax(values);
        root.name = fmt::format("what line {} uses", where.line);
        root.where = where;
        root.least = root.value = smallest;
        root.most = greatest;
        root.function = Recurring{its.root, least, std::move(values), 0};
    }
    values_.increase(warp, index, lanes, root.value);
    slot = {form_of_root(meet(at)), lanes, {}};
}

}  // namespace wgrun::check::abstract
