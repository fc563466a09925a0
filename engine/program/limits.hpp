// How large a program may be (docs/limits.md): the Builder refuses more with an ArgumentError.
#pragma once

#include <cstddef>

namespace wgrun {

inline constexpr std::size_t max_block_depth = 128;       ///< loops and branches inside each other
inline constexpr std::size_t max_steps = 1 << 20;         ///< instructions, in the whole program
inline constexpr std::size_t max_registers = 1 << 22;     ///< of all types together
inline constexpr std::size_t max_name = 256;              ///< bytes of the name of a kernel, parameter or buffer
inline constexpr std::size_t max_parameter_bytes = 4096;  ///< what every PTX version takes

}  // namespace wgrun
