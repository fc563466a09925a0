// Encoding tensor maps with a given driver.
#pragma once

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The result of cuTensorMapEncodeTiled for `spec`, which must have passed check_tensor_map.
abi::Result encode(const Driver& driver, const TensorMapSpec& spec, TensorMap& map);

}  // namespace wgrun::gpu
