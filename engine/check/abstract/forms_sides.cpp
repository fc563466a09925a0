// Comparisons of sums of several numbers of a launch, in an exploration: what decides is taken for one
// number.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "check/abstract/forms.hpp"
#include "isa/registers.hpp"
#include "isa/relations.hpp"

namespace wgrun::check::abstract {

/// An unsigned side that is a sum of several numbers of the launch, some of them subtracted, is one number.
Forms::Side Forms::side(const Step& step, const Sourced& source) {
    const isa::Type type = step.form.type();
    Side out{source.form, value_of(*source.operand, type), false};
    const auto roots = std::ranges::count_if(
        source.form, [](const auto& one) { return which_of(one.first) == Variable::excess; });
    if (isa::is_signed(type) || (roots < 2 && !may_be_great(source.form)) || !source.operand->reg) return out;
    const std::optional<Source> sum = this->source(*source.operand, source.form);
    if (!sum || std::ranges::any_of(sum->roots, [&](const auto& one) {
            return symbols_.roots[static_cast<std::size_t>(one.first)].kind != Root::Kind::number;
        }))
        return out;
    const int root = compared_root({"unsigned sum", {*sum}}, 0);
    Wide number;
    number.fill(symbols_.roots[static_cast<std::size_t>(root)].value);
    return {form_of_root(root), number, true};
}

/// The root of what a comparison is about.
int Forms::compared_root(Origin origin, std::int64_t least) {
    const auto [at, added] = symbols_.root(origin);
    if (added) {
        Root& root = symbols_.roots[static_cast<std::size_t>(at)];
        root.name = fmt::format("what line {} compares", execution_.op->where.line);
        root.where = execution_.op->where;
        root.least = root.value = least;
    }
    return meet(at);
}

/// What two sides of a comparison differ by, of several numbers of the launch, is one number, whatever these
/// are. Returns whether there are several of them and nothing of the grid.
bool Forms::joins(Form& form, Wide& difference) {
    Source sum;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        if (symbols_.roots[static_cast<std::size_t>(root_of(variable))].kind != Root::Kind::number)
            return false;
        sum.roots[root_of(variable)] = slope;
    }
    if (sum.roots.size() < 2) return false;
    std::int64_t unit = 0, value = 0;
    for (const auto& [root, slope] : sum.roots) {
        unit = std::gcd(unit, slope);
        value += slope * symbols_.roots[static_cast<std::size_t>(root)].value;
        add(form, form_of_root(root), -slope);
    }
    if (sum.roots.begin()->second < 0) unit = -unit;
    for (auto& [root, slope] : sum.roots) slope /= unit;
    const int root = compared_root({"sum", {sum}}, -(std::int64_t{1} << 40));
    add(form, form_of_root(root), unit);
    const std::int64_t more = unit * symbols_.roots[static_cast<std::size_t>(root)].value - value;
    for (std::int64_t& lane : difference) lane += more;
    return true;
}

/// The smaller of two signed sums is one of them less a number from 0 on, which is the same for all who
/// compare the same; the greater one is more by such a number.
bool Forms::becomes_distance(const Step& step, const std::vector<Sourced>& sources, isa::Shape shape) {
    const isa::Type type = step.form.type();
    if (loops_ == nullptr || !isa::is_signed(type)) return false;
    std::vector<Source> of;
    for (const Sourced& one : sources) {
        const std::optional<Source> sum = source(*one.operand, one.form);
        if (!sum || std::ranges::any_of(sum->roots, [&](const auto& its) {
                return symbols_.roots[static_cast<std::size_t>(its.first)].kind != Root::Kind::number;
            }))
            return false;
        of.push_back(*sum);
    }
    const std::size_t from = of[1].roots.size() < of[0].roots.size() ? 1 : 0;
    if (may_be_great(sources[from].form)) return false;
    const int root =
        compared_root({fmt::format("from source {}: {}", from, isa::method_of(*step.op, step.form)), of}, 0);
    const int sign = shape == isa::Shape::smaller ? -1 : 1;
    Wide number = value_of(*sources[from].operand, type);
    for (std::int64_t& lane : number) lane += sign * symbols_.roots[static_cast<std::size_t>(root)].value;
    isa::for_each_written(step, [&](Reg result) {
        Wide lanes = get(result);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            if (active(static_cast<int>(lane))) lanes[lane] = number[lane];
        set(result, lanes);
    });
    Form form = sources[from].form;
    add(form, form_of_root(root), sign);
    give(step, std::move(form));
    return true;
}

