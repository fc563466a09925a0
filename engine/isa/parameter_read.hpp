// Reads of kernel parameters at a place that the program names.
#pragma once

#include <cstdint>
#include <optional>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// What a step reads of a parameter.
struct ParameterRead {
    int parameter;
    std::int64_t offset;  ///< bytes from its start
    int bytes;
};

/// Returns what ld.param reads; nothing for other instructions, and where a register holds the address.
std::optional<ParameterRead> parameter_read(const Step& step);

}  // namespace wgrun::isa
