// A libcuda.so.1 without a GPU, for worker processes in tests: device memory is the heap, and what a kernel
// does follows from its name:
//
//   add_one(f32* data, u32 count)   adds 1 to each element
//   hang, slow                      never ends; ends after 50 ms
//   illegal, misaligned, trap       leaves the context with that error
//                                   of these, guarded builds also write what their guards would
//                                   (fake_guards.hpp)
//     whose threads say something   writes the records of their messages (fake_messages.hpp)
//     profiled builds               write timestamps (fake_timestamps.hpp)
//   too_large                       the driver refuses the launch
//   stuck                           cuModuleLoadDataEx does not come back
//   suicide                         the process is killed when it is launched
//   anything else                   does nothing
//
// FAKE_CUDA_DEVICES=0: no device. FAKE_CUDA_STUCK=init: cuInit does not come back. FAKE_CUDA_FAULTY: every
// kernel is an illegal one. FAKE_CUDA_TEXTS: a folder, where the texts that are loaded are left.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "tests/worker/fake_cuda.hpp"
#include "tests/worker/fake_guards.hpp"
#include "tests/worker/fake_messages.hpp"
#include "tests/worker/fake_timestamps.hpp"

namespace {

using namespace wgrun::gpu::abi;
using Clock = std::chrono::steady_clock;

constexpr std::size_t memory_bytes = std::size_t{256} << 20;

struct Kernel {
    std::string name;
    std::vector<std::size_t> parameters;  // bytes
    std::size_t block = SIZE_MAX;         // which of them is a guarded build's block of slots
    FakeGuards guards{""};
    std::size_t control = SIZE_MAX;  // which parameter is the control block of messages
    FakeMessages messages{""};
    std::size_t profile = SIZE_MAX;  // which parameter is the buffer of timestamps
    FakeTimestamps timestamps{""};
};

struct Fake {
    std::map<DevicePointer, std::size_t> blocks;
    std::size_t used = 0;
    Result sticky = success;
    bool hanging = false;
    Clock::time_point busy_until{};
};

Fake fake;

[[noreturn]] void never() {
    for (;;) ::pause();
}

std::size_t bytes_of(std::string_view parameter) {
    if (const std::size_t bracket = parameter.find('['); bracket != std::string_view::npos)
        return std::strtoul(parameter.data() + bracket + 1, nullptr, 10);
    for (const auto& [width, bytes] : {std::pair{"64 ", 8}, {"32 ", 4}, {"16 ", 2}})
        if (parameter.find(width) != std::string_view::npos) return static_cast<std::size_t>(bytes);
    return 1;
}

Result status() {
    if (fake.sticky != success) return fake.sticky;
    return fake.hanging || Clock::now() < fake.busy_until ? not_ready : success;
}

// Leaves a text where a test asks for it.
void keep(std::string_view text) {
    static int count = 0;
    if (const char* folder = std::getenv("FAKE_CUDA_TEXTS"))
        std::ofstream(std::string(folder) + "/" + std::to_string(::getpid()) + "-" + std::to_string(++count) +
                      ".ptx")
            << text;
}

// What becomes of the context when the kernel runs.
Result outcome(const std::string& name) {
    if (name == "illegal" || std::getenv("FAKE_CUDA_FAULTY") != nullptr) return illegal_address;
    if (name == "misaligned") return misaligned_address;
    return name == "trap" ? launch_failed : success;
}

bool inside(DevicePointer at, std::size_t bytes) {
    const FakeBlock block = fake_block(at);
    return block.bytes != 0 && at + bytes <= block.start + block.bytes;
}

}  // namespace

FakeBlock fake_block(DevicePointer address) {
    auto it = fake.blocks.upper_bound(address);
    if (it == fake.blocks.begin()) return {};
    --it;
    return address < it->first + it->second ? FakeBlock{it->first, it->second} : FakeBlock{};
}

