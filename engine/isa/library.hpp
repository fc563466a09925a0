// What kernels of others call of CUDA's library. These records are not part of the instruction set, and all()
// does not list them: texts that are read make them (ptx/calls.cpp). Addresses are generic.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::library {

/// vprintf. d (u32): the number of values; format, values: u64 registers.
const Instruction& print();
/// __assertfail. message, file, function: u64 registers; line: a u32 register.
const Instruction& fail();

}  // namespace wgrun::isa::library
