// What launches in the CUDA context of the embedding program call of libcuda.so.1, besides gpu::Driver. They
// go to the driver in this process, whatever the engine's own launches do.
#pragma once

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

namespace abi {

/// CUstreamCaptureMode: what a thread may not do while a stream is captured. Relaxed: anything.
constexpr int capture_mode_relaxed = 2;

constexpr int link_input_ptx = 1;  // CUjitInputType

}  // namespace abi

/// A test may fill in its own.
struct HostDriver {
    const Driver* base = nullptr;
    abi::Result (*context_get_current)(abi::Handle* context);
    abi::Result (*context_get_device)(abi::DeviceOrdinal* device);
    /// A number that no other context of this process has had.
    abi::Result (*context_get_id)(abi::Handle context, unsigned long long* id);
    abi::Result (*context_push)(abi::Handle context);
    abi::Result (*context_pop)(abi::Handle* context);
    abi::Result (*exchange_capture_mode)(int* mode);
    abi::Result (*stream_is_capturing)(abi::Handle stream, int* status);
    abi::Result (*link_create)(unsigned count, abi::JitOption* options, void** values, abi::Handle* state);
    abi::Result (*link_add_data)(abi::Handle state, int type, void* data, std::size_t bytes, const char* name,
                                 unsigned count, abi::JitOption* options, void** values);
    abi::Result (*link_complete)(abi::Handle state, void** cubin, std::size_t* bytes);
    abi::Result (*link_destroy)(abi::Handle state);
};

/// The driver of this process, opened and started (cuInit) on the first call. Thread-safe. EnvironmentError
/// ENODEV with the reason when there is none.
const HostDriver& host_driver();

}  // namespace wgrun::gpu
