// Numbers that become known as a kernel runs: what an atomic operation finds in global memory, as where CTAs
// draw tiles from a counter, and what threads show to others in shared memory.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/check.hpp"

namespace wgrun::check {

struct DrawnNumbers {
    /// Atomics that return a number of 32 bits, and of each the index of the parameter whose memory that is.
    std::unordered_map<const Step*, int> draws;
    /// What else writes to these parameters' memory than additions of a constant, which is at least 1.
    std::map<int, std::vector<const Step*>> changes;
    /// Weak loads of such a number from shared memory.
    std::unordered_set<const Step*> loads;
};

DrawnNumbers drawn_numbers(const Program& program, Made made);

/// Returns the operand that a weak store of one number of 32 bits stores; null: the step is none.
const Operand* stored_number(const Step& step, const Program& program);

}  // namespace wgrun::check
