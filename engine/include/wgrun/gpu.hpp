// The GPU: what is there, compiling text to machine code, memory, launches, waiting and timing.
//
// CUDA's driver, NVRTC and cuBLAS are opened at run time and `ptxas` is a process, so a program that links
// this starts on a machine with none of them. WGRUN_CUDA=off makes it behave as on such a machine.
//
// The driver works in a worker process or in this one (Isolation). Work is asynchronous and runs in order on
// the default stream. Whatever waits does so with a time limit (Patience). A kernel that faults or hangs
// costs the worker: what was made before (buffers, modules) says that it is lost, and the next ones work, in
// a new worker. In this process a fault ends the use of the GPU for good, and a hang for as long as it lasts:
// docs/runtime.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/target.hpp"

namespace wgrun::gpu {

// The engine's own.
struct Driver;  // the functions of libcuda.so.1 (engine/gpu/driver.hpp)
class Context;  // engine/gpu/context.hpp

}  // namespace wgrun::gpu

#pragma GCC visibility push(default)

namespace wgrun::gpu {

// ---- What is here
// ------------------------------------------------------------------------------------------

/// Facts of one CUDA device. Sizes in bytes; driver_version as CUDA counts it (13000 is CUDA 13.0).
struct DeviceInfo {
    std::string name;
    int ordinal = 0;
    int major = 0;  ///< compute capability: 9.0 is Hopper
    int minor = 0;
    int sm_count = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
    std::size_t shared_bytes = 0;  ///< the most shared memory that one CTA may have
    int driver_version = 0;
};

/// A library or program: where it is and its version, or why it is missing.
struct Part {
    std::string path;
    std::string version;
    std::string missing;  ///< the reason; empty when it was found

    explicit operator bool() const { return missing.empty(); }
};

/// The cache on disk. `missing` says why nothing is cached (switched off, folder not writable).
struct CacheInfo {
    std::string folder;
    std::uint64_t bytes = 0;
    std::uint64_t limit = 0;
    std::size_t entries = 0;
    std::string missing;
};

/// Everything that decides what can be compiled and run on this machine.
struct Report {
    Part driver;
    std::vector<DeviceInfo> devices;  ///< all of them, also those that are not sm_90
    std::string no_device;            ///< why nothing can be launched; empty when something can
    Part nvrtc;
    Part ptxas;
    Part cublas;
    Part worker;  ///< the program of worker processes; without one kernels run in this process
    CacheInfo cache;
};

/// Looks at the machine; creates no context and never throws for what is missing.
Report doctor();

// ---- Compiling
// ---------------------------------------------------------------------------------------------

/// One line that the assembler (ptxas, the driver's JIT) or NVRTC said about the text.
struct AssemblerNote {
    Severity severity = Severity::note;
    std::string code;      ///< "C7519" where the line carries one
    int line = 0;          ///< line of the text, 0 when unknown
    std::string function;  ///< the kernel, when the line names it
    std::string message;
};

/// What the assembler says of one kernel. Sizes in bytes (a thread's, shared_bytes a CTA's).
struct FunctionReport {
    std::string name;
    int registers = 0;
    int barriers = 0;
    std::size_t stack_bytes = 0;
    std::size_t spill_store_bytes = 0;
    std::size_t spill_load_bytes = 0;
    std::size_t shared_bytes = 0;  ///< static shared memory
};

/// A log, parsed; `text` is all of it.
struct AssemblerLog {
    std::vector<AssemblerNote> notes;
    std::vector<FunctionReport> functions;
    std::string text;
};

/// Parses the output of `ptxas -v`, the driver's JIT or NVRTC; lines in other forms are kept in `text` alone.
AssemblerLog parse_log(std::string_view text);

/// The text does not compile. Code ECOMPILE; the message is the first error, log() has them all.
class CompileError : public EnvironmentError {
  public:
    CompileError(const std::string& compiler, AssemblerLog log);
    const AssemblerLog& log() const { return log_; }

