// A driver without a GPU: memory is the heap, kernels are names, faults and hangs are made to order. It keeps
// count of what is alive, and refuses handles of a context that was reset, as the real one (mis)does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "gpu/driver.hpp"

namespace wgrun::gpu::test {

struct FakeGpu {
    // What the test asks for.
    int capability = 90;
    std::size_t memory = 1 << 20;
    abi::Result init_result = abi::success;
    abi::Result retain_result = abi::success;
    abi::Result fault = abi::success;  ///< what the next launch does to the context
    bool hang = false;                 ///< the next launch never ends ...
    int busy_queries = 0;              ///< how often a launch is "not ready" before it is done
    const char* info_log = "";
    const char* error_log = "";
    abi::Result load_result = abi::success;
    bool in_process = false;  ///< the driver is that of this process: what breaks stays broken
    bool old_driver = false;  ///< no cuFuncGetParamInfo
    double microseconds_per_launch = 10;
    std::size_t second_parameter = 4;  ///< bytes of it

    // What happened.
    std::map<abi::DevicePointer, std::unique_ptr<std::byte[]>> allocations;
    std::map<abi::DevicePointer, std::size_t> sizes;
    std::set<abi::Handle> modules;
    int contexts = 0;
    int resets = 0;       ///< how often the worker was ended
    int bad_handles = 0;  ///< a handle of a dead context was used, or freed twice
    int freed_while_busy = 0;
    int launches = 0;
    int events_alive = 0;
    std::list<double> events;  ///< all that were made: those of a context that is reset are never destroyed
    int registered = 0;        ///< blocks of host memory
    int started_again = 0;     ///< launches that nobody waited for
    int max_shared_set = 0;
    bool non_portable_set = false;
    abi::LaunchConfig last{};
    abi::LaunchAttribute last_attribute{};
    std::vector<std::byte> last_parameters;  ///< of the last launch, one behind the other
    abi::Result sticky = abi::success;
    bool hanging = false;
    int not_ready_left = 0;
    double clock_us = 0;
    std::mutex mutex;

