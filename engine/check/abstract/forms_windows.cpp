// What an exploration decides of the numbers of a launch, and how registers follow (exploration.hpp).
#include <algorithm>
#include <bit>

#include "check/abstract/forms.hpp"
#include "isa/relations.hpp"

namespace wgrun::check::abstract {

std::optional<Warp::Parked> Forms::compared(const Op& op) {
    const Step& step = *op.step;
    if (step.op->shape == nullptr || step.op->shape(step.form) != isa::Shape::order) return std::nullopt;
    const std::vector<Sourced> sources = this->sources(step);
    const Side first = side(step, sources[0]), second = side(step, sources[1]);
    Form form = first.form;
    add(form, second.form, -1);
    std::optional<Warp::Parked> out;
    std::int64_t times = 0;
    Wide difference = first.number;
    for (std::size_t lane = 0; lane < difference.size(); ++lane) difference[lane] -= second.number[lane];
    if (comes_out_alike(step, form, difference)) return std::nullopt;
    if (const std::optional<Above> above = above_least(step, sources)) {
        form = above->form;
        difference = above->difference;
    } else {
        joins(form, difference);
    }
    for (const auto& [variable, slope] : form) {
        if (which_of(variable) != Variable::excess) continue;
        const int root = root_of(variable);
        // It comes out either way, whatever is waited for.
        if (symbols_.roots[static_cast<std::size_t>(root)].any) return std::nullopt;
        const bool number = symbols_.roots[static_cast<std::size_t>(root)].kind == Root::Kind::number;
        if (number) compared_at_[root].insert(execution_.warp->pc);
        if (out && !number) continue;
        out = Warp::Parked{root, 0};
        times = slope;
    }
    if (!out) return std::nullopt;
    comparisons_.insert(execution_.warp->pc);
    for (const Sourced& source : sources)
        if (const Reg reg = source.operand->reg; reg && execution_.skeleton.slots[reg.id] >= 0)
            counted_to_[{static_cast<std::uint32_t>(execution_.warp->number),
                         static_cast<std::uint32_t>(execution_.skeleton.slots[reg.id])}] = {
                out->root, times < 0 ? -times : times};
    const auto lane = static_cast<std::size_t>(std::countr_zero(execution_.active));
    out->left = times < 0 ? -difference[lane] : difference[lane];
    return out;
}

/// Whether a comparison comes out alike whatever the number of the launch is that its sides differ by, as
/// where n + 63 is held against 64.
bool Forms::comes_out_alike(const Step& step, const Form& form, const Wide& difference) const {
    if (form.size() != 1) return false;
    const auto [variable, slope] = *form.begin();
    const Root& root = symbols_.roots[static_cast<std::size_t>(root_of(variable))];
    if (which_of(variable) != Variable::excess || root.kind != Root::Kind::number) return false;
    const unsigned relations = isa::relations_of(step.form), beyond = slope > 0 ? isa::greater : isa::less;
    for (int lane = 0; lane < isa::lanes; ++lane) {
        if (!active(lane)) continue;
        const std::int64_t least =
            difference[static_cast<std::size_t>(lane)] + slope * (root.least - root.value);
        const auto relation = isa::relation(least, std::int64_t{0});
        if (relation != beyond &&
            (relation != isa::equal || ((relations & beyond) != 0) != ((relations & isa::equal) != 0)))
            return false;
    }
    return true;
}

Window Forms::window(int root) const {
    const Root& its = symbols_.roots[static_cast<std::size_t>(root)];
    const auto growth = growth_.find(root);
    const std::int64_t most = its.most == unlimited ? unlimited : its.most - its.value;
    return {its.value, std::min(room(root), most), growth == growth_.end() ? Form() : growth->second};
}

void Forms::choose(const std::vector<Window>& windows) {
    stopped_.clear();
    room_.clear();
    events_.clear();
    // The registers are those of the state that was restored.
    values_of_roots_.resize(symbols_.roots.size());
    for (std::size_t root = 0; root < symbols_.roots.size(); ++root)
        symbols_.roots[root].value = values_of_roots_[root];
    for (std::size_t root = 0; root < symbols_.roots.size(); ++root)
        choose(static_cast<int>(root),
               root < windows.size() ? windows[root] : symbols_.window(static_cast<int>(root)));
}

void Forms::choose(int root, const Window& window) {
    Root& its = symbols_.roots[static_cast<std::size_t>(root)];
    Form growth = window.growth;
    if (const auto before = growth_.find(root); before != growth_.end()) add(growth, before->second, -1);
    const std::int64_t more = window.value - its.value;
    its.value = window.value;
    growth_[root] = window.growth;
    if (window.growth.empty()) growth_.erase(root);
    room_.erase(root);
    if (window.room != unlimited) room_[root] = window.room;
    if (more == 0 && growth.empty()) return;
    for (std::size_t warp = 0; warp < slots_.size(); ++warp)
        for (std::size_t slot = 0; slot < slots_[warp].size(); ++slot) {
            Slot& at = slots_[warp][slot];
            const auto slope = at.form.find(variable(root, Variable::excess));
            if (slope == at.form.end()) continue;
            const std::int64_t times = slope->second;
            values_.increase(static_cast<int>(warp), slot, at.lanes, more * times);
            add(at.form, growth, times);
        }
    for (auto& [place, number] : shown_) {
        const auto slope = number.form.find(variable(root, Variable::excess));
        if (slope == number.form.end()) continue;
        const std::int64_t times = slope->second;
        number.value += more * times;
        add(number.form, growth, times);
    }
}

void Forms::widen(std::uint32_t warp, std::size_t slot, isa::Mask known, std::int64_t back,
                  const Form& turns) {
    if (warp >= slots_.size()) {
        Shown& number = shown_.at({static_cast<int>(warp - slots_.size()), static_cast<std::uint32_t>(slot)});
        number.value -= back;
        return add_turns(number.form, turns, back);
    }
    Slot& at = slots_[warp][slot];
    if (at.cyclic) {
        const auto places = static_cast<std::int64_t>(symbols_.cycles[at.cyclic->cycle].size());
        at.cyclic->further = ((at.cyclic->further - back) % places + places) % places;
        return add(at.cyclic->turns, turns);
    }
    values_.increase(static_cast<int>(warp), slot, known, -back);
    if (at.form.empty()) at = {{}, known};
    add_turns(at.form, turns, back);
}

/// What depends on the form is less by `back`, and depends on turns more.
void Forms::add_turns(Form& form, const Form& turns, std::int64_t back) const {
    add(form, turns);
    // A stride of the grid, which is taken to be 1, is added as often as the number is greater.
    for (auto& [variable, slope] : form)
        if (which_of(variable) == Variable::excess &&
            symbols_.roots[static_cast<std::size_t>(root_of(variable))].kind == Root::Kind::stride)
            slope -= back;
    std::erase_if(form, [](const auto& one) { return one.second == 0; });
}

}  // namespace wgrun::check::abstract