  private:
    AssemblerLog log_;
};

/// Machine code for sm_90a.
struct Cubin {
    std::vector<std::byte> image;
    AssemblerLog log;
    bool cached = false;  ///< came from the cache on disk
};

/// CUDA C++ to machine code through NVRTC (--gpu-architecture=sm_90a, C++17, ptxas -v), cached on disk.
/// `options` go to NVRTC as they are. In a process of its own where there is a program for workers (see
/// set_worker_program). CompileError; EnvironmentError ENOENT without NVRTC, and of that process EINTR when
/// the stop of this thread's Patience was raised, ETIMEDOUT after ten minutes, EFAULT when it ends without an
/// answer.
Cubin nvrtc_compile(std::string_view cuda_text, std::span<const std::string> options = {});

/// PTX to machine code through a ptxas process (-arch=sm_90a -v), cached on disk. Needs no GPU.
/// CompileError; EnvironmentError ENOENT without ptxas, ETIMEDOUT when it does not end in time, EINTR when
/// `stop` was raised.
Cubin ptxas_assemble(std::string_view ptx, std::span<const std::string> options = {},
                     std::chrono::milliseconds timeout = std::chrono::seconds(60),
                     const std::atomic<bool>* stop = nullptr);

// ---- The device
// --------------------------------------------------------------------------------------------

/// Where the driver, its context and what kernels break live.
enum class Isolation : std::uint8_t {
    worker,   ///< in a process of its own, which a kernel that faults or hangs takes down, and nothing else
    process,  ///< in this process: for those who bring device pointers, streams or a context of their own
};

std::string_view to_string(Isolation isolation);
/// "worker" or "process"; ArgumentError otherwise.
Isolation isolation_named(std::string_view name);

/// Says that `path` is this program and calls worker_main() first: workers are then made of it, instead of
/// the wgrun that is looked for (WGRUN_WORKER; beside this library; in the bin folder of its prefix).
/// Thread-safe.
void set_worker_program(std::string path);

/// To be called at the beginning of main() by a program that set_worker_program names. Serves the parent when
/// the arguments say that this is a worker, and gives an exit code when that fails; else nothing.
std::optional<int> worker_main(int argc, char** argv);

/// How long this thread waits for the device until the end of the scope: for what was started, a copy, a full
/// queue. Without one: 10 s. Scopes nest. What happens once the time is over, or `stop` raised, is the same
/// as after a fault: EnvironmentError ETIMEDOUT, or Error EINTR, and the worker is given up.
class Patience {
  public:
    struct Limits {
        std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< 0: for ever
        const std::atomic<bool>* stop = nullptr;                       ///< raised from outside to interrupt
    };

    /// Without `stop` that of the scope around. ArgumentError for a negative timeout.
    explicit Patience(std::chrono::milliseconds timeout, const std::atomic<bool>* stop = nullptr);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    /// Of the innermost scope of this thread.
    static const Limits& current();

  private:
    Limits limits_;
    const Limits* outer_;
};

/// A kernel has ended the use of the device: one that did not end in time (ETIMEDOUT) or that faulted
/// (EFAULT).
class KernelFailure : public EnvironmentError {
  public:
    KernelFailure(std::string code, std::string message, std::string fix, std::vector<std::string> kernels,
                  bool in_worker)
        : EnvironmentError(std::move(code), std::move(message), std::move(fix)),
          kernels_(std::move(kernels)),
          in_worker_(in_worker) {}
    /// Those that may have been running.
    const std::vector<std::string>& kernels() const { return kernels_; }
    /// It has cost a worker process; else the device is lost to this process.
    bool in_worker() const { return in_worker_; }

  private:
    std::vector<std::string> kernels_;
    bool in_worker_;
};

/// The first sm_90 device and its primary context: a small handle, free to copy, usable from any thread.
class Device {
  public:
    /// The device as this process or its worker has it; its context is made on the first call (about 0.3 s).
    /// Where there is no program for a worker it is that of this process. EnvironmentError ENODEV with the
    /// reason: no libcuda.so.1, what cuInit says, no sm_90 device.
    static Device get(Isolation isolation = Isolation::worker);

    /// Why get() would fail; nothing when it would work. Makes no context.
    static std::optional<std::string> unavailable(Isolation isolation = Isolation::worker);

    /// Device memory that buffers hold now, in bytes, over all that get() has given.
    static std::size_t held_bytes();

    /// A device behind another table of driver functions, for tests.
    explicit Device(const Driver& driver);

    const DeviceInfo& info() const;

    /// Bytes of device memory that are free now.
    std::size_t free_bytes() const;

    /// Waits until all work on the default stream is done, as long as the thread's Patience has it.
    /// EnvironmentError ETIMEDOUT for a kernel that does not end, EFAULT with CUDA's error name for one that
    /// failed.
    void wait() const;

