// The GPU: its properties, compiling text to machine code, memory, launches, waiting and timing.
//
// CUDA's driver, NVRTC and cuBLAS are opened at run time and `ptxas` is a process, so a program that links
// this also starts on a machine without them. WGRUN_CUDA=off makes it behave as on such a machine.
//
// The driver works in a worker process or in this one (Isolation). Work is asynchronous and runs in order
// on the default stream. Every wait has a time limit (Patience). A kernel that faults or hangs ends the
// worker: buffers and modules made before report that they are lost, and new ones work, in a new worker. In
// this process a fault ends the use of the GPU for good, and a hang for as long as it lasts:
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

// Internal to the engine.
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
    std::size_t shared_bytes = 0;  ///< the most shared memory that one CTA can have
    double memory_bandwidth = 0;   ///< bytes in a second, as the memory's clock and width have it
    int driver_version = 0;
};

/// A library or program: its path and version, or why it is missing.
struct Part {
    std::string path;
    std::string version;
    std::string missing;  ///< the reason; empty when it was found

    explicit operator bool() const { return missing.empty(); }
};

/// The cache on disk. `missing` is the reason why nothing is cached (switched off, folder not writable).
struct CacheInfo {
    std::string folder;
    std::uint64_t bytes = 0;
    std::uint64_t limit = 0;
    std::size_t entries = 0;
    std::string missing;
};

/// Everything that decides what can be compiled and run on this machine.
struct MachineReport {
    Part driver;
    std::vector<DeviceInfo> devices;  ///< all devices, also those that are not sm_90
    std::string no_device;            ///< why nothing can be launched; empty if something can
    Part nvrtc;
    Part ptxas;
    Part cublas;
    Part worker;  ///< the program of worker processes; without it kernels run in this process
    CacheInfo cache;
};

/// The GPU that kernels run on: the first one of sm_90. Creates no context. Throws EnvironmentError ENODEV,
/// with the reason, where there is none.
DeviceInfo find_device();

/// Inspects the machine. Creates no context and never throws for what is missing.
MachineReport doctor();

// ---- Compiling
// ---------------------------------------------------------------------------------------------

/// One line that the assembler (ptxas, the driver's JIT) or NVRTC said about the text.
struct AssemblerNote {
    Severity severity = Severity::note;
    std::string code;      ///< "C7519", if the line has one
    int line = 0;          ///< line of the text, 0 when unknown
    std::string function;  ///< the kernel, when the line names it
    std::string message;
};

/// The assembler's figures for one kernel. Sizes are bytes per thread, shared_bytes per CTA.
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

/// Parses the output of `ptxas -v`, the driver's JIT or NVRTC; lines of other forms are kept in `text` only.
AssemblerLog parse_log(std::string_view text);

/// The text does not compile. Code ECOMPILE; the message is the first error, log() has all of them.
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
    bool cached = false;  ///< it came from the cache on disk
};

/// CUDA C++ to machine code through NVRTC (--gpu-architecture=sm_90a, C++17, ptxas -v), cached on disk.
/// `options` are passed to NVRTC. It runs in a process of its own if there is a program for workers
/// (set_worker_program). Throws CompileError; EnvironmentError ENOENT without NVRTC; for that process, EINTR
/// if the `stop` of this thread's Patience was set, ETIMEDOUT after ten minutes, EFAULT if it ends without an
/// answer. Thread-safe.
Cubin nvrtc_compile(std::string_view cuda_text, std::span<const std::string> options = {});

/// PTX to machine code through a ptxas process (-arch=sm_90a -v), cached on disk. Needs no GPU. Throws
/// CompileError; EnvironmentError ENOENT without ptxas, ETIMEDOUT if it does not end in time, EINTR if `stop`
/// was set. Thread-safe.
Cubin ptxas_assemble(std::string_view ptx, std::span<const std::string> options = {},
                     std::chrono::milliseconds timeout = std::chrono::seconds(60),
                     const std::atomic<bool>* stop = nullptr);

