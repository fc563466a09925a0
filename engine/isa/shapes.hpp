// How results depend on their sources, as records state it.
#pragma once

#include "isa/families.hpp"
#include "isa/pairs.hpp"

namespace wgrun::isa {

/// The shape of an instruction, where it computes with single integers and does not saturate.
template <Shape shape>
Shape of_integers(const Form& form) {
    const Type type = form.type();
    return is_float(type) || is_pair(type) || form.get(Field::sat, 0) != 0 ? Shape::other : shape;
}

}  // namespace wgrun::isa
