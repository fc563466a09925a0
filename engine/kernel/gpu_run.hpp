// A kernel on the GPU: compiled text, and launches with host tensors.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/device_copies.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Microseconds of each round.
struct GpuTimes {
    std::vector<double> kernel;
    std::vector<double> against;  ///< of cuBLAS, in alternating rounds, when it was asked for
};

/// Tensors and tensor maps on the device, and a launch that uses them.
class GpuLaunch {
  public:
    GpuLaunch(const gpu::Device& device, const gpu::Function& function, const Program& program,
              const RunOptions& options, Sharing sharing);
    GpuLaunch(GpuLaunch&&) noexcept;
    ~GpuLaunch();

    void start() const;
    void wait();
    void upload();
    void download();  ///< and waits first

  private:
    class Arguments;
    gpu::Device device_;
    std::chrono::milliseconds timeout_;
    std::unique_ptr<Arguments> arguments_;
    std::optional<gpu::Launch> launch_;
};

class GpuKernel {
  public:
    /// PTX through the driver's JIT; `lines` as in emit::Text. Throws what gpu::Module::from_ptx throws, a
    /// CompileError with its place in the script.
    static GpuKernel from_ptx(const std::string& ptx, std::span<const Where> lines, const Program& program);
    /// CUDA C++ through NVRTC. Throws what gpu::nvrtc_compile throws.
    static GpuKernel from_cuda(const std::string& cuda, const Program& program);

    /// What the assembler noted.
    const std::vector<Diagnostic>& findings() const { return findings_; }

    /// Uploads the tensors, but for results of other launches that the host has not fetched, and makes a
    /// launch ready.
    GpuLaunch prepare(const Program& program, const RunOptions& options, Sharing sharing);

    /// How many of its clusters run at a time.
    int resident_clusters(const Program& program) const;

    /// The tensors, in copies of their own, are uploaded once and not downloaded.
    GpuTimes time(const Program& program, const TimeOptions& options);

    /// True when the context that it was loaded into is gone.
    bool lost() const;

  private:
    GpuKernel(gpu::Device device, gpu::Module module, const std::string& name,
              std::vector<Diagnostic> findings);

    gpu::Device device_;
    gpu::Module module_;
    gpu::Function function_;
    std::vector<Diagnostic> findings_;
};

/// What ptxas (or, without it, the driver) says of the text; `lines` as in emit::Text. A CompileError carries
/// its place in the script.
AssemblyReport assemble_report(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               const std::atomic<bool>* stop);

}  // namespace wgrun
