// A kernel: a program, and what can be done with it. Check it, print it, run it, time it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"
#include "wgrun/simulation_limits.hpp"
#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

namespace gpu {
class HostContext;
}
namespace sim {
class Observer;
}

/// Where a kernel runs. `automatic` is the GPU where an sm_90 device is there, else the simulator.
enum class Backend : std::uint8_t { automatic, gpu, gpu_cuda, sim };

std::string_view to_string(Backend backend);
/// "auto", "gpu", "gpu-cuda" or "sim"; throws ArgumentError otherwise.
Backend backend_named(std::string_view name);
/// What `automatic` stands for on this machine, and why.
struct BackendChoice {
    Backend backend;
    std::string why;  ///< "NVIDIA H200, driver 580.159" or "no libcuda.so.1: ..."
};
BackendChoice choose_backend(Backend asked, gpu::Isolation isolation = gpu::Isolation::worker);

/// "exact" or "h200"; throws ArgumentError otherwise.
isa::Numerics numerics_named(std::string_view name);

class DeviceTensor;

/// One argument: a tensor for a pointer parameter (read and written in place), a number for a scalar one.
using Argument = std::variant<Tensor*, std::int64_t, double, DeviceTensor*>;

/// A plain value. The tensors are used until the call that takes it returns, those of a Launch as long as it
/// lives; `stop` may be set from any thread.
struct RunOptions {
    Dim3 grid;
    std::vector<Argument> args;
    Backend backend = Backend::automatic;
    std::uint64_t seed = 0;                             ///< of the simulator's scheduler
    isa::Numerics numerics;                             ///< how the simulator's wgmma adds up
    bool unchecked = false;                             ///< run in spite of the static checker's errors
    std::chrono::milliseconds timeout{10000};           ///< of the GPU
    SimulationLimits simulation{};                      ///< of the simulator; none unless given
    const std::atomic<bool>* stop = nullptr;            ///< set from outside to interrupt
    gpu::Isolation isolation = gpu::Isolation::worker;  ///< where the GPU's driver is
    /// Gets the lines of k:print, when the kernel has ended. Empty: standard output does.
    std::function<void(std::string_view)> print{};
    /// Runs the guarded build on the GPU: no wait may take longer than a quarter of the time limit, and who
    /// waits longer is named (docs/hangs.md).
    bool guarded = false;
    /// The machine code names the script's lines, for profilers and debuggers (docs/debugging.md). PTX needs
    /// ptxas for that.
    bool lines = false;
    /// Looks on at every step of the simulator. Null: nobody does.
    sim::Observer* observer = nullptr;
};

class Cublas;
enum class Sharing;
struct HostLaunch;
struct HostSimulation;

struct TimeOptions : RunOptions {
    int rounds = 20;
    double flops = 0;  ///< floating-point operations of one launch, for tflops
    const Cublas* against =
        nullptr;  ///< timed in alternating rounds, for a comparison that clocks and heat do not spoil
};

struct Timing {
    double median_us = 0, min_us = 0, max_us = 0;
    double tflops = 0;  ///< 0 when flops was not given
    int rounds = 0;
    Backend backend = Backend::gpu;
    std::shared_ptr<Timing> against;  ///< of cuBLAS
};

/// What the assembler says of a kernel.
struct AssemblyReport {
    int registers = 0, spill_stores = 0, spill_loads = 0;  ///< per thread; bytes of spills
    int estimated = 0;  ///< registers per thread that the program's values fill at least
    std::int64_t static_shared = 0, dynamic_shared = 0;  ///< bytes
    std::vector<std::string> notes;                      ///< C75xx lines
    std::vector<Diagnostic> findings;                    ///< the notes at lines of the script: WG-PERF
    std::string assembler;                               ///< "ptxas 13.0.88", "driver JIT"
};

/// What makes machine code: a ptxas process, the driver's JIT (of PTX), or NVRTC (of CUDA C++).
enum class Assembler : std::uint8_t { any, ptxas, driver, nvrtc };

