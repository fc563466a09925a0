// How long a step keeps the arithmetic pipes of an SM busy: what a model of time asks of an instruction.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Each of the four parts of an SM has one of each.
enum class Pipe : std::uint8_t {
    none,     ///< only the issue slot
    fma,      ///< binary32 and binary16 arithmetic
    alu,      ///< integers, logic, comparisons, conversions
    special,  ///< exponentials, roots, reciprocals
    binary64,
    matrix,  ///< mma.sync; wgmma is an engine of the whole SM (isa/effects.hpp)
};
inline constexpr int pipes = 6;

struct Throughput {
    Pipe pipe = Pipe::none;
    int cycles = 1;  ///< until the pipe takes the next warp's instruction
};

/// sm_90: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", a quarter of an SM's.
/// What the assembler makes several instructions of (integer division) counts as those.
Throughput throughput(const Step& step);

}  // namespace wgrun::isa
