// Numbers that threads show to others in shared memory, in an exploration: a load finds what was stored where
// vector clocks order it after the store, and every later store after the load. Where a store to such a place
// is in no such order, nothing is proved, unless it stores what is there already; where a load is, it finds
// anything.
//
// A lane stores a number of 32 bits, or several lanes of a warp store numbers that depend on nothing, of
// which a load may be of a byte or two. Places to which anything else is ever stored, by threads or copies,
// are not followed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "check/abstract/forms.hpp"

namespace wgrun::check::abstract {

class ShownNumbers {
  public:
    ShownNumbers(ExecutionState& execution, const Values& values, Forms& forms);

    /// The current step stores to shared memory, or copies to it by cp.async. unclear: nobody knows whether.
    void store(const Op& op, bool unclear);
    /// The current step loads. Returns whether what it finds is known.
    bool load(const Op& op);
    /// Forgets numbers that all have loaded who ever do, and accesses that all come after who ever store
    /// there. One who does later makes the exploration begin anew.
    void forget();
    /// Copies or mbarriers change a CTA's bytes [lo, hi).
    void overwrite(int cta, std::uint32_t lo, std::uint32_t hi);
    /// They change bytes, nobody knows which.
    void lost();

    auto state() { return std::tie(places_); }
    void encode(Encoder& to) const;

  private:
    struct Access {
        int warp = 0;
        isa::Mask lanes = 0;
        std::uint32_t clock = 0;
    };
    struct Accesses {
        std::vector<Access> stores{};  ///< of what is there: the last one of each warp and its lanes...
        std::vector<Access> loads{};   ///< ...and so of what came after them
    };

    bool follows(const std::vector<Operand>& numbers, const Values::Lanes& address);
    void add(std::vector<Access>& to) const;
    void show(const Op& op, Forms::Place place, const Operand& number);
    bool is_after(const Access& before, isa::Mask lanes) const;
    bool is_after(const std::vector<Access>& before, isa::Mask lanes) const;
    bool is_after(const Accesses& before, isa::Mask lanes) const;
    bool is_before(const Access& access, const Symbols::Users& users) const;
    bool is_free(int cta, std::uint32_t address) const;
    void take(int cta, std::uint32_t lo, std::uint32_t hi);

    ExecutionState& execution_;
    const Values& values_;
    Forms& forms_;
    std::map<Forms::Place, Accesses> places_;  ///< of numbers, known or not
    // Of all ways that an exploration has followed: they hold for every state.
    std::set<Forms::Place> forgotten_;  ///< something there was
    std::set<Forms::Place> followed_;   ///< places of numbers
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
        taken_;                   ///< by CTA: what changes otherwise
    bool lost_ = false;           ///< any byte may
    bool makes_generic_ = false;  ///< some step makes a generic address of shared memory
};

}  // namespace wgrun::check::abstract
