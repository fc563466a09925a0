#include "sass/predicates.hpp"

#include <algorithm>

#include "sass/record.hpp"

namespace wgrun::sass {

Known Known::with(const Instruction& guarded, bool holds) const {
    if (!guarded.guarded()) return *this;
    const PredicateSet bit = bit_of(guarded.guard);
    const bool value_of_predicate = holds != guarded.guard_negated;
    return {static_cast<PredicateSet>(known | bit),
            static_cast<PredicateSet>(value_of_predicate ? value | bit : value & ~bit)};
}

bool Known::allows(const Instruction& guarded, bool holds) const {
    if (guarded.never()) return !holds;
    if (!guarded.guarded()) return holds;
    const PredicateSet bit = bit_of(guarded.guard);
    if ((known & bit) == 0) return true;
    return (((value & bit) != 0) != guarded.guard_negated) == holds;
}

PredicateSet written_predicates(const Instruction& one) {
    if (one.record->does == Does::branch || one.operands.empty()) return 0;
    if (one.mnemonic.starts_with("R2P")) return 0x7f;
    // Results come first: up to two predicates, before a register or behind it.
    std::size_t at = 0;
    if (predicate_named(one.operands[0]) == no_predicate) at = 1;
    const bool vote = one.mnemonic.starts_with("VOTE");
    PredicateSet out = 0;
    for (int count = 0; at < one.operands.size() && count < (vote ? 1 : 2); ++at, ++count) {
        const Predicate named = predicate_named(one.operands[at]);
        if (named == no_predicate) break;
        if (named != always) out |= bit_of(named);
    }
    return out;
}

std::vector<PredicateSet> live_predicates(const Function& function, const Graph& graph,
                                          const std::vector<bool>& deciding) {
    const auto& code = function.instructions;
    std::vector<PredicateSet> live(code.size());
    bool changes = true;
    while (changes) {
        changes = false;
        for (Place at = static_cast<Place>(code.size()); at-- > 0;) {
            PredicateSet after = 0;
            for (const Place to : graph.next(at)) after |= live[to];
            const Instruction& one = code[at];
            PredicateSet before = after;
            if (!one.guarded()) before &= static_cast<PredicateSet>(~written_predicates(one));
            if (deciding[at] && one.guarded()) before |= bit_of(one.guard);
            changes = changes || before != live[at];
            live[at] = before;
        }
    }
    return live;
}

}  // namespace wgrun::sass
