#include <filesystem>
#include <system_error>

#include "gpu/cache.hpp"
#include "gpu/compile.hpp"
#include "gpu/cublas.hpp"
#include "gpu/driver.hpp"
#include "gpu/link.hpp"
#include "gpu/worker_process.hpp"

namespace wgrun::gpu {

MachineReport doctor() {
    MachineReport report;
    const DriverLibrary driver = find_driver();
    report.driver = driver.part;
    report.worker = find_worker();
    std::error_code ignored;
    if (const auto file = std::filesystem::read_symlink(report.worker.path, ignored); !file.empty())
        report.worker.path = file.string();
    if (driver.functions == nullptr) {
        report.no_device = "there is no driver";
    } else {
        DeviceList list = list_devices(report.worker ? worker_driver() : *driver.functions);
        report.devices = std::move(list.devices);
        report.no_device = std::move(list.why_none);
    }
    report.nvrtc = find_nvrtc().part;
    report.ptxas = find_ptxas(true);
    report.cublas = find_cublas();
    report.cache = Cache::standard().info();
    return report;
}

}  // namespace wgrun::gpu
