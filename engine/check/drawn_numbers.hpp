// Numbers that become known as a kernel runs: what an atomic operation finds in global memory, as where CTAs
// draw tiles from a counter, and what threads show to others in shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/check.hpp"

namespace wgrun::check {

struct DrawnNumbers {
    struct Draw {
        int param;    ///< the index of the parameter whose memory that is
        Reg address;  ///< none: the parameter itself
    };
    /// As much is a counter raised at most: it cannot jump over the numbers that no launch has.
    static constexpr std::int64_t most_added = std::int64_t{1} << 30;

    /// Atomics that return a number of 32 bits.
    std::unordered_map<const Step*, Draw> draws;
    /// What else writes to these parameters' memory than additions of a constant, from 1 to `most_added`.
    std::map<int, std::vector<const Step*>> changes;
    /// Weak loads of such a number, or of a part of it, from shared memory.
    std::unordered_set<const Step*> loads;
    /// Weak stores of such numbers to shared memory, one behind the other: a register, or constants.
    std::unordered_map<const Step*, std::vector<Operand>> stores;
};

DrawnNumbers drawn_numbers(const Program& program, Made made);

}  // namespace wgrun::check
