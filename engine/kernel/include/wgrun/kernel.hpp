// A kernel: a program that can be checked, printed, run and timed.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wgrun/assumptions.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"
#include "wgrun/simulation_limits.hpp"
#include "wgrun/tensor.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::sim {
class Observer;  // hidden: it is declared here so that it is not shown by the following
}

#pragma GCC visibility push(default)

namespace wgrun {

/// Where a kernel runs. `automatic` is the GPU if there is an sm_90 device, else the simulator.
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

class Coverage;  // coverage.hpp
class DeviceTensor;

/// A place in a tensor, passed as a pointer; or a tensor map of it, made at the launch. For kernels that were
/// read from PTX (foreign.hpp), which declare no boxes.
struct TensorView {
    std::variant<Tensor*, DeviceTensor*> tensor;
    std::int64_t offset = 0;            ///< bytes from the tensor's first element
    std::optional<TensorBox> box = {};  ///< of a tensor map; nothing: a pointer
    /// The tensor as the map describes it: elements, dimension 0 contiguous; and the bytes from one element
    /// to the next along dimensions 1 and up.
    std::vector<std::int64_t> extents = {}, strides = {};
};

/// Gives a view of a tensor map its extents from the tensor's shape, and strides without gaps, where it has
/// none. Throws ArgumentError for elements of less than a byte, and for a tensor that no address reaches.
void complete_map(TensorView& view);

/// A structure that is passed by value. Bytes that no part gives are 0.
struct Structure {
    struct Part {
        std::int64_t offset = 0;  ///< bytes
        std::variant<TensorView, std::vector<std::byte>> value;
    };
    std::int64_t bytes = 0;
    std::vector<Part> parts;
};

/// One argument: a tensor for a pointer parameter (used in place), a number for a scalar one.
using Argument = std::variant<Tensor*, std::int64_t, double, DeviceTensor*, TensorView, Structure>;

/// Options of a run. The tensors must live until the call returns, and those of a Launch as long as the
/// Launch; `stop` may be set from any thread.
struct RunOptions {
    Dim3 grid;
    std::vector<Argument> args;
    /// Arguments of further devices, which run the same grid at the same time and reach each other's tensors:
    /// on the simulator alone.
    std::vector<std::vector<Argument>> further_devices{};
    Backend backend = Backend::automatic;
    std::uint64_t seed = 0;                             ///< of the simulator's scheduler
    isa::Numerics numerics;                             ///< how the simulator's wgmma accumulates
    bool unchecked = false;                             ///< run in spite of the static checker's errors
    std::chrono::milliseconds timeout{10000};           ///< of the GPU
    SimulationLimits simulation{};                      ///< of the simulator; none by default
    const std::atomic<bool>* stop = nullptr;            ///< set from outside to interrupt
    gpu::Isolation isolation = gpu::Isolation::worker;  ///< where the GPU's driver is
    /// Receives the lines of k:print when the kernel has ended. Empty: they go to standard output.
    std::function<void(std::string_view)> print{};
    /// Runs the guarded build on the GPU: no wait may take longer than a quarter of the time limit, and a
    /// thread that waits longer is reported (docs/hangs.md).
    bool guarded = false;
    /// The machine code has line information of the script, for profilers and debuggers (docs/debugging.md).
    /// PTX needs ptxas for that.
    bool lines = false;
    /// Is called at every step of the simulator. Null: no observer.
    sim::Observer* observer = nullptr;
    /// Is told which instructions launches on the simulator execute. Null: nobody asks.
    Coverage* coverage = nullptr;
    // Of a kernel that was read from PTX, whose text may leave them to the launch: the threads of a CTA, the
    // CTAs of a cluster, and the bytes of dynamic shared memory.
    std::optional<Dim3> block{}, cluster{};
    std::optional<std::int64_t> shared{};
};

class Cublas;
class ForeignEntry;
struct HostLaunch;
struct HostSimulation;

struct TimeOptions : RunOptions {
    int rounds = 20;
    double flops = 0;  ///< floating-point operations of one launch, for tflops
    const Cublas* against =
        nullptr;  ///< timed in alternating rounds, so that clocks and heat affect both alike
};

struct Timing {
    double median_us = 0, min_us = 0, max_us = 0;
    double tflops = 0;  ///< 0 when flops was not given
    int rounds = 0;
    Backend backend = Backend::gpu;
    std::shared_ptr<Timing> against;  ///< of cuBLAS
};

/// The assembler's report on a kernel.
struct AssemblyReport {
    int registers = 0, spill_stores = 0, spill_loads = 0;  ///< a thread's; spills in bytes
    int estimated = 0;  ///< lower bound of the registers per thread that the program's values need
    std::int64_t static_shared = 0, dynamic_shared = 0;  ///< bytes
    std::vector<std::string> notes;                      ///< C75xx lines
    std::vector<Diagnostic> findings;                    ///< the notes as WG-PERF findings
    std::string assembler;                               ///< "ptxas 13.0.88", "driver JIT"
};

/// Where the launch of a finding is made again.
struct ReplayOptions {
    Backend backend = Backend::sim;  ///< automatic: the GPU if there is one
    gpu::Isolation isolation = gpu::Isolation::worker;
    std::chrono::milliseconds timeout{2000};  ///< of the GPU
    const std::atomic<bool>* stop = nullptr;
};

/// What makes machine code: ptxas, the driver's JIT (of PTX), NVRTC (of CUDA C++); any: the first available.
enum class Assembler : std::uint8_t { any, ptxas, driver, nvrtc };

/// A launch that is prepared once and started many times: its arguments are checked, its tensors and tensor
/// maps are on the device. The tensors must outlive it. Launches that live at the same time share the device
/// copy of a common tensor: what one writes, the next one reads. Each prepare copies the tensors to the
/// device, except those that a started launch writes and that were not downloaded since. run() and time()
/// work on copies of their own. For one thread at a time; different threads may use different launches,
/// unless both write the same tensor.
class Launch {
  public:
    Launch(Launch&&) noexcept;
    Launch& operator=(Launch&&) noexcept;
    ~Launch();

