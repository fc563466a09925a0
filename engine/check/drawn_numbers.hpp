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
    /// Weak loads of such a number, or of a part of it, from shared memory.
    std::unordered_set<const Step*> loads;
    /// Weak stores of such numbers to shared memory, one behind the other: a register, or constants.
    std::unordered_map<const Step*, std::vector<Operand>> stores;
};

DrawnNumbers drawn_numbers(const Program& program, Made made);

}  // namespace wgrun::check