    Context& context() const { return *context_; }
    const std::shared_ptr<Context>& shared() const { return context_; }

  private:
    explicit Device(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    std::shared_ptr<Context> context_;
};

/// Memory of this process that kernels can read and write where it is, over the bus. What a kernel has
/// written (and fenced for the system) is there also after it has faulted or hung and its worker is gone.
class HostVisible {
  public:
    /// EnvironmentError ENOMEM when there is no memory, EFAULT when the driver refuses it.
    HostVisible(const Device& device, std::size_t bytes);
    HostVisible(HostVisible&&) noexcept;
    HostVisible& operator=(HostVisible&&) noexcept;
    ~HostVisible();

    /// Zeroes at first.
    std::span<std::byte> bytes() const;

    /// Where kernels find it. After the worker was lost, the address in the next one.
    std::uint64_t address();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A block of device memory. Offsets and sizes in bytes. Transfers wait for running kernels. For one thread
/// at a time. A closed buffer raises ArgumentError, one whose context was lost EnvironmentError EFAULT.
class Buffer {
  public:
    Buffer() = default;

    /// EnvironmentError ENOMEM names what was asked for and what is free.
    Buffer(const Device& device, std::size_t bytes);
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { close(); }

    std::size_t bytes() const { return bytes_; }
    std::uint64_t address() const;
    void upload(std::span<const std::byte> from, std::size_t offset = 0);
    void download(std::span<std::byte> to, std::size_t offset = 0) const;

    /// Sets every byte to `value` (asynchronous).
    void fill(std::byte value);

    /// Gives the memory back, once running kernels are done. May be called again; never throws or waits.
    void close() noexcept;
    explicit operator bool() const { return context_ != nullptr; }

    /// True when what it held is gone with a worker process; false for a closed one.
    bool lost() const;

  private:
    void check_range(std::size_t offset, std::size_t size, const char* what) const;

    std::shared_ptr<Context> context_;
    std::uint64_t generation_ = 0;
    std::uint64_t address_ = 0;
    std::size_t bytes_ = 0;
};

// ---- Kernels
// -----------------------------------------------------------------------------------------------

/// Extents of a grid, a CTA or a cluster.
struct Dim3 {
    std::int64_t x = 1;
    std::int64_t y = 1;
    std::int64_t z = 1;
    bool operator==(const Dim3&) const = default;
};

/// CTAs of a cluster that every sm_90 runs without being asked.
inline constexpr std::int64_t portable_cluster = sm_90a.portable_cluster;

struct LaunchConfig {
    Dim3 grid{};                        ///< CTAs
    Dim3 block{};                       ///< threads of a CTA
    Dim3 cluster{};                     ///< CTAs of a cluster; {1, 1, 1}: what the kernel itself requires
    std::int64_t shared_bytes = 0;      ///< dynamic shared memory of a CTA
    bool non_portable_cluster = false;  ///< allow more than 8 CTAs in a cluster (up to 16)
    /// The kernel may start before the one before it in the stream has ended, and waits for it by
    /// griddepcontrol.wait (programmatic dependent launch).
    bool overlaps_previous = false;
    void* stream = nullptr;  ///< a CUstream of the caller's, who then waits for it; else the default
};

/// What the driver knows of a kernel. Sizes in bytes.
struct FunctionAttributes {
    int registers = 0;  ///< of a thread, at entry
    int max_threads = 0;
    std::size_t local_bytes = 0;   ///< of a thread: stack and spills
    std::size_t shared_bytes = 0;  ///< of a CTA: static shared memory
    std::size_t constant_bytes = 0;
    Dim3 cluster{0, 0, 0};  ///< what the kernel requires; zeros: nothing
    /// Bytes of each parameter; nothing when the driver is too old to say (before CUDA 12.4).
    std::optional<std::vector<std::size_t>> parameters{};
};

/// The bytes of one kernel parameter.
using Parameter = std::span<const std::byte>;

/// Reasons why a kernel with these attributes cannot be launched so, as one ArgumentError each: extents,
/// threads, shared memory, clusters, the number of parameters and their sizes.
void check_launch(std::string_view kernel, const FunctionAttributes& attributes, const LaunchConfig& config,
                  std::span<const Parameter> parameters);

/// A launch made ready: when it starts, nothing is checked, encoded or allocated any more. Keeps its module
/// loaded. Any thread may start it.
class Launch {
  public:
    Launch(Launch&&) noexcept;
    Launch& operator=(Launch&&) noexcept;
    ~Launch();