/// A launch made ready once, for many starts: its arguments are checked, its tensors and tensor maps are on
/// the device. The tensors must outlive it. Launches that live at the same time share the device copies of
/// the tensors that they share: what one writes, the next one reads. Each prepare copies the tensors to the
/// device, but for those that a launch has been started to write and that have not been downloaded since.
/// run() and time() work on copies of their own. For one thread at a time; several launches may be used by
/// several threads, but for tensors that both write.
class Launch {
  public:
    Launch(Launch&&) noexcept;
    Launch& operator=(Launch&&) noexcept;
    ~Launch();

    Backend backend() const;

    /// Starts the kernel. The GPU's default stream gets it, nothing is allocated, and nothing waited for but
    /// room in the queue. The simulator runs it to its end, on the tensors themselves, and throws CheckError
    /// on findings.
    ///
    /// After another kernel has taken the worker process down, the first start makes everything ready again,
    /// with the tensors as the host has them. If launches had been started to write into them, and nobody had
    /// downloaded that, it says so instead, once: EnvironmentError EFAULT, with the names of the parameters.
    void start();
    /// Waits for what was started. EnvironmentError: EFAULT, ETIMEDOUT.
    void wait();
    /// Waits, and copies the tensors to the device once more, whatever launches have written there.
    void upload();
    /// Waits, and copies the tensors back that the kernel may write.
    void download();

  private:
    friend class Kernel;
    struct State;
    explicit Launch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A program with what has been made of it so far: findings, texts, machine code. Nearly every member adds to
/// them, so a kernel is for one thread at a time; different kernels are independent of each other.
class Kernel {
  public:
    explicit Kernel(Program program);
    Kernel(Kernel&&) noexcept;
    Kernel& operator=(Kernel&&) noexcept;
    ~Kernel();

    const Program& program() const { return *program_; }

    /// Every finding of the static checker, in the order of the script.
    const std::vector<Diagnostic>& check();

    /// Adds to check() what a launch with these options breaks, for tools that check a script without running
    /// it. Options that fit no launch add nothing.
    void foresee(const RunOptions& options);

    /// check() and, where that found no error, what a launch with this grid and these integers breaks.
    /// ArgumentError where they fit no launch; what is said of memory is not looked at.
    std::vector<Diagnostic> check(const HostLaunch& launch);

    /// What the static checker knows to be slower than it need be: WG-PERF-05.
    std::vector<Diagnostic> performance() const;

    /// PTX and CUDA C++ text. Throws CheckError when the checker found an error.
    const std::string& ptx();
    const std::string& cuda();

    /// The PTX with .file and .loc, and the CUDA C++ with #line, which name the script's lines to assemblers,
    /// profilers and debuggers.
    const std::string& ptx_with_lines();
    const std::string& cuda_with_lines();

    /// The same of the guarded build, which has a time limit in every wait and loop and says who waits where
    /// (docs/hangs.md).
    const std::string& guarded_ptx();
    const std::string& guarded_cuda();

    /// Machine code for sm_90a with this kernel, made by the assembler that is asked for, or the first that
    /// is here. CheckError; gpu::CompileError; EnvironmentError ENOENT or ENODEV when it is not here.
    std::vector<std::byte> cubin(Assembler assembler);

    /// Assembles the PTX with ptxas, or with the driver where there is none. Throws CompileError when it is
    /// refused, other EnvironmentErrors when neither is here, ptxas does not end (ETIMEDOUT) or `stop` was
    /// raised (EINTR).
    AssemblyReport report(const std::atomic<bool>* stop = nullptr);

    /// What the GPU's assembler had to say when run() or time() compiled the kernel: the findings since the
    /// last call.
    std::vector<Diagnostic> take_remarks();

    /// Runs the kernel and waits for it. Arguments are checked against the parameters first. Throws
    /// CheckError on findings (static ones on every back end, dynamic ones on the simulator),
    /// EnvironmentError on the GPU's. Returns the back end that ran it.
    Backend run(const RunOptions& options);

    /// Everything of run() but the start. Throws what run throws before it starts the kernel.
    Launch prepare(const RunOptions& options);

    Timing time(const TimeOptions& options);

