// What bulk copies of boxes and of pixels have in common.
#pragma once

#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// What the tensor map of a copy describes: a box, or the pixels of a convolution, of which the simulator
/// knows neither the number nor the place.
enum class Described : std::uint8_t { box, pixels };

/// Loads for each active lane: to operand 0, by the map in operand 1 at the coordinates in operand 2, for the
/// mbarrier in operand 3; `mask` is the operand with the CTAs that receive it.
void load_tensor(const Step& step, Machine& machine, std::size_t mask, Described described);
/// Stores or reduces, by the map in operand 0 at the coordinates in operand 1, from operand 2.
void store_tensor(const Step& step, Machine& machine, BulkCopy::Reduction reduction, Described described);

}  // namespace wgrun::isa
