#include "sass/predicates.hpp"

#include <algorithm>
#include <charconv>

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

bool is_negated(std::string_view operand) { return operand.starts_with("!"); }
Predicate source_named(std::string_view operand) {
    return predicate_named(is_negated(operand) ? operand.substr(1) : operand);
}

/// What is known of an operand that is a predicate.
std::optional<bool> value_of(std::string_view operand, Known known) {
    const Predicate named = source_named(operand);
    if (named == no_predicate) return std::nullopt;
    const bool negated = is_negated(operand);
    if (named == always) return !negated;
    if ((known.known & bit_of(named)) == 0) return std::nullopt;
    return ((known.value & bit_of(named)) != 0) != negated;
}

/// The operands of a PLOP3 behind its two results: three predicates and a truth table of them.
constexpr std::size_t logic_sources = 2, logic_table = 5;
bool is_logic(const Instruction& one) {
    return one.mnemonic.find("PLOP3.LUT") != std::string_view::npos && one.operands.size() > logic_table &&
           one.operands[logic_table].starts_with("0x");
}
bool is_comparison(const Instruction& one) {
    return one.mnemonic.find("SETP") != std::string_view::npos && one.operands.size() > 2;
}

/// The value that the instruction gives to its first predicate, where what is known decides it.
std::optional<bool> result_of(const Instruction& one, Known known) {
    if (is_logic(one)) {
        unsigned table = 0;
        const std::string_view digits = one.operands[logic_table].substr(2);
        std::from_chars(digits.data(), digits.data() + digits.size(), table, 16);
        bool can_hold = false, can_fail = false;
        for (unsigned row = 0; row < 8; ++row) {
            bool possible = true;
            for (std::size_t i = 0; i < 3; ++i) {
                const std::optional<bool> value = value_of(one.operands[logic_sources + i], known);
                possible = possible && (!value || *value == (((row >> (2 - i)) & 1) != 0));
            }
            if (possible) (((table >> row) & 1) != 0 ? can_hold : can_fail) = true;
        }
        if (can_hold != can_fail) return can_hold;
        return std::nullopt;
    }
    if (is_comparison(one)) {
        const std::optional<bool> other = value_of(one.operands.back(), known);
        if (other && *other && one.has("OR")) return true;
        if (other && !*other && one.has("AND")) return false;
        return std::nullopt;
    }
    const Predicate source = copied(one);
    return source == no_predicate ? std::nullopt : value_of(one.operands[1], known);
}

/// The predicates that it computes its first one of.
PredicateSet sources_of(const Instruction& one) {
    PredicateSet out = 0;
    const auto add = [&](std::string_view operand) {
        const Predicate named = source_named(operand);
        if (named != no_predicate && named != always) out |= bit_of(named);
    };
    if (is_logic(one))
        for (std::size_t i = logic_sources; i < logic_table; ++i) add(one.operands[i]);
    else if (is_comparison(one))
        add(one.operands.back());
    else if (copied(one) != no_predicate)
        add(one.operands[1]);
    return out;
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
            const bool matters = (written & before) != 0;
            if (!one.guarded()) before &= static_cast<PredicateSet>(~written);
            if (matters) before |= sources_of(one);
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
    const Known before = known;
    known = known.within(static_cast<PredicateSet>(all & ~written));
    const Predicate first = predicate_named(one.operands[0]);
    if (one.guarded() || first == no_predicate || first == always) return known;
    const std::optional<bool> result = result_of(one, before);
    return result ? known.with(bit_of(first), *result) : known;
}

}  // namespace wgrun::sass
