// A register's value as readable text.
#pragma once

#include <cstdint>
#include <string>

#include "wgrun/isa.hpp"

namespace wgrun {

/// Returns the value in the low bits as its type shows it: 1.5, -3, true; bits in hexadecimal.
std::string value_text(isa::Type type, std::uint64_t value);

}  // namespace wgrun
