// The registers of a warp's products, mma.sync and mma.sp.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::mma {

/// Floats are packed bits, never an f32.
inline Type packed(Type type) { return is_float(type) ? Type::f16x2 : Type::b32; }
inline Type a_type(const Form& form) { return packed(form.type(Field::a)); }
inline Type b_type(const Form& form) { return packed(form.type(Field::b)); }
inline Type d_type(const Form& form) {
    const Type d = form.type(Field::d);
    return d == Type::f16 ? Type::f16x2 : d;
}

}  // namespace wgrun::isa::mma
