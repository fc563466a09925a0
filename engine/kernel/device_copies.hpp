// Device copies of tensors, which the prepared launches of a process share.
#pragma once

#include <memory>

#include "wgrun/gpu.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {

/// A launch's own copy of a tensor, or the one of all launches that hold it at the time: then what one of
/// them writes the next one reads, as on the simulator, where launches work on the tensors themselves.
enum class Sharing { own, shared };

/// A tensor on the device.
struct DeviceCopy {
    std::shared_ptr<gpu::Buffer> buffer;
    bool fresh;  ///< nothing has been copied into it yet
};

/// Memory for the tensor on the device, uninitialised where it is fresh. The tensor must outlive it. Throws
/// what gpu::Buffer throws.
DeviceCopy device_copy(const gpu::Device& device, const Tensor& tensor, Sharing sharing);

}  // namespace wgrun