    /// Starts the kernel in the caller's CUDA context and stream, with the caller's memory (host_launch.hpp).
    /// Waits for nothing, resets nothing, allocates nothing on the device but, once for each context, the
    /// kernel's code; while a stream is captured it becomes part of the graph. The static check is made once,
    /// and what it says of a launch once for each grid and integers. Throws CheckError, ArgumentError,
    /// gpu::CompileError; EnvironmentError ENODEV (no driver, no current context, no sm_90), EFAULT (the
    /// driver refuses).
    void launch(const HostLaunch& launch);

    /// Runs the kernel on the simulator, to its end, with the caller's host memory. Throws CheckError on
    /// findings, those of the run too; ArgumentError.
    void simulate(const HostSimulation& launch);

    /// Everything of launch() that takes long: checks, compiles, and loads the code into that context.
    /// `device` as in HostLaunch.
    void load(Backend backend, int device);

    /// As resident_clusters(), of the device of that context.
    int resident_clusters(Backend backend, int device);

    /// How many clusters (of one CTA, where the kernel has none) the GPU runs at a time: what a grid of
    /// persistent CTAs should not exceed. Compiles the kernel; nothing where there is no GPU. Throws what
    /// ptx() throws, and what the GPU's compiler does.
    std::optional<int> resident_clusters(gpu::Isolation isolation = gpu::Isolation::worker);

  private:
    struct Compiled;
    struct Hosted;
    Hosted& hosted(Backend backend, bool unchecked);
    void foresee(const HostLaunch& launch, Hosted& hosted);
    void load(Hosted& hosted, const gpu::HostContext& context);
    Backend admitted(const RunOptions& options);
    Launch launch_of(const RunOptions& options, Sharing sharing);
    const Program& spoken();
    const std::string& emitted_ptx();
    const std::string& emitted_cuda();
    std::shared_ptr<Compiled> compiled(Backend backend, gpu::Isolation isolation, bool lines = false);
    void check_launch(const RunOptions& options);

    std::shared_ptr<const Program> program_;  // with the launches that were prepared
    std::optional<std::vector<Diagnostic>> findings_;
    std::optional<std::pair<Dim3, std::vector<std::int64_t>>> launched_;  ///< sizes found to be right
    std::shared_ptr<const Program> spoken_;  ///< what the GPU runs, where threads say something
    std::string ptx_, cuda_, guarded_ptx_, guarded_cuda_, lined_ptx_, lined_cuda_;
    std::vector<Where> ptx_lines_;
    std::vector<Diagnostic> remarks_;
    std::map<std::tuple<Backend, gpu::Isolation, bool>, std::shared_ptr<Compiled>> compiled_;
    std::map<Backend, std::shared_ptr<Hosted>> hosted_;
};

/// cuBLASLt as a yardstick: D = A * B with f32 accumulation, the fastest of the algorithms that its heuristic
/// proposes. The tensors must outlive it. For one thread at a time.
class Cublas {
  public:
    /// A is m x k, B is k x n, D is m x n; a K-major operand has rows of k elements in memory, an MN-major
    /// one k rows. bf16 or f16 and D of the same dtype or f32; tf32 and D of f32; e4m3 or e5m2 and D of bf16;
    /// s8 and D of s32. ArgumentError for others; EnvironmentError ENOENT without libcublasLt, ENODEV without
    /// a GPU.
    Cublas(const Tensor& a, Major a_major, const Tensor& b, Major b_major, Tensor& d,
           gpu::Isolation isolation = gpu::Isolation::worker);
    Cublas(Cublas&&) noexcept;
    Cublas& operator=(Cublas&&) noexcept;
    ~Cublas();

    void run();  ///< and fills D
    Timing time(int rounds);
    void start() const;    ///< on the default stream; does not wait
    double flops() const;  ///< of one product

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The checker or the simulator found errors. finding() is the first; findings() are all.
class CheckError : public Error {
  public:
    explicit CheckError(std::vector<Diagnostic> findings);
    const std::vector<Diagnostic>& findings() const { return findings_; }

  private:
    std::vector<Diagnostic> findings_;
};

}  // namespace wgrun

#pragma GCC visibility pop