    Backend backend() const;

    /// Starts the kernel. On the GPU it goes to the default stream; nothing is allocated, and the call waits
    /// for nothing but room in the queue. The simulator runs it to its end, on the tensors themselves, and
    /// throws CheckError on findings. There, too, launches that were started and not waited for may overlap
    /// where the kernels say so (griddepcontrol): what they access is compared (WG-RACE-05).
    ///
    /// After another kernel has brought the worker process down, the first start prepares everything again,
    /// with the tensors as the host has them. If launches had written to them and that was not downloaded,
    /// the first start instead throws EnvironmentError EFAULT with the names of the parameters, once.
    void start();
    /// Waits for what was started. Throws EnvironmentError EFAULT or ETIMEDOUT.
    void wait();
    /// Waits, and copies the tensors to the device again, over what launches have written there.
    void upload();
    /// Waits, and copies back the tensors that the kernel may write.
    void download();
    /// Returns the warnings of the runs on the simulator that start() has made since the last call.
    std::vector<Diagnostic> take_remarks();

  private:
    friend class Kernel;
    struct State;
    explicit Launch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A program with what was derived from it so far: findings, text, machine code. Nearly every member adds to
/// them, so a kernel is for one thread at a time; different kernels are independent.
class Kernel {
  public:
    explicit Kernel(Program program);
    /// A kernel that was read from PTX: ForeignModule::kernel.
    explicit Kernel(std::shared_ptr<const ForeignEntry> origin);
    Kernel(Kernel&&) noexcept;
    Kernel& operator=(Kernel&&) noexcept;
    ~Kernel();

    const Program& program() const;

    /// Takes from a launch what the text of a kernel that was read from PTX leaves open: program() has those
    /// threads, clusters, shared memory, dtypes and boxes from then on, and check() what follows from them.
    /// Throws ArgumentError for what contradicts the text. run(), prepare() and time() do it by themselves;
    /// debug(), timeline_of() and profile_of() are called after it.
    void fit(const RunOptions& options);

    /// Of a kernel that was read from PTX: what starts it besides its text, as the last launch gave it.
    struct TextLaunch {
        std::string entry;                ///< its name in the text
        std::string version;              ///< of PTX, "8.0"
        std::int64_t dynamic_shared = 0;  ///< bytes; what the text declares with a size is not among them
    };
    /// Returns nothing for a script's kernel. Throws ArgumentError where the text leaves open what no launch
    /// has told, and for clusters that the text does not have.
    std::optional<TextLaunch> text_launch();

    /// Every finding of the static checker, in the order of the script. Of a kernel that was read from PTX,
    /// for the last launch that fit() was given, and each that foresee() was.
    const std::vector<Diagnostic>& check();

    /// What check() amounts to: for each property whether it is proved for every launch, refuted or
    /// undecided. Takes longer than check(), at most some seconds. What the proof finds is added to check().
    /// Of a script's kernel `given` may not have threads and clusters, which are its own; those of a text are
    /// given by fit() and foresee(), and what is proved is proved for all launches that check() is about.
    /// Throws ArgumentError for what no launch can have, EnvironmentError EINTR.
    std::vector<Verdict> verdicts(const Assumptions& given = {});

    /// Adds the findings of a launch with these options to check(), for tools that check a script without
    /// running it. Throws ArgumentError if they fit no launch.
    void foresee(const RunOptions& options);

    /// check() and, if that found no error, the findings of a launch with this grid and these integers.
    /// Throws ArgumentError if they fit no launch; memory arguments are ignored.
    std::vector<Diagnostic> check(const HostLaunch& launch);