extern "C" {

Result cuInit(unsigned) {
    const char* stuck = std::getenv("FAKE_CUDA_STUCK");
    if (stuck != nullptr && std::string_view(stuck) == "init") never();
    return success;
}
Result cuDriverGetVersion(int* version) { return *version = 13000, success; }
Result cuGetErrorName(Result error, const char** text) {
    switch (error) {
        case invalid_value: *text = "CUDA_ERROR_INVALID_VALUE"; break;
        case illegal_address: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
        case misaligned_address: *text = "CUDA_ERROR_MISALIGNED_ADDRESS"; break;
        case launch_failed: *text = "CUDA_ERROR_LAUNCH_FAILED"; break;
        case launch_out_of_resources: *text = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; break;
        default: return invalid_value;
    }
    return success;
}
Result cuGetErrorString(Result, const char** text) { return *text = "a fake", success; }
Result cuDeviceGetCount(int* count) {
    const char* devices = std::getenv("FAKE_CUDA_DEVICES");
    return *count = devices == nullptr ? 1 : std::atoi(devices), success;
}
Result cuDeviceGet(int* device, int ordinal) { return *device = ordinal, success; }
Result cuDeviceGetName(char* name, int length, int) {
    return std::strncpy(name, "Fake H100", static_cast<std::size_t>(length)), success;
}
Result cuDeviceGetAttribute(int* value, DeviceAttribute which, int) {
    switch (which) {
        case DeviceAttribute::compute_capability_major: *value = 9; break;
        case DeviceAttribute::multiprocessor_count: *value = 132; break;
        case DeviceAttribute::memory_clock_rate: *value = 2619000; break;
        case DeviceAttribute::global_memory_bus_width: *value = 5120; break;
        case DeviceAttribute::l2_cache_size: *value = 50 << 20; break;
        case DeviceAttribute::max_shared_memory_per_block_optin: *value = 232448; break;
        default: *value = 0;
    }
    return success;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = memory_bytes, success; }
Result cuDevicePrimaryCtxRetain(Handle* context, int) { return *context = &fake, fake.sticky; }
Result cuDevicePrimaryCtxRelease_v2(int) { return success; }
Result cuCtxSetCurrent(Handle) { return success; }
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *total = memory_bytes;
    *free = memory_bytes - fake.used;
    return fake.sticky;
}
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
    if (fake.sticky != success) return fake.sticky;
    if (bytes > memory_bytes - fake.used) return out_of_memory;
    *pointer = reinterpret_cast<std::uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    std::memset(reinterpret_cast<void*>(*pointer), 0xA5, bytes);
    fake.blocks[*pointer] = bytes;
    fake.used += bytes;
    return success;
}
Result cuMemFree_v2(DevicePointer pointer) {
    const auto it = fake.blocks.find(pointer);
    if (it == fake.blocks.end()) return invalid_value;
    fake.used -= it->second;
    fake.blocks.erase(it);
    std::free(reinterpret_cast<void*>(pointer));
    return fake.sticky;
}
Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
    if (fake.sticky != success) return fake.sticky;
    if (!inside(to, bytes)) return invalid_value;
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), success;
}
Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
    if (fake.sticky != success) return fake.sticky;
    if (!inside(from, bytes)) return invalid_value;
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), success;
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t bytes, Handle) {
    if (!inside(to, bytes)) return invalid_value;
    return std::memset(reinterpret_cast<void*>(to), value, bytes), fake.sticky;
}
Result cuModuleLoadDataEx(Handle* module, const void* image, unsigned count, JitOption* options,
                          void** values) {
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == JitOption::info_log_buffer || options[i] == JitOption::error_log_buffer)
            *static_cast<char*>(values[i]) = 0;
    if (fake.sticky != success) return fake.sticky;
    const std::string_view text = static_cast<const char*>(image);
    const std::size_t entry = text.find(".entry ");
    if (entry == std::string_view::npos) return invalid_ptx;
    const std::size_t open = text.find('(', entry), close = text.find(')', open);
    auto kernel = std::make_unique<Kernel>();
    kernel->name = text.substr(entry + 7, open - entry - 7);
    std::string_view list = text.substr(open + 1, close - open - 1);
    keep(text);
    while (list.find(".param") != std::string_view::npos) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma).find("guard_block") != std::string_view::npos) {
            kernel->block = kernel->parameters.size();
            kernel->guards = FakeGuards(text);
        }
        if (list.substr(0, comma).find("param_messages") != std::string_view::npos) {
            kernel->control = kernel->parameters.size();
            kernel->messages = FakeMessages(text);
        }
        if (list.substr(0, comma).find("param_profile") != std::string_view::npos) {
            kernel->profile = kernel->parameters.size();
            kernel->timestamps = FakeTimestamps(text);
        }
        kernel->parameters.push_back(bytes_of(list.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
    }
    if (kernel->name == "stuck") never();
    *module = kernel.release();
    return success;
}
Result cuModuleUnload(Handle module) { return delete static_cast<Kernel*>(module), success; }
Result cuModuleGetFunction(Handle* function, Handle module, const char* name) {
    return *function = module, static_cast<Kernel*>(module)->name == name ? success : not_found;
}
Result cuFuncGetAttribute(int* value, FunctionAttribute which, Handle) {
    *value = which == FunctionAttribute::max_threads_per_block ? 1024 : 0;
    return success;
}
Result cuFuncSetAttribute(Handle, FunctionAttribute, int) { return success; }
Result cuFuncGetParamInfo(Handle function, std::size_t index, std::size_t* offset, std::size_t* size) {
    const Kernel& kernel = *static_cast<Kernel*>(function);
    if (index >= kernel.parameters.size()) return invalid_value;
    *offset = 0;
    *size = kernel.parameters[index];
    return success;
}
Result cuOccupancyMaxActiveClusters(int* clusters, Handle, const LaunchConfig*) {
    return *clusters = 132, success;
}
Result cuLaunchKernelEx(const LaunchConfig*, Handle function, void** parameters, void**) {
    if (fake.sticky != success) return fake.sticky;
    const Kernel& kernel = *static_cast<Kernel*>(function);
    const std::string& name = kernel.name;
    std::byte* block = nullptr;
    if (kernel.block != SIZE_MAX) std::memcpy(&block, parameters[kernel.block], sizeof block);
    if (name == "too_large") return launch_out_of_resources;
    if (name == "suicide") ::kill(::getpid(), SIGKILL);
    fake.sticky = outcome(name);
    if (kernel.control != SIZE_MAX) {
        std::byte* control = nullptr;
        std::memcpy(&control, parameters[kernel.control], sizeof control);
        if (kernel.messages.run(control)) fake.sticky = launch_failed;
    }
    if (kernel.profile != SIZE_MAX && fake.sticky == success) {
        std::byte* timestamps = nullptr;
        std::memcpy(&timestamps, parameters[kernel.profile], sizeof timestamps);
        kernel.timestamps.run(timestamps);
    }
    if (fake.sticky != success && block != nullptr) kernel.guards.fault(block);
    if (name == "hang") {
        fake.hanging = true;
        if (block != nullptr) kernel.guards.hang(block, 0x7ffff3f8001ffff6);  // 3 of 5 have come, 16 KiB not
        if (block != nullptr && !kernel.guards.polls.empty())
            fake.sticky = launch_failed;  // the guard's trap
    }
    if (name == "slow") fake.busy_until = Clock::now() + std::chrono::milliseconds(50);
    if (name == "add_one" && !fake.hanging) {
        float* data = nullptr;
        std::uint32_t count = 0;
        std::memcpy(&data, parameters[0], 8);
        std::memcpy(&count, parameters[1], 4);
        for (std::uint32_t i = 0; i < count; ++i) data[i] += 1;
    }
    return success;
}
Result cuStreamQuery(Handle) { return status(); }
Result cuEventCreate(Handle* event, unsigned) { return *event = new int(0), success; }
Result cuEventDestroy_v2(Handle event) { return delete static_cast<int*>(event), success; }
Result cuEventRecord(Handle, Handle) { return fake.sticky; }
Result cuEventQuery(Handle) { return status(); }
Result cuEventElapsedTime(float* milliseconds, Handle, Handle) { return *milliseconds = 1, status(); }
Result cuTensorMapEncodeTiled(void* map, int, std::uint32_t, void* address, const std::uint64_t*,
                              const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int,
                              int) {
    std::memset(map, 0, 128);
    return std::memcpy(map, &address, sizeof address), success;
}
Result cuTensorMapEncodeIm2col(void* map, int, std::uint32_t, void*, const std::uint64_t*,
                               const std::uint64_t*, const int*, const int*, std::uint32_t, std::uint32_t,
                               const std::uint32_t*, int, int, int, int) {
    return std::memset(map, 0, 128), success;
}
Result cuMemHostRegister_v2(void*, std::size_t, unsigned) { return success; }
Result cuMemHostUnregister(void*) { return success; }
Result cuMemHostGetDevicePointer_v2(DevicePointer* pointer, void* memory, unsigned) {
    return *pointer = reinterpret_cast<std::uintptr_t>(memory), success;
}

}  // extern "C"