    std::size_t used() const {
        std::size_t sum = 0;
        for (const auto& [pointer, size] : sizes) sum += size;
        return sum;
    }
    void lose_everything() {
        allocations.clear();
        sizes.clear();
        modules.clear();
        sticky = abi::success;
        hanging = false;
    }
};

/// The one that the functions below work on; a test makes its own and puts it here.
inline FakeGpu* fake = nullptr;

namespace fake_driver {

using abi::Handle;
using abi::Result;

inline Result if_healthy() { return fake->sticky; }

inline Result status() {
    if (fake->sticky != abi::success) return fake->sticky;
    if (fake->hanging) return abi::not_ready;
    if (fake->not_ready_left > 0) {
        --fake->not_ready_left;
        return abi::not_ready;
    }
    return abi::success;
}

inline std::byte* memory(abi::DevicePointer address, std::size_t bytes) {
    auto it = fake->sizes.upper_bound(address);
    if (it == fake->sizes.begin()) return nullptr;
    --it;
    if (address + bytes > it->first + it->second) return nullptr;
    return fake->allocations[it->first].get() + (address - it->first);
}

/// The kernel that every module has: two parameters (8 and, if not told otherwise, 4 bytes), 1 KiB of static
/// shared memory.
constexpr const char* kernel_name = "work";

}  // namespace fake_driver

inline const Driver& fake_functions() {
    using namespace fake_driver;
    static const Driver driver = [] {
        Driver d{};
        d.init = [](unsigned) { return fake->init_result; };
        d.driver_get_version = [](int* version) { return *version = 12080, abi::success; };
        d.get_error_name = [](Result error, const char** text) {
            switch (error) {
                case abi::illegal_address: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
                case abi::launch_failed: *text = "CUDA_ERROR_LAUNCH_FAILED"; break;
                case abi::invalid_value: *text = "CUDA_ERROR_INVALID_VALUE"; break;
                case 100: *text = "CUDA_ERROR_NO_DEVICE"; break;
                default: return abi::invalid_value;
            }
            return abi::success;
        };
        d.get_error_string = [](Result, const char** text) { return *text = "as ordered", abi::success; };
        d.device_get_count = [](int* count) { return *count = 2, abi::success; };
        d.device_get = [](int* device, int ordinal) { return *device = ordinal, abi::success; };
        d.device_get_name = [](char* name, int length, int device) {
            std::strncpy(name, device == 0 ? "Fake 80" : "Fake 90", static_cast<std::size_t>(length));
            return abi::success;
        };
        d.device_get_attribute = [](int* value, abi::DeviceAttribute which, int device) {
            const int capability = device == 0 ? 80 : fake->capability;
            switch (which) {
                case abi::DeviceAttribute::compute_capability_major: *value = capability / 10; break;
                case abi::DeviceAttribute::compute_capability_minor: *value = capability % 10; break;
                case abi::DeviceAttribute::multiprocessor_count: *value = 132; break;
                case abi::DeviceAttribute::memory_clock_rate: *value = 2619000; break;
                case abi::DeviceAttribute::global_memory_bus_width: *value = 5120; break;
                case abi::DeviceAttribute::l2_cache_size: *value = 4096; break;
                case abi::DeviceAttribute::max_shared_memory_per_block_optin: *value = 232448; break;
            }
            return abi::success;
        };
        d.device_total_mem = [](std::size_t* bytes, int) { return *bytes = fake->memory, abi::success; };
        d.primary_context_retain = [](Handle* context, int device) {
            if (device != 1) return abi::invalid_value;
            ++fake->contexts;
            *context = reinterpret_cast<Handle>(std::uintptr_t{0xc0} + static_cast<unsigned>(fake->resets));
            return fake->retain_result;
        };
        d.primary_context_release = [](int) { return --fake->contexts, abi::success; };
        d.context_set_current = [](Handle) { return abi::success; };
        d.mem_get_info = [](std::size_t* free, std::size_t* total) {
            *total = fake->memory;
            *free = fake->memory - fake->used();
            return if_healthy();
        };
        d.mem_alloc = [](abi::DevicePointer* pointer, std::size_t bytes) {
            const std::lock_guard lock(fake->mutex);
            if (fake->sticky != abi::success) return fake->sticky;
            if (bytes > fake->memory - fake->used()) return abi::out_of_memory;
            auto block = std::make_unique<std::byte[]>(bytes);
            *pointer = reinterpret_cast<std::uintptr_t>(block.get());
            fake->sizes[*pointer] = bytes;
            fake->allocations[*pointer] = std::move(block);
            return abi::success;
        };
        d.mem_free = [](abi::DevicePointer pointer) {
            const std::lock_guard lock(fake->mutex);
            if (fake->hanging || fake->not_ready_left > 0) ++fake->freed_while_busy;
            if (fake->sizes.erase(pointer) == 0) ++fake->bad_handles;
            fake->allocations.erase(pointer);
            return if_healthy();
        };
        d.memcpy_host_to_device = [](abi::DevicePointer to, const void* from, std::size_t bytes) {
            std::byte* const at = memory(to, bytes);
            if (at == nullptr) return abi::invalid_value;
            std::memcpy(at, from, bytes);
            return if_healthy();
        };
        d.memcpy_device_to_host = [](void* to, abi::DevicePointer from, std::size_t bytes) {
            const std::byte* const at = memory(from, bytes);
            if (at == nullptr) return abi::invalid_value;
            std::memcpy(to, at, bytes);
            return if_healthy();
        };
        d.memset_d8_async = [](abi::DevicePointer to, unsigned char value, std::size_t bytes, Handle) {
            std::byte* const at = memory(to, bytes);
            if (at == nullptr) return abi::invalid_value;
            std::memset(at, value, bytes);
            return if_healthy();
        };
        d.module_load_data_ex = [](Handle* module, const void*, unsigned count, abi::JitOption* options,
                                   void** values) {
            for (unsigned i = 0; i < count; ++i) {
                if (options[i] == abi::JitOption::info_log_buffer)
                    std::strcpy(static_cast<char*>(values[i]), fake->info_log);
                if (options[i] == abi::JitOption::error_log_buffer)
                    std::strcpy(static_cast<char*>(values[i]), fake->error_log);
            }
            if (fake->sticky != abi::success) return fake->sticky;
            if (fake->load_result != abi::success) return fake->load_result;
            static std::uintptr_t next = 0x1000;
            *module = reinterpret_cast<Handle>(next += 16);
            fake->modules.insert(*module);
            return abi::success;
        };
        d.module_unload = [](Handle module) {
            if (fake->hanging) ++fake->freed_while_busy;
            if (fake->modules.erase(module) == 0) ++fake->bad_handles;
            return if_healthy();
        };
        d.module_get_function = [](Handle* function, Handle module, const char* name) {
            if (!fake->modules.contains(module)) return ++fake->bad_handles, abi::invalid_value;
            if (std::strcmp(name, kernel_name) != 0) return abi::not_found;
            *function = module;
            return abi::success;
        };
        d.function_get_attribute = [](int* value, abi::FunctionAttribute which, Handle) {
            switch (which) {
                case abi::FunctionAttribute::num_regs: *value = 168; break;
                case abi::FunctionAttribute::max_threads_per_block: *value = 384; break;
                case abi::FunctionAttribute::shared_size_bytes: *value = 1024; break;
                default: *value = 0; break;
            }
            return abi::success;
        };
        d.function_set_attribute = [](Handle function, abi::FunctionAttribute which, int value) {
            if (!fake->modules.contains(function)) return ++fake->bad_handles, abi::invalid_value;
            if (which == abi::FunctionAttribute::max_dynamic_shared_size_bytes) fake->max_shared_set = value;
            if (which == abi::FunctionAttribute::non_portable_cluster_size_allowed)
                fake->non_portable_set = value == 1;
            return abi::success;
        };
        d.function_get_param_info = [](Handle, std::size_t index, std::size_t* offset, std::size_t* size) {
            if (index > 1) return abi::invalid_value;
            *offset = index * 8;
            *size = index == 0 ? 8 : fake->second_parameter;
            return abi::success;
        };
        d.occupancy_max_active_clusters = [](int* clusters, Handle function,
                                             const abi::LaunchConfig* config) {
            if (!fake->modules.contains(function)) return ++fake->bad_handles, abi::invalid_value;
            fake->last = *config;
            *clusters = 132 / static_cast<int>(config->attributes->value.cluster.x) - 2;
            return abi::success;
        };
        d.launch_kernel_ex = [](const abi::LaunchConfig* config, Handle function, void** parameters, void**) {
            if (!fake->modules.contains(function)) return ++fake->bad_handles, abi::invalid_value;
            if (fake->sticky != abi::success) return fake->sticky;
            ++fake->launches;
            fake->last = *config;
            fake->last_attribute = *config->attributes;
            fake->last_parameters.clear();
            for (const auto& [index, size] : {std::pair{0, std::size_t{8}}, {1, fake->second_parameter}}) {
                const auto* bytes = static_cast<const std::byte*>(parameters[index]);
                fake->last_parameters.insert(fake->last_parameters.end(), bytes, bytes + size);
            }
            fake->sticky = fake->fault;
            fake->hanging = fake->hanging || fake->hang;
            fake->not_ready_left = fake->busy_queries;
            fake->clock_us += fake->microseconds_per_launch;
            return abi::success;
        };
        d.stream_query = [](Handle) { return status(); };
        d.event_create = [](Handle* event, unsigned) {
            ++fake->events_alive;
            *event = &fake->events.emplace_back(0);
            return abi::success;
        };
        d.event_destroy = [](Handle) {
            --fake->events_alive;
            return abi::success;
        };
        d.event_record = [](Handle event, Handle) {
            *static_cast<double*>(event) = fake->clock_us;
            return if_healthy();
        };
        d.event_query = [](Handle) { return status(); };
        d.mem_host_register = [](void*, std::size_t, unsigned) { return ++fake->registered, abi::success; };
        d.mem_host_unregister = [](void*) { return --fake->registered, abi::success; };
        d.mem_host_get_device_pointer = [](abi::DevicePointer* pointer, void* memory, unsigned) {
            *pointer = reinterpret_cast<std::uintptr_t>(memory);
            return abi::success;
        };
        d.event_elapsed_time = [](float* milliseconds, Handle start, Handle end) {
            *milliseconds =
                static_cast<float>((*static_cast<double*>(end) - *static_cast<double*>(start)) / 1000);
            return if_healthy();
        };
        d.tensor_map_encode_tiled = [](void* map, int type, std::uint32_t rank, void*, const std::uint64_t*,
                                       const std::uint64_t* strides, const std::uint32_t*,
                                       const std::uint32_t*, int, int, int, int) {
            if (strides == nullptr) return abi::invalid_value;
            static_cast<std::byte*>(map)[0] = static_cast<std::byte>(type * 16 + static_cast<int>(rank));
            return abi::success;
        };
        return d;
    }();
    // As if it were in a process of its own, which can be given up.
    static const WorkerCalls worker{
        .load =
            [](Handle* module, std::span<const std::byte> image, unsigned count, abi::JitOption* options,
               void** values) {
                return driver.module_load_data_ex(module, image.data(), count, options, values);
            },
        .launch =
            [](const KernelStart& start) {
                fake->started_again += start.again;
                return driver.launch_kernel_ex(start.config, start.function,
                                               const_cast<void**>(start.parameters.data()), nullptr);
            },
        .end =
            [] {
                const std::lock_guard lock(fake->mutex);
                fake->lose_everything();
                fake->contexts = 0;
                fake->registered = 0;
                ++fake->resets;
            },
        .last_words = [] { return std::string("was killed by signal 9 (Killed)"); },
        .cublas_make = nullptr,
        .cublas_run = nullptr,
        .cublas_drop = nullptr,
    };
    static const Driver in_worker = [] {
        Driver d = driver;
        d.worker = &worker;
        return d;
    }();
    static const Driver old = [] {
        Driver d = driver;
        d.function_get_param_info = nullptr;
        return d;
    }();
    if (fake->in_process) return driver;
    return fake->old_driver ? old : in_worker;
}

/// A fake GPU for one test, which checks at its end that nothing is left and no dead handle was used.
class FakeDevice {
  public:
    FakeDevice() { fake = &gpu; }
    ~FakeDevice() { fake = nullptr; }
    FakeDevice(const FakeDevice&) = delete;
    FakeDevice& operator=(const FakeDevice&) = delete;

    Device device() const { return Device(fake_functions()); }

    FakeGpu gpu;
};

}  // namespace wgrun::gpu::test
