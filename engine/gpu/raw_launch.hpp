// A launch in the driver's own terms.
#pragma once

#include <span>

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

abi::LaunchAttribute cluster_attribute(const Dim3& cluster);

/// What the driver wants to know of a launch; `attributes` must outlive it.
abi::LaunchConfig raw_config(const LaunchConfig& config, std::span<abi::LaunchAttribute, 2> attributes);

/// What the driver says of a loaded kernel; the first result that was no success.
abi::Result read_attributes(const Driver& driver, abi::Handle function, FunctionAttributes& attributes);

/// A launch that the driver refused for want of registers, shared memory or SMs. `cluster` in CTAs.
EnvironmentError does_not_fit(std::string_view kernel, const FunctionAttributes& attributes,
                              std::size_t dynamic_shared, std::int64_t cluster);

}  // namespace wgrun::gpu
