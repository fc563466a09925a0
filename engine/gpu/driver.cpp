#include "gpu/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "gpu/error_codes.hpp"
#include "gpu/jit_logs.hpp"
#include "gpu/library.hpp"

namespace wgrun::gpu {

namespace {

struct LoadedDriver {
    Driver functions{};
    Part part;
};

// The name of the first function that the library lacks; null if it has them all.
const char* bind_all(const Library& library, Driver& driver) {
    const char* lacking = nullptr;
    const auto bind = [&](auto& function, const char* symbol) {
        if (!library.bind(function, symbol) && lacking == nullptr) lacking = symbol;
    };
    // The suffixes are those that cuda.h gives these names: the versions with 64-bit sizes.
    bind(driver.init, "cuInit");
    bind(driver.driver_get_version, "cuDriverGetVersion");
    bind(driver.get_error_name, "cuGetErrorName");
    bind(driver.get_error_string, "cuGetErrorString");
    bind(driver.device_get_count, "cuDeviceGetCount");
    bind(driver.device_get, "cuDeviceGet");
    bind(driver.device_get_name, "cuDeviceGetName");
    bind(driver.device_get_attribute, "cuDeviceGetAttribute");
    bind(driver.device_total_mem, "cuDeviceTotalMem_v2");
    bind(driver.primary_context_retain, "cuDevicePrimaryCtxRetain");
    bind(driver.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    bind(driver.context_set_current, "cuCtxSetCurrent");
    bind(driver.mem_get_info, "cuMemGetInfo_v2");
    bind(driver.mem_alloc, "cuMemAlloc_v2");
    bind(driver.mem_free, "cuMemFree_v2");
    bind(driver.memcpy_host_to_device, "cuMemcpyHtoD_v2");
    bind(driver.memcpy_device_to_host, "cuMemcpyDtoH_v2");
    bind(driver.memset_d8_async, "cuMemsetD8Async");
    bind(driver.module_load_data_ex, "cuModuleLoadDataEx");
    bind(driver.module_unload, "cuModuleUnload");
    bind(driver.module_get_function, "cuModuleGetFunction");
    bind(driver.function_get_attribute, "cuFuncGetAttribute");
    bind(driver.function_set_attribute, "cuFuncSetAttribute");
    bind(driver.occupancy_max_active_clusters, "cuOccupancyMaxActiveClusters");
    bind(driver.launch_kernel_ex, "cuLaunchKernelEx");
    bind(driver.stream_query, "cuStreamQuery");
    bind(driver.event_create, "cuEventCreate");
    bind(driver.event_destroy, "cuEventDestroy_v2");
    bind(driver.event_record, "cuEventRecord");
    bind(driver.event_query, "cuEventQuery");
    bind(driver.mem_host_register, "cuMemHostRegister_v2");
    bind(driver.mem_host_unregister, "cuMemHostUnregister");
    bind(driver.mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2");
    bind(driver.event_elapsed_time, "cuEventElapsedTime");
    bind(driver.tensor_map_encode_tiled, "cuTensorMapEncodeTiled");
    bind(driver.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
    library.bind(driver.function_get_param_info, "cuFuncGetParamInfo");
    return lacking;
}

LoadedDriver load_driver() {
    constexpr std::array<std::string_view, 1> names = {"libcuda.so.1"};
    // Besides the loader's path: the places of the Windows subsystem and of NVIDIA's containers.
    const std::vector<std::string> folders = {"", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};
    const Library library = open_library(names, folders);
    LoadedDriver loaded{{}, library.part};
    if (!loaded.part) return loaded;
    if (const char* lacking = bind_all(library, loaded.functions)) {
        loaded.part.missing = fmt::format("{} has no {}: the driver is too old, CUDA 12.0 or newer is needed",
                                          loaded.part.path, lacking);
        return loaded;
    }
    int version = 0;
    loaded.functions.driver_get_version(&version);
    // The toolkit's stub has none.
    if (version > 0) loaded.part.version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    return loaded;
}

DeviceInfo describe(const Driver& driver, int ordinal) {
    DeviceInfo info;
    info.ordinal = ordinal;
    abi::DeviceOrdinal device = 0;
    throw_worker_trouble(driver, driver.device_get(&device, ordinal), "asking for a device");
    std::array<char, 256> name{};
    driver.device_get_name(name.data(), name.size() - 1, device);
    info.name = name.data();
    const auto attribute = [&](abi::DeviceAttribute which) {
        int value = 0;
        driver.device_get_attribute(&value, which, device);
        return value;
    };
    info.major = attribute(abi::DeviceAttribute::compute_capability_major);
    info.minor = attribute(abi::DeviceAttribute::compute_capability_minor);
    info.sm_count = attribute(abi::DeviceAttribute::multiprocessor_count);
    info.l2_bytes = static_cast<std::size_t>(attribute(abi::DeviceAttribute::l2_cache_size));
    info.shared_bytes =
        static_cast<std::size_t>(attribute(abi::DeviceAttribute::max_shared_memory_per_block_optin));
    info.memory_bandwidth =
        2e3 * attribute(abi::DeviceAttribute::memory_clock_rate) *
        (attribute(abi::DeviceAttribute::global_memory_bus_width) / 8.0);  // two words a clock
    driver.device_total_mem(&info.memory_bytes, device);
    driver.driver_get_version(&info.driver_version);
    return info;
}

}  // namespace

DriverLibrary find_driver() {
    if (const std::string off = cuda_switched_off(); !off.empty()) return {nullptr, {"", "", off}};
    static const LoadedDriver loaded = load_driver();
    return {loaded.part ? &loaded.functions : nullptr, loaded.part};
}

std::string error_text(const Driver& driver, abi::Result result) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.get_error_name(result, &name) != abi::success || name == nullptr) {
        const ErrorCode* known = find_error(static_cast<int>(result));
        return known == nullptr ? fmt::format("CUDA error {}", result)
                                : fmt::format("CUDA error {}: {}; {}", result, known->meaning, known->cause);
    }
    driver.get_error_string(result, &text);
    return fmt::format("{} ({})", name, text == nullptr ? "no text" : text);
}

void throw_if_refused(const Driver& driver, abi::Result result, std::string_view text, const JitLogs& logs) {
    if (result != abi::invalid_ptx && result != abi::unsupported_ptx_version) return;
    AssemblerLog log = parse_log(logs.error());
    const ErrorCode* known = find_error(static_cast<int>(result));
    if (log.text.empty()) {
        constexpr std::string_view directive = ".version ";
        const std::size_t at = text.find(directive);
        std::string_view version = at == std::string_view::npos ? "?" : text.substr(at + directive.size());
        version = version.substr(0, version.find_first_not_of("0123456789."));
        log.text = fmt::format("{}: the text has .version {}, the driver is of CUDA {}",
                               error_text(driver, result), version, find_driver().part.version);
    }
    CompileError error("the driver's assembler", std::move(log));
    if (known != nullptr && error.finding().fix.empty()) error.finding().fix = known->remedy;
    throw error;
}

void throw_worker_trouble(const Driver& driver, abi::Result result, std::string_view doing) {
    if (result >= 0) return;
    if (result == abi::interrupted) throw Error("EINTR", plain_error("interrupted"));
    const std::string words = driver.worker->last_words();
    if (result == abi::worker_silent)
        throw EnvironmentError("ETIMEDOUT",
                               fmt::format("while {}: the worker process {}, and was ended", doing, words),
                               "check with nvidia-smi whether the device responds at all");
    throw EnvironmentError("EFAULT", fmt::format("while {}: the worker process {}", doing, words));
}

bool is_sticky(abi::Result result) {
    switch (result) {
        case abi::ecc_uncorrectable:
        case abi::contained:
        case abi::illegal_address:
        case abi::launch_timeout:
        case abi::context_is_destroyed:
        case abi::device_assert:
        case abi::hardware_stack_error:
        case abi::illegal_instruction:
        case abi::misaligned_address:
        case abi::invalid_address_space:
        case abi::invalid_pc:
        case abi::launch_failed:
        case abi::unknown: return true;
        default: return false;
    }
}

std::string fault_advice(abi::Result result) {
    switch (result) {
        case abi::illegal_address:
            return "an access was outside of its tensor or of shared memory, or a pointer argument is wrong: "
                   "the "
                   "simulator names the line";
        case abi::misaligned_address:
            return "an address is not a multiple of its access, mbarrier (8 bytes) or TMA tile (128 bytes): "
                   "the simulator "
                   "names the line";
        case abi::illegal_instruction:
            return "an instruction got illegal operands at run time: check tensor maps, where boxes start "
                   "(WG-TMA-06), mbarriers, setmaxnreg and descriptors, or run it on the simulator";
        case abi::invalid_address_space:
            return "an address of one state space was used for another, such as a generic address for shared "
                   "memory";
        case abi::ecc_uncorrectable: return "the device's memory failed, which is not the kernel's fault";
        default: return "run it on the simulator, which names the line";
    }
}

DeviceList list_devices(const Driver& driver) {
    DeviceList list;
    if (const abi::Result result = driver.init(0); result != abi::success) {
        throw_worker_trouble(driver, result, "starting the driver");
        list.why_none = fmt::format("cuInit returned {}", error_text(driver, result));
        return list;
    }
    int count = 0;
    if (const abi::Result result = driver.device_get_count(&count); result != abi::success) {
        throw_worker_trouble(driver, result, "asking for the devices");
        list.why_none = fmt::format("cuDeviceGetCount returned {}", error_text(driver, result));
        return list;
    }
    std::vector<std::string> others;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        list.devices.push_back(describe(driver, ordinal));
        const DeviceInfo& info = list.devices.back();
        if (info.major != 9 || info.minor != 0)
            others.push_back(fmt::format("{} (sm_{}{})", info.name, info.major, info.minor));
        else if (!list.chosen)
            list.chosen = static_cast<std::size_t>(ordinal);
    }
    if (count == 0)
        list.why_none = "the driver sees no device";
    else if (!list.chosen)
        list.why_none = fmt::format("no sm_90 device, only {}", fmt::join(others, ", "));
    return list;
}

}  // namespace wgrun::gpu