// ---- The device
// --------------------------------------------------------------------------------------------

/// The process in which the driver and its context live, and which a failing kernel damages.
enum class Isolation : std::uint8_t {
    worker,   ///< in a process of its own, the only thing that a kernel that faults or hangs brings down
    process,  ///< in this process, for callers with their own device pointers, streams or context
};

std::string_view to_string(Isolation isolation);
/// "worker" or "process"; throws ArgumentError otherwise.
Isolation isolation_named(std::string_view name);

/// Declares that `path` is this program and that it calls worker_main() first: workers then run it instead of
/// the wgrun that is searched for (WGRUN_WORKER; beside this library; in the bin folder of its prefix).
/// Thread-safe.
void set_worker_program(std::string path);

/// To be called at the beginning of main() by a program that set_worker_program names. If the arguments make
/// it a worker, it serves its parent and returns an exit code if that fails; else it returns nothing.
std::optional<int> worker_main(int argc, char** argv);

/// How long this thread waits for the device, until the end of the scope: for a started kernel, a copy, a
/// full queue. Without a scope: 10 s. Scopes nest. When the time is over or `stop` is set, waits end as after
/// a fault: they throw EnvironmentError ETIMEDOUT, or Error EINTR, and the worker is abandoned.
class Patience {
  public:
    struct Limits {
        std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< 0: for ever
        const std::atomic<bool>* stop = nullptr;                       ///< set by another thread to interrupt
    };

    /// Without `stop`, that of the enclosing scope holds. Throws ArgumentError for a negative timeout.
    explicit Patience(std::chrono::milliseconds timeout, const std::atomic<bool>* stop = nullptr);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    /// The limits of the innermost scope of this thread.
    static const Limits& current();

  private:
    Limits limits_;
    const Limits* outer_;
};

/// A kernel has ended the use of the device: it did not end in time (ETIMEDOUT) or it faulted
/// (EFAULT).
class KernelFailure : public EnvironmentError {
  public:
    KernelFailure(std::string code, std::string message, std::string fix, std::vector<std::string> kernels,
                  bool in_worker)
        : EnvironmentError(std::move(code), std::move(message), std::move(fix)),
          kernels_(std::move(kernels)),
          in_worker_(in_worker) {}
    /// The kernels that may have been running.
    const std::vector<std::string>& kernels() const { return kernels_; }
    /// True if a worker process was lost; else the device is lost to this process.
    bool in_worker() const { return in_worker_; }

  private:
    std::vector<std::string> kernels_;
    bool in_worker_;
};

/// The first sm_90 device and its primary context: a small handle, cheap to copy. Thread-safe.
class Device {
  public:
    /// The device as this process or its worker sees it; the first call makes its context (about 0.3 s).
    /// Without a program for workers it is that of this process. Throws EnvironmentError ENODEV with the
    /// reason: no libcuda.so.1, the error of cuInit, no sm_90 device.
    static Device get(Isolation isolation = Isolation::worker);

    /// Why get() would fail; nothing if it would succeed. Makes no context.
    static std::optional<std::string> unavailable(Isolation isolation = Isolation::worker);

    /// Bytes of device memory that buffers hold now, over all devices that get() has returned.
    static std::size_t held_bytes();

    /// A device behind another table of driver functions, for tests.
    explicit Device(const Driver& driver);

    const DeviceInfo& info() const;

    /// Bytes of device memory that are free now.
    std::size_t free_bytes() const;

    /// Waits until all work on the default stream is done, at most as long as the thread's Patience. Throws
    /// EnvironmentError ETIMEDOUT for a kernel that does not end, EFAULT with CUDA's error name for one that
    /// failed.
    void wait() const;

    Context& context() const { return *context_; }
    const std::shared_ptr<Context>& shared() const { return context_; }

