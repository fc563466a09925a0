// Comparisons that depend on numbers of a launch: how far those may go with each of them as it is.
#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>

#include "check/abstract/forms.hpp"
#include "isa/registers.hpp"
#include "isa/relations.hpp"

namespace wgrun::check::abstract {

/// Whether it is a sum with an unsigned number that may be negative as a signed one.
bool Forms::may_be_great(const Form& form) const {
    return std::ranges::any_of(form, [&](const auto& one) {
        return which_of(one.first) == Variable::excess &&
               symbols_.roots[static_cast<std::size_t>(root_of(one.first))].great;
    });
}
bool Forms::may_be_great(const std::vector<Sourced>& sources) const {
    return std::ranges::any_of(sources, [&](const Sourced& source) { return may_be_great(source.form); });
}

/// Whether the value is not below 0, so that it is one number as a signed and as an unsigned one, and limits
/// what it depends on to where it stays so.
bool Forms::stays_positive(const Form& form, Reg reg, Where where) {
    if (form.empty()) return true;
    if (may_be_great(form)) return false;
    Wide value = get(reg);
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (active(lane) && value[static_cast<std::size_t>(lane)] < 0) return false;
        value[static_cast<std::size_t>(lane)] = 2 * value[static_cast<std::size_t>(lane)] + 1;
    }
    Form twice = form;
    for (auto& [variable, slope] : twice) slope *= 2;
    limit(twice, value, where);
    return true;
}

/// Of a comparison of a place in the grid with a number of the launch: how that number stands for every
/// place.
///
/// strided: CTA `first` of a grid of `stride` compares its tile of some turn with a number of tiles, so that
/// for each grid there is one number of turns: what the values 0 and 1 have for first and stride shows.
/// shifted: first - number + a constant that is not below 0. It comes out as for CTA 0 and a number that is
/// less by first.
Forms::OfPlace Forms::of_place(const Form& form, const Wide& difference) const {
    std::int64_t first = 0, stride = 0, number = 0, of = 0;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(variable))];
        switch (root.kind) {
            case Root::Kind::first: first += slope; break;
            case Root::Kind::stride: stride += slope; break;
            case Root::Kind::number:
                if (number != 0) return OfPlace::lost;
                number = slope;
                of = root.value;
        }
    }
    if ((first != 1 && first != -1) || number != -first) return OfPlace::lost;
    // After more turns the constant is to be no less.
    const bool falls = std::ranges::any_of(form, [&](const auto& one) {
        return which_of(one.first) != Variable::excess && one.second * first < 0;
    });
    bool strided = true, shifted = stride == 0 && !falls;
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!active(lane)) continue;
        const std::int64_t constant = difference[static_cast<std::size_t>(lane)] - number * of;
        strided &= constant == stride;
        shifted &= constant * first >= 0;
    }
    return strided ? OfPlace::strided : shifted ? OfPlace::shifted : OfPlace::lost;
}

Forms::Wide Forms::value_of(const Operand& operand, isa::Type type) {
    Wide out;
    out.fill(operand.imm);
    if (operand.kind == Operand::Kind::param) out.fill(static_cast<std::int64_t>(param(operand.index)));
    if (operand.reg) out = get(operand.reg);
    if (!isa::is_signed(type) && isa::bits(type) <= 32)
        for (std::int64_t& lane : out) lane = static_cast<std::uint32_t>(lane);
    return out;
}

