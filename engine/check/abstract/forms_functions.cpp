// Functions of a number of the launch that recur with a period: the quotient of a division by a constant,
// what that leaves, a mask. In an exploration such a function is a number by itself, which may be anything,
// until a comparison decides the number that it is one of: then the stage of a ring that comes so many turns
// later is known, whatever came before.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "check/abstract/forms.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::abstract {

namespace {

constexpr std::int64_t most_values = 1024;  ///< of a period

/// The least number from 1 on of which something holds that holds of all greater ones; 0: none.
std::int64_t least_of(auto holds) {
    std::int64_t low = 1, high = most_values;
    if (!holds(high)) return 0;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (holds(middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/// The share of x that the high half of x * factor is, rounded down, for all x up to `most`; nothing where
/// there is none of few values.
std::optional<Ratio> share(std::uint32_t factor, int bits, std::int64_t most) {
    constexpr std::uint64_t most_under = 64;
    if (bits != 32) return std::nullopt;
    for (std::uint64_t under = 1; under <= most_under; ++under) {
        const std::uint64_t product = factor * under;
        // What is more than a multiple of 1 / under stays below another one.
        if (static_cast<std::uint32_t>(product) * static_cast<std::uint64_t>(most) >> bits == 0)
            return Ratio{static_cast<std::int64_t>(product >> bits), static_cast<std::int64_t>(under)};
    }
    return std::nullopt;
}

}  // namespace

/// Of the high half of a product with a constant, where it is a share of all numbers: multiples of what it is
/// a share of are added to the number.
std::optional<Form> Forms::of_share(const Step& step, const std::vector<Sourced>& sources, const Form& form) {
    const isa::Type type = step.form.type();
    if (sources.size() != 2 || !sources[1].form.empty() || !sources[0].operand->reg ||
        !stays_positive(sources[0].form, sources[0].operand->reg, step.where))
        return std::nullopt;
    const Wide factor = value_of(*sources[1].operand, type);
    const auto first = static_cast<std::size_t>(std::countr_zero(execution_.active));
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && factor[static_cast<std::size_t>(lane)] != factor[first]) return std::nullopt;
    const std::optional<Ratio> its =
        share(static_cast<std::uint32_t>(factor[first]), isa::bits(type), UINT32_MAX);
    if (!its) return std::nullopt;
    Form out;
    for (const auto& [variable, slope] : form) {
        if (slope % its->under != 0) return std::nullopt;
        out[variable] = slope / its->under * its->over;
    }
    return out;
}

/// No more than numbers of a launch are.
std::int64_t Forms::greatest_of(int root) const {
    constexpr std::int64_t most_number = std::int64_t{1} << 30;
    const Root& its = symbols_.roots[static_cast<std::size_t>(root)];
    if (!its.function) return std::min(its.most, most_number);
    const auto& [of, from, values, more] = *its.function;
    const auto periods = greatest_of(of) / static_cast<std::int64_t>(values.size()) + 1;
    return std::min(most_number, std::ranges::max(values) + periods * more);
}

/// The function of one root that a step computes, if it recurs.
std::optional<Recurring> Forms::recurring(const Step& step, const std::vector<Sourced>& sources,
                                          const std::vector<Source>& of) {
    if (loops_ == nullptr || step.op->shape == nullptr) return std::nullopt;
    std::optional<std::size_t> varying;
    for (std::size_t i = 0; i < of.size(); ++i)
        if (!of[i].roots.empty()) {
            if (varying || of[i].roots.size() > 1) return std::nullopt;
            varying = i;
        }
    if (!varying) return std::nullopt;
    const auto [index, slope] = *of[*varying].roots.begin();
    const Root& root = symbols_.roots[static_cast<std::size_t>(index)];
    if (root.kind != Root::Kind::number || root.great || slope <= 0 ||
        of[*varying].constant + slope * root.least < 0)
        return std::nullopt;
    Recurring out{index, root.least, {}, 0};
    std::int64_t values = 0;
    if (root.most - root.least < most_values) {
        values = root.most - root.least + 1;
    } else {
        if (*varying != 0 || !sources[0].operand->reg) return std::nullopt;
        const std::optional<Ratio> rise =
            rise_of(step, sources, of, slope * greatest_of(index) + of[0].constant);
        if (!rise) return std::nullopt;
        values = rise->under / std::gcd(slope, rise->under);
        out.more = rise->over * (slope * values / rise->under);
    }
    const auto lane = static_cast<std::size_t>(std::countr_zero(execution_.active));
    for (std::int64_t n = 0; n < values; ++n)
        out.values.push_back(
            outcome(step, sources, {{variable(index, Variable::excess), root.least + n - root.value}})[lane]);
    return out;
}

/// After how many of its first source, which is not below 0 and not above `most`, a step's result is greater
/// by how much; nothing where that is not so.
std::optional<Ratio> Forms::rise_of(const Step& step, const std::vector<Sourced>& sources,
                                    const std::vector<Source>& of, std::int64_t most) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(execution_.active));
    const Wide value = get(sources[0].operand->reg);
    const auto result = [&](std::int64_t x) { return of_first(step, sources, x)[lane]; };
    std::optional<Ratio> out;
    switch (step.op->shape(step.form)) {
        case isa::Shape::quotient:
            // It is to be rounded down.
            if (const std::int64_t by = least_of([&](std::int64_t x) { return result(x) > 0; });
                by != 0 && result(2 * by - 1) == 1 && result(2 * by) == 2 && result(3 * by - 1) == 2)
                out = {1, by};
            break;
        case isa::Shape::remainder:
            if (const std::int64_t by = least_of([&](std::int64_t x) { return result(x) < x; });
                by != 0 && result(by) == 0)
                out = {0, by};
            break;
        case isa::Shape::bits:
            if (const std::int64_t mask = result(-1);
                result(0) == 0 && mask > 0 && mask < most_values && (mask & (mask + 1)) == 0)
                out = {0, mask + 1};
            break;
        case isa::Shape::share:
            out = share(static_cast<std::uint32_t>(of[1].constant), isa::bits(step.form.type()), most);
            break;
        default: break;
    }
    set(sources[0].operand->reg, value);
    return out;
}

/// A comparison has left fewer values of a root: what follows of that is put into registers.
void Forms::settle(int root) {
    for (std::size_t warp = 0; warp < slots_.size(); ++warp)
        for (std::size_t index = 0; index < slots_[warp].size(); ++index)
            if (const Slot& slot = slots_[warp][index]; slot.cyclic || !slot.form.empty())
                settle(root, static_cast<int>(warp), index);
}

/// A register that does not grow with the root, such as the stage of a ring, has one value if functions of
/// it have. One that grows, such as a number of turns, stays a number of the launch: the root may be
/// forgotten, and then it still goes with what is computed of it.
void Forms::settle(int root, int warp, std::size_t index) {
    Slot& slot = slots_[static_cast<std::size_t>(warp)][index];
    std::optional<Cyclic> its = slot.cyclic;
    std::int64_t more = 0;
    if (!its && (its = cyclic(slot, 0)))
        for (const auto& [variable, slope] : slot.form)
            if (which_of(variable) == Variable::excess)
                more -= slope * symbols_.roots[static_cast<std::size_t>(root_of(variable))].value;
    if (!its || its->root != root) return;
    const std::optional<std::int64_t> value = decided(*its);
    if (!value) return;
    values_.increase(warp, index, slot.lanes, more + *value);
    slot = {};
}

}  // namespace wgrun::check::abstract
