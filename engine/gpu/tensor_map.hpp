// Encoding tensor maps with a driver that is at hand.
#pragma once

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// What cuTensorMapEncodeTiled says of `spec`, which must have passed check_tensor_map.
abi::Result encode(const Driver& driver, const TensorMapSpec& spec, TensorMap& map);

}  // namespace wgrun::gpu
