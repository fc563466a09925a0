// A launch in the driver's own terms.
#pragma once

#include <span>

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

abi::LaunchAttribute cluster_attribute(const Extents& cluster);

/// The driver's description of a launch; `attributes` must outlive it.
abi::LaunchConfig raw_config(const LaunchConfig& config, std::span<abi::LaunchAttribute, 2> attributes);

/// The driver's attributes of a loaded kernel; returns the first result that is not success.
abi::Result read_attributes(const Driver& driver, abi::Handle function, FunctionAttributes& attributes);

/// The error for a launch that the driver refused for lack of registers, shared memory or SMs. `cluster` in
/// CTAs.
EnvironmentError does_not_fit(std::string_view kernel, const FunctionAttributes& attributes,
                              std::size_t dynamic_shared, std::int64_t cluster);

}  // namespace wgrun::gpu
