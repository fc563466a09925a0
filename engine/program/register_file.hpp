// The register file of an SM, as a launch divides it among the threads of a CTA.
#pragma once

#include <algorithm>

namespace wgrun {

inline constexpr int register_file = 65536;  ///< registers of an SM
inline constexpr int register_unit = 8;      ///< of a thread: what it gets is a multiple
inline constexpr int most_registers = 255;   ///< that the instructions of a thread can name

/// Registers that each thread has when a kernel of `threads` threads a CTA begins, where one CTA may fill the
/// SM (.minnctapersm 1): an even share, in units, and a thread names at most 255.
constexpr int registers_at_entry(int threads) {
    return std::min(register_file / threads, most_registers) / register_unit * register_unit;
}

/// Registers that the assembler may use for a thread of such a kernel.
constexpr int registers_to_use(int threads) {
    return std::min(register_file / threads / register_unit * register_unit, most_registers);
}

}  // namespace wgrun
