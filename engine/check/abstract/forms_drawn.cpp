// Numbers that a kernel draws as it runs, in an exploration: each draw gives a number of its own, whatever
// others have drawn before and draw at the same time. So does what comes of a tile's number and is not
// followed, as its column.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/abstract/forms.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::abstract {

/// The root of what is drawn from there. One that nothing depended on where the run began stands for all
/// numbers there (Explorer::forget), so it may be drawn once before the next cut.
std::optional<int> Forms::next_draw(int from) {
    constexpr std::size_t most_draws = 16, most_roots = 256;
    if (symbols_.roots.size() > most_roots) return std::nullopt;
    const auto idle = std::ranges::find_if(symbols_.drawn, [&](int root) {
        return idle_.contains(root) && symbols_.roots[static_cast<std::size_t>(root)].loaded_from == from;
    });
    if (idle != symbols_.drawn.end()) {
        const int at = *idle;
        idle_.erase(at);
        return at;
    }
    if (symbols_.drawn.size() == most_draws) return std::nullopt;
    Root& root = symbols_.roots.emplace_back();
    root.loaded_from = from;
    root.where = execution_.op->where;
    return symbols_.drawn.emplace_back(static_cast<int>(symbols_.roots.size()) - 1);
}

bool Forms::draw(const Op& op) {
    if (!std::has_single_bit(execution_.active)) return false;
    const std::optional<int> at = next_draw(op.drawn_from);
    if (!at) return false;
    Root& root = symbols_.roots[static_cast<std::size_t>(*at)];
    root.given = true;
    root.name = fmt::format("what line {} draws", root.where.line);
    draws_ = true;
    become(*op.step, *at);
    give(*op.step, form_of_root(*at));
    return true;
}

/// What depends on turns of loops in a way that is not followed may be anything. It is a number of its own
/// each time that it is computed, as one that is drawn. Where something is executed by it, the widening was
/// too wide that has brought the turns.
bool Forms::becomes_any(const Step& step, const std::vector<Sourced>& sources) {
    constexpr int from_nothing = -1;
    std::set<int> turns;
    bool any = false;
    for (const Sourced& one : sources) {
        any |= depends_on_any(one.form);
        for (const auto& [variable, slope] : one.form)
            if (which_of(variable) == Variable::excess)
                turns.merge(turns_of(root_of(variable)));
            else
                turns.insert(root_of(variable));
        if (!one.operand->reg) continue;
        const Wide value = get(one.operand->reg);
        const auto first = static_cast<std::size_t>(std::countr_zero(execution_.active));
        for (int lane = 0; lane < isa::lanes; ++lane)
            if (active(lane) && value[static_cast<std::size_t>(lane)] != value[first]) return false;
    }
    isa::for_each_written(
        step, [&](Reg result) { any &= execution_.program.registers()[result.id].type != isa::Type::pred; });
    const std::optional<int> at = any ? next_draw(from_nothing) : std::nullopt;
    if (!at) return false;
    Root& root = symbols_.roots[static_cast<std::size_t>(*at)];
    root.great = root.any = true;
    root.of_turns.merge(turns);
    root.name = fmt::format("what line {} computes", root.where.line);
    become(step, *at);
    give(step, form_of_root(*at));
    return true;
}

/// Whether a place in the grid, or its size, is that of a tile in a loop over tiles of an exploration: it
/// says how many turns the loop takes, and is anything besides. Where tiles are drawn, the first one is a
/// number as those are.
bool Forms::is_tile(const Root& root) const {
    return root.kind != Root::Kind::number && loops_ != nullptr && !execution_.skeleton.draws_numbers &&
           loops_->innermost(execution_.warp->pc) != nullptr &&
           std::ranges::find(symbols_.roots, Root::Kind::stride, &Root::kind) != symbols_.roots.end();
}

/// Whether that is some tile of a loop over tiles, or what comes of one.
bool Forms::depends_on_any(const Form& form) const {
    return std::ranges::any_of(form, [&](const auto& one) {
        const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(one.first))];
        return which_of(one.first) == Variable::excess && (is_tile(root) || root.any);
    });
}

/// The turns of loops that a root may be anything of.
std::set<int> Forms::turns_of(int root) const {
    std::set<int> out;
    for (const int drawn : symbols_.drawn)
        if (const auto& turns = symbols_.roots[static_cast<std::size_t>(drawn)].of_turns;
            !turns.empty() && symbols_.made_of(drawn).contains(root))
            out.insert(turns.begin(), turns.end());
    return out;
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
