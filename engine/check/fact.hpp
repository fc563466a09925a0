// What may be true at a point of a program, and what that depends on.
//
// The checker follows every path, but not every path exists: a fence under `if (i > 0)` is not missing in the
// iterations after the first. A fact therefore records the inputs of the conditions that it depends on.
// Conditions that share no input are independent: all their combinations occur. Where two conditions share an
// input, the path may not exist: the fact becomes doubtful and is not reported.
#pragma once

#include <cstdint>

namespace wgrun::check {

/// The set of inputs that a value is computed from: parameters, thread and CTA indices, memory, loop
/// counters.
using Roots = std::uint64_t;

namespace roots {
constexpr Roots param(int index) { return Roots{1} << (index % 32); }
constexpr Roots loop(int id) { return Roots{1} << (32 + id % 28); }
inline constexpr Roots loops = ((Roots{1} << 28) - 1) << 32;  ///< any loop
inline constexpr Roots thread = Roots{1} << 60;               ///< %tid, %laneid
inline constexpr Roots cta = Roots{1} << 61;                  ///< %ctaid and the like
inline constexpr Roots memory = Roots{1} << 62;               ///< loaded or unknown values
}  // namespace roots

/// A branch, loop or guarded step whose condition is unknown. Inner ones have ids in (id, end).
struct Decision {
    int id = 0;
    int end = 0;
    Roots inputs = 0;
    bool repeats = false;   ///< a loop: successive iterations are separate decisions
    bool doubtful = false;  ///< the enclosing conditions may allow only one outcome

    bool contains(int other) const { return other >= id && other < end; }
};

struct Fact {
    enum class Kind : std::uint8_t { absent, doubtful, conditional, always };
    Kind kind = Kind::absent;
    std::int32_t first = 0;  ///< conditional: id of the first decision that it depends on...
    std::int32_t last = 0;   ///< ...and of the last
    Roots inputs = 0;        ///< conditional: inputs of all those decisions
    int arm = 0;             ///< conditional: arm of the first of them, 0 or 1

    static Fact always() { return {Kind::always}; }
    explicit operator bool() const { return kind != Kind::absent; }
    bool operator==(const Fact&) const = default;

    /// Returns the same fact on one arm of `decision` only: `way` 0 or 1.
    Fact depending_on(const Decision& decision, int way) const {
        if (kind == Kind::absent || kind == Kind::doubtful) return *this;
        if (kind == Kind::conditional && last == decision.id) return *this;  // one more iteration of a loop
        if (decision.doubtful) return {Kind::doubtful};
        if (kind == Kind::always) return {Kind::conditional, decision.id, decision.id, decision.inputs, way};
        const bool inner = decision.contains(first) && !decision.repeats;
        if (!inner && (inputs & decision.inputs)) return {Kind::doubtful};
        return {Kind::conditional, inner ? decision.id : first, decision.id, inputs | decision.inputs,
                inner ? way : arm};
    }
};

/// Returns the fact where two paths meet, `a` on one and `b` on the other.
inline Fact join(const Fact& a, const Fact& b, const Decision& decision) {
    if (a == b) return a;
    const Fact left = a.depending_on(decision, 0), right = b.depending_on(decision, 1);
    // One path is enough: the one with the weakest dependence.
    if (a.kind == Fact::Kind::always) return left;
    if (b.kind == Fact::Kind::always) return right;
    return left.kind >= right.kind ? left : right;
}

}  // namespace wgrun::check
