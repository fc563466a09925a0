// How long a step occupies the arithmetic pipes of an SM, for a model of time.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The pipes. Each of the four parts of an SM has one of each.
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

/// Returns the throughput on sm_90: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
/// Instructions", a quarter of an SM's. An instruction that the assembler expands (integer division) counts
/// as its expansion.
Throughput throughput(const Step& step);

}  // namespace wgrun::isa