    /// Runs the launch that a finding names, of `by` wgrun, and returns what it breaks. The simulator tries
    /// several schedules, beginning with the launch's, and takes the first that shows `rule`. A GPU then
    /// runs the guarded build, which shows what hangs (docs/hangs.md). Throws ArgumentError where it is no
    /// launch of the kernel and, for a GPU, where memory or boxes decide that the finding does not name;
    /// EnvironmentError on the GPU's, but for a kernel that hangs or
    /// faults.
    std::vector<Diagnostic> replay(const FoundIn& launch, std::string_view rule,
                                   const ReplayOptions& how = {});

    /// What the static checker knows to be slower than necessary: WG-PERF-05.
    std::vector<Diagnostic> performance() const;

    /// PTX and CUDA C++ text. Throws CheckError when the checker found an error.
    const std::string& ptx();
    const std::string& cuda();

    /// For each line of ptx() and of cuda() the line of the script that it came from, or no place; of a
    /// kernel that was read from PTX, each line of that is itself. Throws as those do.
    const std::vector<Where>& ptx_lines();
    const std::vector<Where>& cuda_lines();

    /// The PTX with .file and .loc, and the CUDA C++ with #line, which refer assemblers, profilers and
    /// debuggers to the script's lines.
    const std::string& ptx_with_lines();
    const std::string& cuda_with_lines();

    /// The same for the guarded build, which has a time limit in every wait and loop and reports which
    /// threads wait where (docs/hangs.md).
    const std::string& guarded_ptx();
    const std::string& guarded_cuda();

    /// Machine code for sm_90a with this kernel, made by `assembler`. Throws CheckError; gpu::CompileError;
    /// EnvironmentError ENOENT or ENODEV if the assembler is not available.
    std::vector<std::byte> cubin(Assembler assembler);

    /// Assembles the PTX with ptxas, or with the driver if there is none. Throws CompileError if it is
    /// rejected, other EnvironmentErrors if neither is available, ptxas does not end (ETIMEDOUT) or `stop`
    /// was set (EINTR).
    AssemblyReport report(const std::atomic<bool>* stop = nullptr);

    /// The assembler's findings from when run() or time() compiled the kernel, since the last
    /// call.
    std::vector<Diagnostic> take_remarks();

    /// Runs the kernel and waits for it. Arguments are checked against the parameters first. Throws
    /// CheckError on findings (static ones on every back end, dynamic ones on the simulator),
    /// EnvironmentError on the GPU's. Returns the back end that ran it.
    Backend run(const RunOptions& options);

    /// Does everything of run() but the start. Throws what run throws before it starts the kernel.
    Launch prepare(const RunOptions& options);

    Timing time(const TimeOptions& options);

    /// Starts the kernel in the caller's CUDA context and stream, with the caller's memory (host_launch.hpp).
    /// Waits for nothing, resets nothing, and allocates nothing on the device but the kernel's code, once per
    /// context; while the stream is captured, the launch becomes part of the graph. The static check is made
    /// once, and that of a launch once for each grid and its integers. Throws CheckError, ArgumentError,
    /// gpu::CompileError; EnvironmentError ENODEV (no driver, no current context, no sm_90), EFAULT (the
    /// driver refuses).
    void launch(const HostLaunch& launch);

    /// Runs the kernel on the simulator, to its end, with the caller's host memory. Throws CheckError on
    /// findings, also of the run; ArgumentError.
    void simulate(const HostSimulation& launch);

    /// Does the slow part of launch() ahead: checks, compiles, and loads the code into the context. `device`
    /// as in HostLaunch.
    void load(Backend backend, int device);

    /// As resident_clusters() below, for the device of that context.
    int resident_clusters(Backend backend, int device);

    /// How many clusters (of one CTA, if the kernel has none) the GPU runs at a time: the largest useful grid
    /// of persistent CTAs. Compiles the kernel; returns nothing without a GPU. Throws what ptx() and the
    /// GPU's compiler throw.
    std::optional<int> resident_clusters(gpu::Isolation isolation = gpu::Isolation::worker);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// cuBLASLt as a baseline: D = A * B with f32 accumulation, the fastest of the algorithms that its heuristic
/// proposes. The tensors must outlive it. For one thread at a time.
class Cublas {
  public:
    /// A is m x k, B is k x n, D is m x n; a K-major operand has rows of k elements in memory, an MN-major
    /// one k rows. bf16 or f16 with D of the same dtype or f32; tf32 with D of f32; e4m3 or e5m2 with D of
    /// bf16; s8 with D of s32. Throws ArgumentError for others; EnvironmentError ENOENT without libcublasLt,
    /// ENODEV without a GPU.
    Cublas(const Tensor& a, Major a_major, const Tensor& b, Major b_major, Tensor& d,
           gpu::Isolation isolation = gpu::Isolation::worker);
    Cublas(Cublas&&) noexcept;
    Cublas& operator=(Cublas&&) noexcept;
    ~Cublas();

    void run();  ///< computes D and waits
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
