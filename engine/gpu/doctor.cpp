#include <filesystem>
#include <system_error>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/cublas.hpp"
#include "gpu/driver.hpp"
#include "gpu/link.hpp"
#include "gpu/worker_process.hpp"

namespace wgrun::gpu {

namespace {

DeviceList found_devices(const DriverLibrary& driver, const Part& worker) {
    if (driver.functions == nullptr) return {{}, std::nullopt, "there is no driver"};
    return list_devices(worker ? worker_driver() : *driver.functions);
}

}  // namespace

DeviceInfo find_device() {
    const DeviceList list = found_devices(find_driver(), find_worker());
    if (!list.chosen) throw EnvironmentError("ENODEV", list.why_none);
    return list.devices[*list.chosen];
}

MachineReport doctor() {
    MachineReport report;
    const DriverLibrary driver = find_driver();
    report.driver = driver.part;
    report.worker = find_worker();
    DeviceList list = found_devices(driver, report.worker);
    report.devices = std::move(list.devices);
    report.no_device = std::move(list.why_none);
    std::error_code ignored;
    if (const auto file = std::filesystem::read_symlink(report.worker.path, ignored); !file.empty())
        report.worker.path = file.string();
    report.nvrtc = find_nvrtc().part;
    report.ptxas = find_ptxas(true);
    report.cublas = find_cublas();
    report.cache = Cache::standard().info();
    return report;
}

}  // namespace wgrun::gpu
