// Comparisons of sums of several numbers of a launch, in an exploration: what decides is taken for one
// number.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "check/abstract/forms.hpp"

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