void Forms::compare(const Step& step, const std::vector<Sourced>& sources) {
    const isa::Type type = step.form.type();
    // Of two results, and where a third source is combined with the first one, the numbers themselves decide.
    const bool plain = loops_ != nullptr && std::ranges::count_if(step.operands, [](const Operand& operand) {
                                                return operand.kind != Operand::Kind::none;
                                            }) == 3;
    std::array<Side, 2> sides;
    for (std::size_t i = 0; i < sides.size(); ++i)
        sides.at(i) = plain ? side(step, sources[i])
                            : Side{sources[i].form, value_of(*sources[i].operand, type), false};
    Form form = sides[0].form;
    add(form, sides[1].form, -1);
    Wide difference;
    for (std::size_t lane = 0; lane < difference.size(); ++lane)
        difference[lane] = sides[0].number[lane] - sides[1].number[lane];
    std::set<int> roots;
    bool grid = false, joined = sides[0].joined || sides[1].joined;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(variable))];
        roots.insert(root_of(variable));
        grid |= root.kind != Root::Kind::number;
    }
    const bool great = isa::is_signed(type) && may_be_great(sources);
    if (plain && (roots.size() > 1 || great) && !grid &&
        (cannot_hold(step, sources) || is_either(step, form, difference, great)))
        return;
    // An unsigned number that is below 0 for some sizes is a great one there.
    bool wraps = great;
    for (std::size_t i = 0; i < 2 && !isa::is_signed(type); ++i)
        wraps |= sources[i].operand->reg && !sides.at(i).joined &&
                 !stays_positive(sources[i].form, sources[i].operand->reg, step.where);
    if (wraps) {
        lose(sources[0].form, step.where, "an unsigned number");
        lose(sources[1].form, step.where, "an unsigned number");
        step.op->run(step, machine_);
        return give(step, {});
    }
    // Whether 0 counts as the numbers above it do, or as those below.
    const unsigned relations = isa::relations_of(step.form);
    const auto holds = [&](isa::Relation relation) { return (relations & relation) != 0; };
    const bool zero_is_above = holds(isa::equal) == holds(isa::greater);
    const bool zero_is_below = holds(isa::equal) == holds(isa::less);
    if (plain && roots.size() > 1 && !grid) {
        joined = joins(form, difference);
        roots.clear();
    }
    // A CTA whose place is beyond the number has no turn. Where 0 counts as above, no number less than 0
    // differs from it; else -1 stands for them, which no unsigned number is.
    const bool below_zero = !zero_is_above;
    const OfPlace place =
        grid && (!below_zero || isa::is_signed(type)) ? of_place(form, difference) : OfPlace::lost;
    if (place != OfPlace::lost) {
        const bool of_stride = std::ranges::any_of(form, [&](const auto& one) {
            return symbols_.roots[static_cast<std::size_t>(root_of(one.first))].kind == Root::Kind::stride;
        });
        std::erase_if(form, [&](const auto& one) {
            return symbols_.roots[static_cast<std::size_t>(root_of(one.first))].kind != Root::Kind::number;
        });
        const int turns = root_of(std::ranges::find(form, Variable::excess, [](const auto& one) {
                                      return which_of(one.first);
                                  })->first);
        of_places_[turns].add(place, of_stride, zero_is_above ? 1 : zero_is_below ? -1 : 0);
        Root& root = symbols_.roots[static_cast<std::size_t>(turns)];
        const std::int64_t least = below_zero ? -1 : 0;
        if (root.least > least) {
            root.least = least;
            restart_ = true;
        }
    } else if (roots.size() > 1 || grid) {
        if (roots.size() > 1 && becomes_root(step, sources)) return;
        Form excess;
        for (const int root : roots) excess[variable(root, Variable::excess)] = 1;
        lose(excess, step.where, "");
    } else {
        for (const int root : roots) plain_.insert(root);
    }
    Wide of_sum{};
    for (std::size_t lane = 0; lane < of_sum.size(); ++lane)
        of_sum[lane] = holds(isa::relation(difference[lane], std::int64_t{0})) ? 1 : 0;
    // Twice the difference, with which no comparison but that for equality is between two numbers.
    for (std::int64_t& lane : difference) lane = 2 * lane + (zero_is_above ? 1 : 0) - (zero_is_below ? 1 : 0);
    for (auto& [variable, slope] : form) slope *= 2;
    const auto rooms = room_;
    order(form, difference, step.where);
    for (const auto& [variable, slope] : form)
        if (const int root = root_of(variable); loops_ != nullptr && which_of(variable) == Variable::excess)
            if (const auto before = rooms.find(root); before == rooms.end() || before->second > room(root))
                settle(root);
    step.op->run(step, machine_);
    if (joined)
        isa::for_each_written(step, [&](Reg result) {
            Wide lanes = get(result);
            for (int lane = 0; lane < isa::lanes; ++lane)
                if (active(lane))
                    lanes[static_cast<std::size_t>(lane)] = of_sum[static_cast<std::size_t>(lane)];
            set(result, lanes);
        });
    give(step, {});
}

