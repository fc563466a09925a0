// Device copies of tensors, which the prepared launches of a process share.
#pragma once

#include <atomic>
#include <memory>

#include "wgrun/gpu.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {

/// A launch's own copy of a tensor, or the one of all launches that hold it at the time: then what one of
/// them writes the next one reads, as on the simulator, where launches work on the tensors themselves.
enum class Sharing { own, shared };

/// A tensor on the device.
struct DeviceCopy {
    gpu::Buffer buffer;
    /// A launch that may write it has been started, and it has not been copied to or from the host since.
    std::atomic<bool> ahead = false;
};

/// Memory for the tensor on the device, uninitialised where no launch holds it yet. The tensor must outlive
/// it. Throws what gpu::Buffer throws.
std::shared_ptr<DeviceCopy> device_copy(const gpu::Device& device, const Tensor& tensor, Sharing sharing);

/// A tensor that a kernel gets, where it lies on the device. Bytes.
struct DeviceRange {
    std::string name;  ///< of the parameter
    std::uint64_t address = 0, bytes = 0;
};

/// The memory anew, in place of what was lost, for all that hold the copy.
void remake(const gpu::Device& device, const Tensor& tensor, DeviceCopy& copy);

}  // namespace wgrun
