// Launches in the process, the CUDA context and the stream of the program that embeds the engine, with memory
// that is the program's own: device pointers on the GPU, host pointers on the simulator. Plain values.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Memory of the caller's, for a pointer parameter or a tensor map. What is said of it is checked against the
/// parameter; for a tensor map, and on the simulator, the shape must be there. The memory is contiguous,
/// row-major.
struct HostPointer {
    std::uint64_t address = 0;
    std::optional<Dtype> dtype{};        ///< the parameter's where it is absent
    std::optional<TensorShape> shape{};  ///< elements, the slowest extent first
    bool read_only = false;              ///< may be passed for a const parameter alone
};

/// A scalar parameter takes a number.
using HostArgument = std::variant<HostPointer, std::int64_t, double>;

struct HostLaunch {
    Dim3 grid;
    std::vector<HostArgument> args;
    /// gpu (PTX through the driver) or gpu_cuda (CUDA C++ through NVRTC); automatic is gpu.
    Backend backend = Backend::automatic;
    void* stream = nullptr;  ///< a CUstream or cudaStream_t of the context; null is the default stream
    /// A CUDA ordinal: its primary context is entered for the launch where the thread's context is not of
    /// that device. -1: the context that is current in the calling thread.
    int device = -1;
    bool unchecked = false;  ///< launch in spite of the static checker's errors
};

/// A launch on the simulator, with host pointers. The GPU's part of it is not looked at.
struct HostSimulation : HostLaunch {
    std::uint64_t seed = 0;                   ///< of the order in which threads run
    isa::Numerics numerics{};                 ///< how wgmma adds up
    const std::atomic<bool>* stop = nullptr;  ///< set from outside to interrupt
    SimulationLimits limits{};                ///< how long it may go on
};

}  // namespace wgrun

#pragma GCC visibility pop
