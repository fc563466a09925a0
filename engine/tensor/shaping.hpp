// The part of shaping.cpp that elementwise.cpp uses.
#pragma once

#include "wgrun/tensor.hpp"

namespace wgrun {

/// A copy of the tensor, its dimensions of extent 1 and those it lacks repeated: it must fit `shape`.
Tensor broadcast(const Tensor& tensor, const TensorShape& shape);

}  // namespace wgrun