/// A counter and one number of the launch are held against a sum of others, as where a loop goes down to the
/// first block that needs no mask: whatever that sum is, it is not below the least that it may be.
std::optional<Forms::Above> Forms::above_least(const Step& step, const std::vector<Sourced>& sources) {
    const isa::Type type = step.form.type();
    const unsigned relations = isa::relations_of(step.form) & ~unsigned{isa::equal};
    if (relations != isa::greater && relations != isa::less) return std::nullopt;
    const Sourced& above = sources[relations == isa::greater ? 0 : 1];
    const Sourced& below = sources[relations == isa::greater ? 1 : 0];
    const auto is_number = [&](const auto& one) {
        return symbols_.roots[static_cast<std::size_t>(root_of(one.first))].kind == Root::Kind::number;
    };
    const auto roots = std::ranges::count_if(
        above.form, [](const auto& one) { return which_of(one.first) == Variable::excess; });
    const std::optional<Source> sum = source(*below.operand, below.form);
    if (!above.operand->reg || roots != 1 || !std::ranges::all_of(above.form, is_number) || !sum ||
        sum->roots.empty() || may_be_great(above.form) || may_be_great(below.form))
        return std::nullopt;
    std::int64_t least = sum->constant;
    for (const auto& [root, slope] : sum->roots) {
        const Root& its = symbols_.roots[static_cast<std::size_t>(root)];
        if (slope < 0 || its.kind != Root::Kind::number ||
            above.form.contains(variable(root, Variable::excess)))
            return std::nullopt;
        least += slope * its.least;
    }
    if (!isa::is_signed(type) && least < 0) return std::nullopt;
    Above out{above.operand->reg, above.form, value_of(*above.operand, type),
              (isa::relations_of(step.form) & isa::equal) != 0};
    for (std::int64_t& lane : out.difference) lane -= least;
    return out;
}

/// Whether the comparison does not hold since the counter is not above the least number that it may be held
/// against. Where it is, the comparison comes out either way.
bool Forms::cannot_hold(const Step& step, const std::vector<Sourced>& sources) {
    std::optional<Above> above = above_least(step, sources);
    if (!above ||
        (!isa::is_signed(step.form.type()) && !stays_positive(above->form, above->counter, step.where)))
        return false;
    for (auto& [variable, slope] : above->form) slope *= 2;
    for (std::int64_t& lane : above->difference) lane = 2 * lane + (above->holds_where_equal ? 1 : -1);
    for (const auto& [variable, slope] : above->form)
        if (which_of(variable) == Variable::excess) plain_.insert(root_of(variable));
    order(above->form, above->difference, step.where);
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && above->difference[static_cast<std::size_t>(lane)] > 0) return false;
    isa::for_each_written(step, [&](Reg result) {
        Wide lanes = get(result);
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane)) lanes[static_cast<std::size_t>(lane)] = 0;
        set(result, lanes);
    });
    give(step, {});
    return true;
}

/// Where several numbers of the launch decide in a loop, it may come out either way in each turn; for all who
/// compare the same, in the same one. Returns whether that is so.
bool Forms::is_either(const Step& step, const Form& form, const Wide& difference, bool anywhere) {
    Source sum;
    std::array<Source, 3> turns;  // by the kind of a variable
    Form rest = form;
    const auto first = difference[static_cast<std::size_t>(std::countr_zero(execution_.active))];
    sum.constant = first;
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        sum.roots[root_of(variable)] = slope;
        sum.constant -= slope * symbols_.roots[static_cast<std::size_t>(root_of(variable))].value;
        add(rest, form_of_root(root_of(variable)), -slope);
    }
    for (const auto& [variable, slope] : rest)
        turns[static_cast<std::size_t>(which_of(variable))].roots[root_of(variable)] = slope;
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && difference[static_cast<std::size_t>(lane)] != first) return false;
    if (!anywhere && rest.empty() && (loops_ == nullptr || loops_->innermost(execution_.warp->pc) == nullptr))
        return false;
    const int root =
        compared_root({isa::method_of(*step.op, step.form), {sum, turns[0], turns[1], turns[2]}}, 0);
    symbols_.roots[static_cast<std::size_t>(root)].most = 1;
    room_[root] = 0;
    become(step, root);
    give(step, {});
    return true;
}

}  // namespace wgrun::check::abstract
