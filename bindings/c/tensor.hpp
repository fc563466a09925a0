// Tensors that C holds: a share of one of the engine's.
#pragma once

#include "bindings/c/handle.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun::c {

template <>
inline constexpr Kind kind_of<Tensor> = Kind::tensor;

}  // namespace wgrun::c