    /// Starts the kernel; does not wait, but for room in the queue: some hundred launches may wait for the
    /// device. EnvironmentError EFAULT when the driver refuses.
    void start() const;

    /// True when what it was made of is gone with its worker: prepare it again.
    bool lost() const;

  private:
    friend class Function;
    struct State;
    explicit Launch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A kernel of a module, which it keeps loaded. Free to copy, usable from any thread.
class Function {
  public:
    const std::string& name() const;
    const FunctionAttributes& attributes() const;

    /// True when its worker was given up after a failed kernel: load the module again.
    bool lost() const;

    /// Starts the kernel; does not wait. check_launch's errors; EnvironmentError EFAULT when the driver
    /// refuses.
    void launch(const LaunchConfig& config, std::span<const Parameter> parameters) const;

    /// How many clusters of `config` the device runs at a time, by their shared memory and registers and by
    /// how its SMs are grouped: less than SMs over the CTAs of a cluster. Grid and parameters do not matter.
    /// EnvironmentError EFAULT when the driver refuses.
    int resident_clusters(const LaunchConfig& config) const;

    /// A launch made ready for many starts. The parameters are copied. Errors as launch.
    Launch prepare(const LaunchConfig& config, std::span<const Parameter> parameters) const;

  private:
    friend class Module;
    friend class Launch;
    struct State;
    explicit Function(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// Loaded code. Free to copy, usable from any thread; unloaded when neither it nor a Function of it is left.
class Module {
  public:
    /// Assembles PTX with the driver's JIT and loads it. The log is kept on disk beside the text's hash,
    /// since the driver says nothing when it finds the text in its own cache. CompileError.
    static Module from_ptx(const Device& device, std::string_view ptx);

    /// Loads machine code. EnvironmentError EFAULT when the driver refuses it.
    static Module from_cubin(const Device& device, std::span<const std::byte> image);

    /// The kernel called `name` (its PTX name). ArgumentError when there is none.
    Function function(const std::string& name) const;

    /// The JIT's log; empty for a cubin.
    const AssemblerLog& log() const;

    struct State;

  private:
    explicit Module(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

// ---- Tensor maps (PTX ISA 5.5.8, cuTensorMapEncodeTiled)
// ---------------------------------------------------

enum class TensorMapType { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
enum class TensorMapSwizzle { none, b32, b64, b128 };

/// A tensor in global memory as the bulk copy engine sees it; dimension 0 is the contiguous one.
struct TensorMapSpec {
    TensorMapType type = TensorMapType::u8;
    std::uint64_t address = 0;            ///< multiple of 16
    std::vector<std::int64_t> extents{};  ///< elements, 1 to 5 dimensions
    std::vector<std::int64_t> strides{};  ///< bytes, of dimensions 1 and up; multiples of 16
    std::vector<std::int64_t> box{};      ///< elements, each 1 to 256
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;
    bool nan_fill = false;  ///< out of bounds reads give NaN instead of zero (float types only)
};

/// The opaque object that a kernel takes as `.param .align 64 .b8 map[128]`.
struct alignas(64) TensorMap {
    std::byte bytes[128];
};

/// ArgumentError for what a tensor map cannot describe; needs no GPU.
void check_tensor_map(const TensorMapSpec& spec);

/// check_tensor_map, then the driver's encoding.
TensorMap encode_tensor_map(const Device& device, const TensorMapSpec& spec);

// ---- Timing
// ------------------------------------------------------------------------------------------------

struct TimingOptions {
    int rounds = 20;  ///< measurements, 1 to 10000
    int warmup = 3;   ///< calls before the first one, 0 to 10000
    bool flush_l2 =
        false;  ///< overwrite the L2 cache before every call; else calls follow each other at once
};

/// Microseconds of one call, one figure a round. `work` launches on the default stream and does not wait.
/// Without flush_l2 a round times as many calls in a row as fill half a millisecond, and divides.
std::vector<double> time(const Device& device, const std::function<void()>& work,
                         const TimingOptions& options = {});

/// The same for two things, in alternating rounds, so that clocks and heat treat both alike.
struct Comparison {
    std::vector<double> first;
    std::vector<double> second;
};
Comparison compare(const Device& device, const std::function<void()>& first,
                   const std::function<void()>& second, const TimingOptions& options = {});

}  // namespace wgrun::gpu

#pragma GCC visibility pop
