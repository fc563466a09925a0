// libcuda.so.1: opening it, the meaning of its errors, and its devices.
#pragma once

#include <string>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The driver, opened on the first call; `functions` is null when `part.missing` says why.
struct DriverLibrary {
    const Driver* functions = nullptr;
    Part part;
};
DriverLibrary find_driver();

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
std::string error_text(const Driver& driver, abi::Result result);

/// Throws what a negative result means: EnvironmentError EFAULT or ETIMEDOUT for a worker process that is
/// gone, Error EINTR after an interrupt. `doing` completes "while ...".
void throw_worker_trouble(const Driver& driver, abi::Result result, std::string_view doing);

/// Whether every later call in this context fails the same way, since a kernel faulted.
bool is_sticky(abi::Result result);

/// The fix for a kernel that failed this way.
std::string fault_advice(abi::Result result);

/// The results of cuInit and the list of devices. Throws what throw_worker_trouble does. `chosen` is the
/// index of the first sm_90 device; without one, why_none.
struct DeviceList {
    std::vector<DeviceInfo> devices;
    std::optional<std::size_t> chosen;
    std::string why_none;
};
DeviceList list_devices(const Driver& driver);

}  // namespace wgrun::gpu
