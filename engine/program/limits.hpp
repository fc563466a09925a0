// Limits on the size of a program (docs/limits.md): beyond them, Builder throws ArgumentError.
#pragma once

#include <cstddef>

namespace wgrun {

inline constexpr std::size_t max_block_depth = 128;        ///< nested loops and branches
inline constexpr std::size_t max_steps = 1 << 20;          ///< instructions of the whole program
inline constexpr std::size_t max_registers = 1 << 22;      ///< of all types together
inline constexpr std::size_t max_name = 256;               ///< bytes; name of a kernel, parameter or buffer
inline constexpr std::size_t max_parameter_bytes = 32764;  ///< PTX ISA 5.1.6.1
/// ... and before PTX 8.1.
inline constexpr std::int64_t old_parameter_bytes = 4352;

}  // namespace wgrun
