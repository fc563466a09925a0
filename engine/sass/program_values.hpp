// What an assembler can know of the values of a program: which addresses are equal, which guards never hold.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "wgrun/program.hpp"

namespace wgrun::sass {

/// The registers that one step alone writes, and always with one value; first_thread: in the first thread of
/// the first CTA.
std::map<std::uint32_t, std::int64_t> constants(const Program& program, bool first_thread);

/// An address as a value and bytes behind it.
struct Base {
    std::uint64_t of = 0;  ///< one value has one number
    bool known = true;     ///< false: the register changes, and the number says nothing
    std::int64_t offset = 0;
};

class ProgramValues {
  public:
    explicit ProgramValues(const Program& program);

    Base base_of(const Operand& address) const;
    /// Whether the ranges of values may show that a guard never holds. No range shows that where it holds in
    /// the first thread, and where something is compared with a number that the launch or memory gives.
    bool may_never_hold(Reg predicate, bool negated) const { return may_fail(predicate, negated, 0); }
    /// Whether the condition of some branch compares what this predicate compares, too: behind the branch the
    /// predicate may be known.
    bool decides_branches(Reg predicate) const;

  private:
    /// One value has one number, however often it is computed.
    std::uint64_t number_of(Reg reg, int depth = 0) const;
    void add_compared(Reg predicate, std::set<std::uint64_t>& out, int depth = 0) const;
    const Step* step_of(Reg reg) const;
    bool is_given(const Operand& operand) const;
    bool may_fail(Reg predicate, bool negated, int depth) const;

    std::map<std::uint32_t, std::int64_t> first_thread_;
    std::unordered_map<std::uint32_t, const Step*> steps_;  ///< by register; null: several write it
    std::set<std::uint64_t> compared_;  ///< by the conditions of branches: numbers of values
    mutable std::map<std::string, std::uint64_t> computed_;
};

}  // namespace wgrun::sass
