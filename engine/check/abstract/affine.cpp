#include "check/abstract/affine.hpp"

#include <bit>

namespace wgrun::check::abstract {

const Root& root_at(const Symbols& symbols, int variable) {
    return symbols.roots[static_cast<std::size_t>(root_of(variable))];
}

Window window(const Cut& of, std::size_t root, const Symbols& symbols) {
    return root < of.windows.size() ? of.windows[root] : symbols.window(static_cast<int>(root));
}

Affine number(const Register& of, const Cut& cut, const Symbols& symbols) {
    if (of.form.cyclic) return {of.form.cyclic->further, of.form.cyclic->turns};
    Affine out{of.lanes[static_cast<std::size_t>(std::countr_zero(of.known))]};
    for (const auto& [variable, slope] : of.form.form) {
        if (which_of(variable) != Variable::excess) {
            out.turns[variable] += slope;
        } else if (root_at(symbols, variable).kind == Root::Kind::number) {
            const Window its = window(cut, static_cast<std::size_t>(root_of(variable)), symbols);
            out.add({its.value, its.growth}, -slope);
        }
    }
    std::erase_if(out.turns, [](const auto& one) { return one.second == 0; });
    return out;
}

bool partly(const Register& one) { return one.form.lanes != 0 && one.form.lanes != one.known; }

std::int64_t places(const Register& one, const Symbols& symbols) {
    return one.form.cyclic ? static_cast<std::int64_t>(symbols.cycles[one.form.cyclic->cycle].size()) : 0;
}

bool differ_by(const Register& a, const Register& b, std::int64_t more, const Symbols& symbols) {
    if (a.warp != b.warp || a.slot != b.slot || a.known != b.known) return false;
    if (a.form.cyclic || b.form.cyclic) {
        if (!a.form.cyclic || !b.form.cyclic || a.form.cyclic->root != b.form.cyclic->root ||
            a.form.cyclic->cycle != b.form.cyclic->cycle || a.form.lanes != b.form.lanes)
            return false;
        for (isa::Mask left = a.known; left != 0; left &= left - 1)
            if (const auto lane = static_cast<std::size_t>(std::countr_zero(left));
                a.lanes[lane] != b.lanes[lane])
                return false;
        return true;
    }
    const auto first = static_cast<std::size_t>(std::countr_zero(a.known));
    for (isa::Mask left = a.known; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        if (b.lanes[lane] - a.lanes[lane] != b.lanes[first] - a.lanes[first]) return false;
    }
    const auto slope = [](const Form& form, int variable) {
        const auto at = form.find(variable);
        return at == form.end() ? 0 : at->second;
    };
    Form all = a.form.form;
    all.insert(b.form.form.begin(), b.form.form.end());
    for (const auto& [variable, unused] : all) {
        if (which_of(variable) != Variable::excess) continue;
        // A stride of the grid, which is taken to be 1, is added as often as the number is greater.
        const bool strides = root_at(symbols, variable).kind == Root::Kind::stride;
        if (slope(b.form.form, variable) - slope(a.form.form, variable) != (strides ? more : 0)) return false;
    }
    return (!partly(a) && !partly(b)) || (a.form == b.form && a.lanes == b.lanes && more == 0);
}

bool is_turns(const Symbols& symbols, std::size_t root) {
    return std::ranges::find(symbols.turns, static_cast<int>(root)) != symbols.turns.end();
}

}  // namespace wgrun::check::abstract
