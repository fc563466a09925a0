#include "gpu/host_driver.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "gpu/driver.hpp"
#include "gpu/library.hpp"

namespace wgrun::gpu {

namespace {

struct LoadedHostDriver {
    HostDriver functions{};
    std::string missing;  ///< why there is none
};

LoadedHostDriver load_host_driver() {
    LoadedHostDriver loaded;
    const DriverLibrary base = find_driver();
    if (base.functions == nullptr) {
        loaded.missing = base.part.missing;
        return loaded;
    }
    HostDriver& driver = loaded.functions;
    driver.base = base.functions;
    const std::array<std::string_view, 1> names = {base.part.path};
    const std::array<std::string, 1> folders = {""};
    const Library library = open_library(names, folders);
    const auto bind = [&](auto& function, const char* symbol) {
        if (!library.bind(function, symbol) && loaded.missing.empty())
            loaded.missing = fmt::format("{} has no {}: the driver is too old, CUDA 12.0 or newer is needed",
                                         base.part.path, symbol);
    };
    bind(driver.context_get_current, "cuCtxGetCurrent");
    bind(driver.context_get_device, "cuCtxGetDevice");
    bind(driver.context_get_id, "cuCtxGetId");
    bind(driver.context_push, "cuCtxPushCurrent_v2");
    bind(driver.context_pop, "cuCtxPopCurrent_v2");
    bind(driver.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
    bind(driver.stream_is_capturing, "cuStreamIsCapturing");
    bind(driver.link_create, "cuLinkCreate_v2");
    bind(driver.link_add_data, "cuLinkAddData_v2");
    bind(driver.link_complete, "cuLinkComplete");
    bind(driver.link_destroy, "cuLinkDestroy");
    if (!loaded.missing.empty()) return loaded;
    if (const abi::Result result = driver.base->init(0); result != abi::success)
        loaded.missing = fmt::format("cuInit returned {}", error_text(*driver.base, result));
    return loaded;
}

}  // namespace

const HostDriver& host_driver() {
    static const LoadedHostDriver loaded = load_host_driver();
    if (!loaded.missing.empty())
        throw EnvironmentError("ENODEV", fmt::format("no GPU to run on: {}", loaded.missing),
                               "pass host memory, and run the kernel on the simulator");
    return loaded.functions;
}

}  // namespace wgrun::gpu
