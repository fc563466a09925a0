#include "sass/predicates.hpp"

#include <algorithm>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

constexpr PredicateSet all = 0xffff;

/// The predicate that the instruction copies to its first one: VOTEU makes a uniform one of another, PLOP3
/// the conjunction of one and of PT.
Predicate copied(const Instruction& one) {
    if (one.guarded() || one.operands.size() < 2) return no_predicate;
    if (one.mnemonic.starts_with("VOTEU.A") && one.operands.size() == 2)
        return predicate_named(one.operands[1]);
    constexpr std::size_t sources = 2, table = 5;
    if (one.mnemonic.find("PLOP3.LUT") == std::string_view::npos || one.operands.size() <= table ||
        one.operands[table] != "0x80")
        return no_predicate;
    Predicate out = always;
    for (std::size_t i = sources; i < table; ++i) {
        const Predicate named = predicate_named(one.operands[i]);
        if (named == always) continue;
        if (named == no_predicate || out != always) return no_predicate;
        out = named;
    }
    return out;
}

/// The value that the instruction gives to its first predicate, if its sources are PT alone.
std::optional<bool> constant(const Instruction& one) {
    if (one.guarded() || one.mnemonic.find("PLOP3.LUT") == std::string_view::npos || one.operands.size() < 6)
        return std::nullopt;
    for (std::size_t i = 2; i < 5; ++i)
        if (predicate_named(one.operands[i]) != always) return std::nullopt;
    if (one.operands[5] == "0x80") return true;
    if (one.operands[5] == "0x8") return false;
    return std::nullopt;
}

}  // namespace

PredicateSet written_predicates(const Instruction& one) {
    if (one.record->does == Does::branch || one.operands.empty()) return 0;
    if (one.mnemonic.starts_with("R2P")) return 0x7f;
    // Results come first: up to two predicates, before a register or behind it.
    std::size_t at = 0;
    if (predicate_named(one.operands[0]) == no_predicate) at = 1;
    const int most = one.mnemonic.starts_with("VOTE") ? 1 : 2;
    PredicateSet out = 0;
    for (int count = 0; at < one.operands.size() && count < most; ++at, ++count) {
        const Predicate named = predicate_named(one.operands[at]);
        if (named == no_predicate) break;
        if (named != always) out |= bit_of(named);
    }
    return out;
}

bool Known::allows(const Instruction& guarded, bool holds) const {
    if (guarded.never()) return !holds;
    if (!guarded.guarded()) return holds;
    const PredicateSet bit = bit_of(guarded.guard);
    if ((known & bit) == 0) return true;
    return (((value & bit) != 0) != guarded.guard_negated) == holds;
}

PredicateFlow::PredicateFlow(const Function& function, const Graph& graph, const std::vector<bool>& deciding,
                             const std::vector<Place>& guards)
    : function_(function), guards_(guards), live_(graph.size()), values_(graph.size()) {
    find_values(graph);
    find_live(graph, deciding);
}

void PredicateFlow::find_live(const Graph& graph, const std::vector<bool>& deciding) {
    for (bool changes = true; changes;) {
        changes = false;
        for (auto at = static_cast<Place>(graph.size()); at-- > 0;) {
            const Instruction& one = function_.instructions[at];
            PredicateSet before = 0;
            for (const Place to : graph.next(at)) before |= live_[to];
            const PredicateSet written = written_predicates(one);
            const Predicate source = copied(one);
            const bool copies = source != no_predicate && source != always && (written & before) != 0;
            if (!one.guarded()) before &= static_cast<PredicateSet>(~written);
            if (copies) before |= bit_of(source);
            const Instruction& guarded = function_.instructions[guards_[at]];
            if (deciding[at] && guarded.guarded()) before |= bit_of(guarded.guard);
            changes = changes || before != live_[at];
            live_[at] = before;
        }
    }
}

void PredicateFlow::find_values(const Graph& graph) {
    if (graph.size() == 0) return;
    constexpr std::uint32_t joined = 1U << 31;
    const auto number = [](Place at, std::size_t one) {
        return static_cast<std::uint32_t>((at + 1) * predicates + one);
    };
    for (std::size_t one = 0; one < predicates; ++one) values_[0][one] = static_cast<std::uint32_t>(one + 1);
    std::vector<Place> left{0};
    while (!left.empty()) {
        const Place at = left.back();
        left.pop_back();
        auto out = values_[at];
        const Instruction& instruction = function_.instructions[at];
        const PredicateSet written = written_predicates(instruction);
        const Predicate source = copied(instruction);
        bool first = true;
        for (std::size_t one = 0; one < predicates; ++one) {
            if (((written >> one) & 1) == 0) continue;
            const bool copy = first && source != no_predicate && source != always;
            out[one] = copy ? values_[at][static_cast<std::size_t>(source)] : number(at, one);
            first = false;
        }
        for (const Place to : graph.next(at)) {
            bool changed = false;
            for (std::size_t one = 0; one < predicates; ++one) {
                std::uint32_t& value = values_[to][one];
                const std::uint32_t meet =
                    value == 0 || value == out[one] ? out[one] : joined | number(to, one);
                changed = changed || meet != value;
                value = meet;
            }
            if (changed) left.push_back(to);
        }
    }
}

Known PredicateFlow::learn(Known known, Place at, bool holds) const {
    const Instruction& one = function_.instructions[guards_[at]];
    if (!one.guarded()) return known;
    PredicateSet same = 0;
    const auto guard = static_cast<std::size_t>(one.guard);
    for (std::size_t i = 0; i < predicates; ++i)
        if (values_[at][i] == values_[at][guard]) same |= static_cast<PredicateSet>(1U << i);
    return known.with(same, holds != one.guard_negated);
}

Known PredicateFlow::after(Known known, Place at) const {
    const Instruction& one = function_.instructions[at];
    const PredicateSet written = written_predicates(one);
    if (written == 0) return known;
    const Predicate source = copied(one);
    const Known before = known;
    known = known.within(static_cast<PredicateSet>(all & ~written));
    const Predicate first = predicate_named(one.operands[0]);
    if (first == no_predicate || first == always) return known;
    if (const std::optional<bool> value = constant(one)) return known.with(bit_of(first), *value);
    if (source == no_predicate || source == always || (before.known & bit_of(source)) == 0) return known;
    return known.with(bit_of(first), (before.value & bit_of(source)) != 0);
}

}  // namespace wgrun::sass