  private:
    explicit Device(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    std::shared_ptr<Context> context_;
};

/// Memory of this process that kernels can read and write in place, over the bus. What a kernel has written
/// (and fenced for the system) stays after it has faulted or hung and its worker is gone.
class HostVisible {
  public:
    /// Throws EnvironmentError ENOMEM if there is no memory, EFAULT if the driver refuses it.
    HostVisible(const Device& device, std::size_t bytes);
    HostVisible(HostVisible&&) noexcept;
    HostVisible& operator=(HostVisible&&) noexcept;
    ~HostVisible();

    /// All zero at first.
    std::span<std::byte> bytes() const;

    /// The address for kernels. After the worker was lost, the address in the next worker.
    std::uint64_t address();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A block of device memory. Offsets and sizes are in bytes. Transfers wait for running kernels. For one
/// thread at a time. Use of a closed buffer throws ArgumentError, of a lost one EnvironmentError EFAULT.
class Buffer {
  public:
    Buffer() = default;

    /// Throws EnvironmentError ENOMEM with the bytes requested and free.
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

    /// Frees the memory once running kernels are done. May be called again; never throws or waits.
    void close() noexcept;
    explicit operator bool() const { return context_ != nullptr; }

    /// True if its contents were lost with a worker process; false for a closed one.
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
struct Extents {
    std::int64_t x = 1;
    std::int64_t y = 1;
    std::int64_t z = 1;
    bool operator==(const Extents&) const = default;
};

/// The largest cluster, in CTAs, that every sm_90 runs without non_portable_cluster.
inline constexpr std::int64_t portable_cluster = sm_90a.portable_cluster;

struct LaunchConfig {
    Extents grid{};                     ///< CTAs
    Extents block{};                    ///< threads of a CTA
    Extents cluster{};                  ///< CTAs of a cluster; {1, 1, 1}: what the kernel itself requires
    std::int64_t shared_bytes = 0;      ///< dynamic shared memory of a CTA
    bool non_portable_cluster = false;  ///< allow more than 8 CTAs in a cluster (up to 16)
    /// The kernel may start before the previous one in the stream has ended, and waits for it by
    /// griddepcontrol.wait (programmatic dependent launch).
    bool overlaps_previous = false;
    void* stream = nullptr;  ///< the caller's CUstream, and the caller waits; null: the default
};

/// The driver's attributes of a kernel. Sizes are in bytes.
struct FunctionAttributes {
    int registers = 0;  ///< per thread, at entry
    int max_threads = 0;
    std::size_t local_bytes = 0;   ///< per thread: stack and spills
    std::size_t shared_bytes = 0;  ///< per CTA: static shared memory
    std::size_t constant_bytes = 0;
    Extents cluster{0, 0, 0};  ///< the cluster that the kernel requires; zeros: none
    /// Bytes of each parameter; nothing if the driver is too old to tell (before CUDA 12.4).
    std::optional<std::vector<std::size_t>> parameters{};
};

/// The bytes of one kernel parameter.
using Parameter = std::span<const std::byte>;

/// Throws ArgumentError with the reason if a kernel with these attributes cannot be launched so: extents,
/// threads, shared memory, clusters, the number of parameters and their sizes.
void check_launch(std::string_view kernel, const FunctionAttributes& attributes, const LaunchConfig& config,
                  std::span<const Parameter> parameters);

/// A prepared launch: starting it checks, encodes and allocates nothing. It keeps its module loaded. Any
/// thread may start it.
class PreparedLaunch {
  public:
    PreparedLaunch(PreparedLaunch&&) noexcept;
    PreparedLaunch& operator=(PreparedLaunch&&) noexcept;
    ~PreparedLaunch();

    /// Starts the kernel; waits for nothing but room in the queue, which holds some hundred launches. Throws
    /// EnvironmentError EFAULT if the driver refuses.
    void start() const;

    /// True if its module was lost with its worker: prepare the launch again.
    bool lost() const;

  private:
    friend class Function;
    struct State;
    explicit PreparedLaunch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A kernel of a module, which it keeps loaded. Cheap to copy. Thread-safe.
class Function {
  public:
    const std::string& name() const;
    const FunctionAttributes& attributes() const;

    /// True if its worker was abandoned after a failed kernel: load the module again.
    bool lost() const;

