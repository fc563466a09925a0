// The shapes that a tensor can have.
#pragma once

#include <cstdint>
#include <string>

#include "wgrun/tensor.hpp"

namespace wgrun {

/// "bf16 {128, 64}"
std::string describe(Dtype dtype, const TensorShape& shape);

/// The number of elements. Throws ArgumentError for a rank above Tensor::max_rank, a negative extent, or more
/// than Tensor::max_bytes.
std::int64_t count_items(Dtype dtype, const TensorShape& shape);

}  // namespace wgrun
