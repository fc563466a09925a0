// What bulk copies of boxes and of pixels have in common.
#pragma once

#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// What a copy moves: a box of the tensor map, or the pixels of an im2col map, each at these offsets.
struct Moved {
    bool pixels = false;
    const Operand* offsets = nullptr;  ///< null: none
};

/// Loads for each active lane: to operand 0, by the map in operand 1 at the coordinates in operand 2, for the
/// mbarrier in operand 3; `mask` is the operand with the CTAs that receive it.
void load_tensor(const Step& step, Machine& machine, std::size_t mask, Moved moved);
/// Stores or reduces, by the map in operand 0 at the coordinates in operand 1, from operand 2.
void store_tensor(const Step& step, Machine& machine, BulkCopy::Reduction reduction, Moved moved);
/// Prefetches, by the map in operand 0 at the coordinates in operand 1.
void prefetch_tensor(const Step& step, Machine& machine, Moved moved);

/// Returns the reduction that a form names.
inline BulkCopy::Reduction reduction_of(const Form& form) {
    return static_cast<BulkCopy::Reduction>(form.get(Field::op));
}

}  // namespace wgrun::isa
