// The few declarations of CUDA's driver API, NVRTC and their enumerations that the engine uses, written by
// hand so that no CUDA header is needed to build. Values as in cuda.h and nvrtc.h of CUDA 13.0; they are part
// of the stable binary interface since CUDA 12.0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wgrun::gpu {

namespace abi {

using Result = int;  // CUresult
using DeviceOrdinal = int;
using DevicePointer = unsigned long long;
using Handle = void*;  // CUcontext, CUmodule, CUfunction, CUstream, CUevent

constexpr Result success = 0;
constexpr Result invalid_value = 1;
constexpr Result out_of_memory = 2;
constexpr Result ecc_uncorrectable = 214;
constexpr Result invalid_ptx = 218;
constexpr Result unsupported_ptx_version = 222;
constexpr Result contained = 226;
constexpr Result not_found = 500;
constexpr Result not_ready = 600;
constexpr Result illegal_address = 700;
constexpr Result launch_out_of_resources = 701;
constexpr Result launch_timeout = 702;
constexpr Result context_is_destroyed = 709;
constexpr Result device_assert = 710;
constexpr Result hardware_stack_error = 714;
constexpr Result illegal_instruction = 715;
constexpr Result misaligned_address = 716;
constexpr Result invalid_address_space = 717;
constexpr Result invalid_pc = 718;
constexpr Result launch_failed = 719;
constexpr Result invalid_cluster_size = 912;
constexpr Result unknown = 999;

// Results that are not CUDA's: of a driver in a worker process.
constexpr Result worker_gone = -1;    ///< the worker has died, or could not be started
constexpr Result worker_silent = -2;  ///< it did not answer in time, and was ended
constexpr Result interrupted = -3;    ///< Patience::stop was raised while it was waited for, and it was ended
constexpr Result refused =
    -4;  ///< it was asked for something that is not the driver's, which failed: WorkerCalls

enum class DeviceAttribute : int {
    multiprocessor_count = 16,
    memory_clock_rate = 36,        ///< in kHz
    global_memory_bus_width = 37,  ///< in bits
    l2_cache_size = 38,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    max_shared_memory_per_block_optin = 97,
};

enum class FunctionAttribute : int {
    max_threads_per_block = 0,
    shared_size_bytes = 1,
    const_size_bytes = 2,
    local_size_bytes = 3,
    num_regs = 4,
    max_dynamic_shared_size_bytes = 8,
    required_cluster_width = 11,
    required_cluster_height = 12,
    required_cluster_depth = 13,
    non_portable_cluster_size_allowed = 14,
};

enum class JitOption : int {
    info_log_buffer = 3,
    info_log_buffer_size_bytes = 4,
    error_log_buffer = 5,
    error_log_buffer_size_bytes = 6,
    log_verbose = 12,
};

constexpr unsigned host_register_portable = 1;
constexpr unsigned host_register_device_map = 2;

constexpr unsigned launch_attribute_cluster_dimension = 4;
constexpr unsigned launch_attribute_programmatic_stream_serialization = 6;

struct LaunchAttribute {  // CUlaunchAttribute
    unsigned id;
    unsigned pad;
    union {
        char bytes[64];
        struct {
            unsigned x, y, z;
        } cluster;
        int allowed;
    } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {  // CUlaunchConfig
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    Handle stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};
static_assert(sizeof(void*) != 8 || (sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32));

}  // namespace abi

struct Gemm;

/// A kernel's start for another process, which cannot know how large what `parameters` point to is.
struct KernelStart {
    const abi::LaunchConfig* config;
    abi::Handle function;
    std::span<void* const> parameters;
    std::span<const std::uint32_t> sizes;  ///< of each, bytes
    /// The same was started before and the driver took it: nobody waits for what it says this time, and
    /// should it refuse, a later call tells.
    bool again;
};

/// A worker can be lost and had again; what needs more than the driver's functions happens within it.
struct WorkerCalls {
    /// module_load_data_ex, told how long the image is.
    abi::Result (*load)(abi::Handle* module, std::span<const std::byte> image, unsigned count,
                        abi::JitOption* options, void** values);
    abi::Result (*launch)(const KernelStart& start);
    /// Ends the process, with everything that it holds. The next Driver::init starts another.
    void (*end)();
    /// Why there is none: "was killed by signal 9 (Killed) ...".
    std::string (*last_words)();
    /// gpu::CublasProduct in the worker: a number that stands for the product. Throws what its constructor
    /// throws.
    abi::Result (*cublas_make)(const Gemm& gemm, const std::array<std::uint64_t, 3>& operands, int candidates,
                               std::uint64_t* number, int* tried);
    abi::Result (*cublas_run)(std::uint64_t number);
    void (*cublas_drop)(std::uint64_t number);
};

/// The functions of libcuda.so.1 that the engine calls. A test may fill in its own.
struct Driver {
    abi::Result (*init)(unsigned flags);
    abi::Result (*driver_get_version)(int* version);
    abi::Result (*get_error_name)(abi::Result error, const char** text);
    abi::Result (*get_error_string)(abi::Result error, const char** text);
    abi::Result (*device_get_count)(int* count);
    abi::Result (*device_get)(abi::DeviceOrdinal* device, int ordinal);
    abi::Result (*device_get_name)(char* name, int length, abi::DeviceOrdinal device);
    abi::Result (*device_get_attribute)(int* value, abi::DeviceAttribute attribute,
                                        abi::DeviceOrdinal device);
    abi::Result (*device_total_mem)(std::size_t* bytes, abi::DeviceOrdinal device);
    abi::Result (*primary_context_retain)(abi::Handle* context, abi::DeviceOrdinal device);
    abi::Result (*primary_context_release)(abi::DeviceOrdinal device);
    abi::Result (*context_set_current)(abi::Handle context);
    abi::Result (*mem_get_info)(std::size_t* free, std::size_t* total);
    abi::Result (*mem_alloc)(abi::DevicePointer* pointer, std::size_t bytes);
    abi::Result (*mem_free)(abi::DevicePointer pointer);
    abi::Result (*memcpy_host_to_device)(abi::DevicePointer to, const void* from, std::size_t bytes);
    abi::Result (*memcpy_device_to_host)(void* to, abi::DevicePointer from, std::size_t bytes);
    abi::Result (*memset_d8_async)(abi::DevicePointer to, unsigned char value, std::size_t bytes,
                                   abi::Handle stream);
    abi::Result (*module_load_data_ex)(abi::Handle* module, const void* image, unsigned count,
                                       abi::JitOption* options, void** values);
    abi::Result (*module_unload)(abi::Handle module);
    abi::Result (*module_get_function)(abi::Handle* function, abi::Handle module, const char* name);
    abi::Result (*function_get_attribute)(int* value, abi::FunctionAttribute attribute, abi::Handle function);
    abi::Result (*function_set_attribute)(abi::Handle function, abi::FunctionAttribute attribute, int value);
    /// Since CUDA 12.4; null before.
    abi::Result (*function_get_param_info)(abi::Handle function, std::size_t index, std::size_t* offset,
                                           std::size_t* size);
    abi::Result (*occupancy_max_active_clusters)(int* clusters, abi::Handle function,
                                                 const abi::LaunchConfig* config);
    abi::Result (*launch_kernel_ex)(const abi::LaunchConfig* config, abi::Handle function, void** parameters,
                                    void** extra);
    abi::Result (*stream_query)(abi::Handle stream);
    abi::Result (*event_create)(abi::Handle* event, unsigned flags);
    abi::Result (*event_destroy)(abi::Handle event);
    abi::Result (*event_record)(abi::Handle event, abi::Handle stream);
    abi::Result (*event_query)(abi::Handle event);
    abi::Result (*event_elapsed_time)(float* milliseconds, abi::Handle start, abi::Handle end);
    abi::Result (*tensor_map_encode_tiled)(void* map, int type, std::uint32_t rank, void* address,
                                           const std::uint64_t* extents, const std::uint64_t* strides,
                                           const std::uint32_t* box, const std::uint32_t* element_strides,
                                           int interleave, int swizzle, int l2_promotion, int fill);
    abi::Result (*tensor_map_encode_im2col)(void* map, int type, std::uint32_t rank, void* address,
                                            const std::uint64_t* extents, const std::uint64_t* strides,
                                            const int* lower, const int* upper, std::uint32_t channels,
                                            std::uint32_t pixels, const std::uint32_t* element_strides,
                                            int interleave, int swizzle, int l2_promotion, int fill);
    abi::Result (*mem_host_register)(void* memory, std::size_t bytes, unsigned flags);
    abi::Result (*mem_host_unregister)(void* memory);
    abi::Result (*mem_host_get_device_pointer)(abi::DevicePointer* pointer, void* memory, unsigned flags);

    /// Additional functions of a driver in a worker process; null for the driver of this process.
    const WorkerCalls* worker = nullptr;
};

/// The functions of libnvrtc that the engine calls. Results: 0 success, 5 invalid option, 6 compilation
/// failed.
struct Nvrtc {
    const char* (*get_error_string)(int result);
    int (*version)(int* major, int* minor);
    int (*create_program)(abi::Handle* program, const char* text, const char* name, int header_count,
                          const char* const* headers, const char* const* include_names);
    int (*destroy_program)(abi::Handle* program);
    int (*compile_program)(abi::Handle program, int option_count, const char* const* options);
    int (*get_log_size)(abi::Handle program, std::size_t* bytes);
    int (*get_log)(abi::Handle program, char* log);
    int (*get_cubin_size)(abi::Handle program, std::size_t* bytes);
    int (*get_cubin)(abi::Handle program, char* cubin);
};

}  // namespace wgrun::gpu