    /// Starts the kernel; does not wait. Throws what check_launch throws; EnvironmentError EFAULT if the
    /// driver refuses.
    void launch(const LaunchConfig& config, std::span<const Parameter> parameters) const;

    /// How many clusters of `config` the device runs at a time, by their shared memory and registers and by
    /// the grouping of its SMs: fewer than SMs / CTAs per cluster. Grid and parameters do not matter. Throws
    /// EnvironmentError EFAULT if the driver refuses.
    int resident_clusters(const LaunchConfig& config) const;

    /// Prepares a launch for many starts. The parameters are copied. Throws what launch throws.
    PreparedLaunch prepare(const LaunchConfig& config, std::span<const Parameter> parameters) const;

  private:
    friend class Module;
    friend class PreparedLaunch;
    struct State;
    explicit Function(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// Loaded code, unloaded when neither it nor a Function of it is left. Cheap to copy. Thread-safe.
class Module {
  public:
    /// Assembles PTX with the driver's JIT and loads it. The log is kept on disk beside the text's hash,
    /// since the driver has no log when it finds the text in its own cache. Throws CompileError.
    static Module from_ptx(const Device& device, std::string_view ptx);

    /// Loads machine code. Throws EnvironmentError EFAULT if the driver refuses it.
    static Module from_cubin(const Device& device, std::span<const std::byte> image);

    /// The kernel with the PTX name `name`. Throws ArgumentError if there is none.
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

/// A tensor in global memory as TMA sees it; dimension 0 is the contiguous one.
struct TensorMapSpec {
    TensorMapType type = TensorMapType::u8;
    std::uint64_t address = 0;            ///< multiple of 16
    std::vector<std::int64_t> extents{};  ///< elements, 1 to 5 dimensions
    std::vector<std::int64_t> strides{};  ///< bytes, for dimensions 1 and up; multiples of 16
    std::vector<std::int64_t> box{};      ///< elements, each 1 to 256
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;
    bool nan_fill = false;              ///< out-of-bounds reads give NaN instead of zero (float types only)
    std::vector<std::int64_t> steps{};  ///< elements, of each dimension; empty: 1
    /// Of an im2col map (cuTensorMapEncodeIm2col): the corners of the pixels, W first, of rank - 2
    /// dimensions. The box then is channels, pixels, and 1 for each other dimension.
    std::vector<std::int64_t> lower{}, upper{};
};

/// The opaque object that a kernel takes as `.param .align 64 .b8 map[128]`.
struct alignas(sm_90a.tensor_maps.align) TensorMap {
    std::byte bytes[sm_90a.tensor_maps.bytes];
};

/// Throws ArgumentError for what a tensor map cannot describe. Needs no GPU. Thread-safe.
void check_tensor_map(const TensorMapSpec& spec);

/// check_tensor_map, then the driver's encoding. Throws EnvironmentError EFAULT if the driver refuses.
TensorMap encode_tensor_map(const Device& device, const TensorMapSpec& spec);

// ---- Timing
// ------------------------------------------------------------------------------------------------

struct TimingOptions {
    int rounds = 20;  ///< measurements, 1 to 10000
    int warmup = 3;   ///< calls before the first one, 0 to 10000
    bool flush_l2 =
        false;  ///< overwrite the L2 cache before every call; else calls follow each other directly
};

/// Microseconds of one call, one figure per round. `work` launches on the default stream and does not wait.
/// Without flush_l2 a round times as many calls in a row as fill half a millisecond, and divides.
std::vector<double> time(const Device& device, const std::function<void()>& work,
                         const TimingOptions& options = {});

/// The same for two calls in alternating rounds, so that clocks and heat affect both alike.
struct ComparedTimes {
    std::vector<double> first;
    std::vector<double> second;
};
ComparedTimes compare(const Device& device, const std::function<void()>& first,
                      const std::function<void()>& second, const TimingOptions& options = {});

}  // namespace wgrun::gpu

#pragma GCC visibility pop
