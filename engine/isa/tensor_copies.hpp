// What bulk copies of boxes and of pixels have in common.
#pragma once

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

inline int dims(const Form& form) { return form.get(Field::dim); }

inline OperandRule tensor_map() {
    return {"map", Access::in, OperandRule::reg, fixed<Type::u64>, nullptr, false, {}, {}};
}
inline OperandRule coordinates() {
    return {"coordinates", Access::in, OperandRule::list, fixed<Type::s32>, dims, false, {}, {}};
}
/// The CTAs that receive a copy. Unless it is given, the text omits it and its qualifier.
inline OperandRule receivers() {
    return {"mask",
            Access::in,
            OperandRule::reg | OperandRule::imm,
            fixed<Type::u16>,
            nullptr,
            true,
            0,
            Range{0, 0xFFFF},
            Field::multicast};
}

// The functions below are for operands in these places: to shared memory d, map, coordinates, mbarrier, ...;
// from it map, coordinates, a, ...; a prefetch map, coordinates, ...
void tensor_load_effects(const Step& step, Effects& effects);
void tensor_store_effects(const Step& step, Effects& effects);
void tensor_prefetch_effects(const Step& step, Effects& effects);

/// What a copy moves: a box of the tensor map, or the pixels of an im2col map, each at these offsets.
struct Moved {
    bool pixels = false;
    const Operand* offsets = nullptr;  ///< null: none
};

/// Loads for each active lane; operand `mask` has the CTAs that receive it.
void load_tensor(const Step& step, Machine& machine, std::size_t mask, Moved moved);
/// Stores, or reduces.
void store_tensor(const Step& step, Machine& machine, BulkCopy::Reduction reduction, Moved moved);
void prefetch_tensor(const Step& step, Machine& machine, Moved moved);

/// Returns the reduction that a form names.
inline BulkCopy::Reduction reduction_of(const Form& form) {
    return static_cast<BulkCopy::Reduction>(form.get(Field::op));
}

}  // namespace wgrun::isa
