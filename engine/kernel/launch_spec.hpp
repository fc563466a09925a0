// The driver's description of a program's launches.
#pragma once

#include <cstdint>

#include "kernel/arguments.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {

gpu::LaunchConfig config_of(const Program& program, Dim3 grid);

gpu::TensorMapSpec map_spec(const PassedMap& map);
/// The tensor map of a tensor with the box's dtype.
gpu::TensorMapSpec map_spec(const TensorBox& box, const TensorShape& shape, std::uint64_t address);

}  // namespace wgrun
