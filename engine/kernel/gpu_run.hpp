// A kernel on the GPU: compiled text, and launches with host tensors.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/device_copies.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

class MessageBuffer;

/// Microseconds of each round.
struct GpuTimes {
    std::vector<double> kernel;
    std::vector<double> against;  ///< of cuBLAS, in alternating rounds, when it was asked for
};

/// Tensors and tensor maps on the device, and a launch that uses them. Made ready again by itself when the
/// worker process was lost: see Launch.
class GpuLaunch {
  public:
    /// Gives the kernel, loaded again where it was lost.
    using Reload = std::function<gpu::Function()>;

    /// The program and the tensors must outlive it.
    GpuLaunch(const gpu::Device& device, Reload function, const gpu::LaunchConfig& config,
              const Program& program, const RunOptions& options, Sharing sharing);
    GpuLaunch(GpuLaunch&&) noexcept;
    ~GpuLaunch();

    void start();
    void wait();
    void upload();
    void download();  ///< and waits first

    /// Where its threads leave what they say; null where they say nothing.
    MessageBuffer* messages();

    /// The tensors on the device. EnvironmentError EFAULT when they were lost.
    std::vector<DeviceRange> tensors() const;

  private:
    void restore();

    class Arguments;
    gpu::Device device_;
    Reload function_;
    gpu::LaunchConfig config_;
    std::chrono::milliseconds timeout_;
    const std::atomic<bool>* stop_;
    std::unique_ptr<Arguments> arguments_;
    std::optional<gpu::PreparedLaunch> launch_;
};

class GpuKernel {
  public:
    /// PTX through the driver's JIT; `lines` as in emit::Text. Throws what gpu::Module::from_ptx throws, a
    /// CompileError with its place in the script.
    static GpuKernel from_ptx(const std::string& ptx, std::span<const Where> lines, const Program& program,
                              gpu::Isolation isolation);
    /// What a text of somebody else says of a kernel.
    struct Entry {
        std::string name;
        bool tells_cluster = false;    ///< how many CTAs it has; else the launch decides
        bool counts_clusters = false;  ///< its launches count clusters, and not CTAs
    };
    /// As from_ptx, of a text that was not made from `program`, but the other way round: the launch gives it
    /// dynamic shared memory, and clusters.
    static GpuKernel from_text(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               Entry entry, gpu::Isolation isolation);
    /// PTX with .loc through ptxas, with its table of lines. Throws what gpu::ptxas_assemble throws.
    static GpuKernel from_lined_ptx(const std::string& ptx, const Program& program, gpu::Isolation isolation);
    /// CUDA C++ through NVRTC; `lines`: with its table of lines. Throws what gpu::nvrtc_compile throws.
    static GpuKernel from_cuda(const std::string& cuda, const Program& program, gpu::Isolation isolation,
                               bool lines = false);

    /// What the assembler noted.
    const std::vector<Diagnostic>& findings() const { return findings_; }

    /// The kernel, loaded again when the worker process was lost.
    const gpu::Function& function();

    /// Uploads the tensors, but for results of other launches that the host has not fetched, and makes a
    /// launch ready.
    static GpuLaunch prepare(std::shared_ptr<GpuKernel> kernel, const Program& program,
                             const RunOptions& options, Sharing sharing);

    /// How many of its clusters run at a time.
    int resident_clusters(const Program& program, std::optional<std::int64_t> dynamic_shared = {});

    /// The tensors, in copies of their own, are uploaded once and not downloaded.
    static GpuTimes time(std::shared_ptr<GpuKernel> kernel, const Program& program,
                         const TimeOptions& options);

  private:
    using Load = std::function<gpu::Module()>;
    GpuKernel(gpu::Device device, Load load, const std::string& name, std::vector<Diagnostic> findings,
              const gpu::Module& module);

    gpu::Device device_;
    Load load_;
    gpu::Function function_;
    std::vector<Diagnostic> findings_;
    std::optional<Entry> entry_{};  ///< of a text that somebody else has made
};

/// Of a text that somebody else has made: what a report on one of its kernels is about.
struct ForeignAssembly {
    std::string entry;                ///< its name in the text
    std::vector<std::string> others;  ///< the other kernels of the text
    std::vector<Where> calls;         ///< where it calls functions
    bool linked = false;              ///< it calls functions that the text only declares
};

/// What ptxas (or, without it, the driver) says of the text; `lines` as in emit::Text. A CompileError carries
/// its place in the script.
AssemblyReport assemble_report(const std::string& ptx, std::span<const Where> lines, const Program& program,
                               const std::atomic<bool>* stop, const ForeignAssembly& foreign = {});

}  // namespace wgrun
