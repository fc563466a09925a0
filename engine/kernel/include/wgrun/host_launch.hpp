// Launches in the process, the CUDA context and the stream of the program that embeds the engine, with the
// program's own memory: device pointers on the GPU, host pointers on the simulator. Plain values.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "wgrun/kernel.hpp"
#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The caller's memory, for a pointer parameter or a tensor map, contiguous and row-major. The
/// fields that are present are checked against the parameter; tensor maps and the simulator need the
/// shape.
struct HostPointer {
    std::uint64_t address = 0;
    std::optional<Dtype> dtype{};        ///< absent: the parameter's
    std::optional<TensorShape> shape{};  ///< elements, the slowest extent first
    bool read_only = false;              ///< may be passed only for a const parameter
};

/// One argument: a scalar parameter takes a number.
using HostArgument = std::variant<HostPointer, std::int64_t, double>;

struct HostLaunch {
    Dim3 grid;
    std::vector<HostArgument> args;
    /// gpu (PTX through the driver) or gpu_cuda (CUDA C++ through NVRTC); automatic is gpu.
    Backend backend = Backend::automatic;
    void* stream = nullptr;  ///< a CUstream or cudaStream_t of the context; null is the default stream
    /// A CUDA ordinal: the launch enters its primary context unless the thread's current context is of that
    /// device. -1: the current context of the calling thread.
    int device = -1;
    bool unchecked = false;  ///< launch in spite of the static checker's errors
    // As in RunOptions: of a kernel that was read from PTX. Its pointers are of the types of the memory that
    // is passed, and not tensor maps.
    std::optional<Dim3> block{}, cluster{};
    std::optional<std::int64_t> shared{};
};

/// A launch on the simulator, with host pointers. Fields for the GPU are ignored.
struct HostSimulation : HostLaunch {
    std::uint64_t seed = 0;                   ///< of the order in which warps run
    isa::Numerics numerics{};                 ///< how wgmma accumulates
    const std::atomic<bool>* stop = nullptr;  ///< set from outside to interrupt
    SimulationLimits limits{};                ///< how long it may go on
};

/// Such a launch for what takes RunOptions (timeline.hpp): the memory as tensors, which must outlive it.
struct HostRun {
    std::vector<Tensor> tensors;
    RunOptions options;  ///< refers to them
};

/// Throws ArgumentError for arguments that do not fit the kernel.
HostRun run_of(Kernel& kernel, const HostSimulation& launch);

}  // namespace wgrun

#pragma GCC visibility pop
