// Numbers that a kernel draws as it runs, in an exploration: each draw gives a number of its own, whatever
// others have drawn before and draw at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/abstract/forms.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::abstract {

/// A root that nothing depended on where the run began stands for all numbers there (Explorer::forget), so it
/// may be drawn once before the next cut.
bool Forms::draw(const Op& op) {
    constexpr std::size_t most_draws = 16, most_roots = 256;
    if (!std::has_single_bit(execution_.active) || symbols_.roots.size() > most_roots) return false;
    const auto of = [&](int root) { return symbols_.roots[static_cast<std::size_t>(root)].loaded_from; };
    const auto idle = std::ranges::find_if(
        symbols_.drawn, [&](int root) { return idle_.contains(root) && of(root) == op.drawn_from; });
    if (idle == symbols_.drawn.end() && symbols_.drawn.size() == most_draws) return false;
    const int at = idle == symbols_.drawn.end() ? static_cast<int>(symbols_.roots.size()) : *idle;
    if (idle == symbols_.drawn.end()) {
        symbols_.drawn.push_back(at);
        Root& root = symbols_.roots.emplace_back();
        root.given = true;
        root.loaded_from = op.drawn_from;
        root.name = fmt::format("what line {} draws", op.where.line);
        root.where = op.where;
    }
    idle_.erase(at);
    draws_ = true;
    become(*op.step, at);
    give(*op.step, form_of_root(at));
    return true;
}

/// Whether it depends on drawn numbers, and on other numbers of the launch, too.
Forms::Draws Forms::draws_of(const Form& form) const {
    std::set<int> roots;
    for (const auto& [variable, slope] : form)
        if (which_of(variable) == Variable::excess) roots.insert(root_of(variable));
    const bool any = std::ranges::any_of(symbols_.drawn, [&](int drawn) {
        return std::ranges::any_of(symbols_.made_of(drawn), [&](int made) { return roots.contains(made); });
    });
    return !any ? Draws::none : roots.size() == 1 ? Draws::alone : Draws::and_others;
}

std::optional<Forms::Shown> Forms::stored(const Operand& operand) {
    if (!operand.reg) return Shown{operand.imm, {}};
    const auto slot = static_cast<std::size_t>(execution_.skeleton.slots[operand.reg.id]);
    if ((execution_.active & ~values_.known(execution_.warp->number)[slot]) != 0) return std::nullopt;
    const Form form = form_of(operand.reg, execution_.op->where);
    const Wide lanes = get(operand.reg);
    const std::int64_t first = lanes[static_cast<std::size_t>(std::countr_zero(execution_.active))];
    for (int lane = 0; lane < isa::lanes; ++lane)
        if (active(lane) && lanes[static_cast<std::size_t>(lane)] != first) return std::nullopt;
    return Shown{first, form};
}

void Forms::show(Place at, const std::optional<Shown>& number) {
    if (number)
        shown_[at] = *number;
    else
        shown_.erase(at);
}

void Forms::receive(const Op& op, const Shown& number) {
    isa::for_each_written(*op.step, [&](Reg result) {
        Wide lanes = get(result);
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane)) lanes[static_cast<std::size_t>(lane)] = number.value;
        set(result, lanes);
    });
    give(*op.step, number.form);
}

}  // namespace wgrun::check::abstract