/// Of the smaller or the greater one of two numbers: which one it is stays.
std::optional<Form> Forms::of_extremum(const Step& step, const std::vector<Sourced>& sources,
                                       isa::Shape shape) {
    const isa::Type type = step.form.type();
    Form form = sources[0].form;
    add(form, sources[1].form, -1);
    std::set<int> roots;
    for (const auto& [variable, slope] : form)
        if (which_of(variable) == Variable::excess) roots.insert(root_of(variable));
    const bool of_places = std::ranges::any_of(roots, [&](int root) {
        return symbols_.roots[static_cast<std::size_t>(root)].kind != Root::Kind::number;
    });
    const bool great = isa::is_signed(type) && may_be_great(sources);
    if (roots.size() > 1 || of_places || great) return std::nullopt;
    if (!isa::is_signed(type))
        for (const Sourced& source : sources)
            if (source.operand->reg && !stays_positive(source.form, source.operand->reg, step.where))
                return std::nullopt;
    const Wide a = value_of(*sources[0].operand, type), b = value_of(*sources[1].operand, type);
    // Equal numbers count as though the first one were the result.
    const int sign = shape == isa::Shape::smaller ? -1 : 1;
    std::optional<bool> first;
    Wide twice;
    for (std::size_t lane = 0; lane < twice.size(); ++lane) {
        twice[lane] = 2 * (a[lane] - b[lane]) + sign;
        const bool its = twice[lane] * sign > 0;
        if (!active(static_cast<int>(lane))) continue;
        if (first && *first != its) return std::nullopt;
        first = its;
    }
    for (auto& [variable, slope] : form) slope *= 2;
    order(form, twice, step.where);
    return sources[*first ? 0 : 1].form;
}

/// The comparison comes out alike as long as the sign of the difference stays.
void Forms::order(const Form& form, const Wide& difference, Where where) {
    if (form.empty()) return;
    events_.push_back({form, difference[static_cast<std::size_t>(std::countr_zero(execution_.active))] > 0});
    limit(form, difference, where);
}

/// The sign of the difference is to stay.
void Forms::limit(const Form& form, const Wide& difference, Where where) {
    std::set<int> roots;
    for (const auto& [variable, slope] : form) roots.insert(root_of(variable));
    const auto slope = [&](int root, Variable which) {
        const auto at = form.find(variable(root, which));
        return at == form.end() ? 0 : at->second;
    };
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!active(lane)) continue;
        const std::int64_t here = difference[static_cast<std::size_t>(lane)];
        const auto turns = [&](std::int64_t by) {
            return here == 0 ? by != 0 : (here > 0) != (by > 0) && by != 0;
        };
        for (const int root : roots) {
            if (const std::int64_t by = slope(root, Variable::excess); turns(by)) {
                const std::int64_t size = here < 0 ? -here : here, rate = by < 0 ? -by : by;
                const std::int64_t room = here == 0 ? 0 : (size - 1) / rate;
                auto [at, added] = room_.try_emplace(root, room);
                at->second = std::min(at->second, room);
            }
            if (symbols_.roots[static_cast<std::size_t>(root)].step == 0) continue;
            const std::int64_t none = slope(root, Variable::repeats),
                               some = none + slope(root, Variable::repeated);
            if (turns(none) || turns(some))
                stop(root, where, "the comparison comes out otherwise after more turns of a loop");
        }
    }
}

}  // namespace wgrun::check::abstract
