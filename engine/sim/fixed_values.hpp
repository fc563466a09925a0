// Values that are the same wherever a launch computes them: constants of the program and what it is given.
// Writes of such a value do no harm to each other. Data that happen to be equal are not meant.
#pragma once

#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::sim {

class FixedValues {
  public:
    explicit FixedValues(const Program& program);
    /// Returns whether the step is a store, and stores nothing else.
    bool stored_by(const isa::Step& step) const;

  private:
    bool fixed(const isa::Operand& operand) const;
    bool computes(const isa::Step& step) const;

    std::vector<bool> fixed_;  ///< by register
};

}  // namespace wgrun::sim
