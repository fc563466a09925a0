#include <fmt/format.h>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"

namespace wgrun::gpu {

namespace {

// The process-wide context is never destroyed: the driver may be gone before our statics are, and giving back
// a context whose kernel hangs would keep the process from ending.
struct Process {
    std::mutex mutex;
    std::shared_ptr<Context> context;
};

Process& process() {
    static Process* const instance = new Process;
    return *instance;
}

}  // namespace

Device::Device(const Driver& driver) : context_(std::make_shared<Context>(driver)) {}

Device Device::get() {
    const DriverLibrary library = find_driver();
    if (library.functions == nullptr)
        throw EnvironmentError("ENODEV", fmt::format("no GPU to run on: {}", library.part.missing),
                               "use the simulator (backend = \"sim\")");
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    if (here.context == nullptr) here.context = std::make_shared<Context>(*library.functions);
    here.context->enter();
    return Device(here.context);
}

std::optional<std::string> Device::unavailable() {
    const DriverLibrary library = find_driver();
    if (library.functions == nullptr) return library.part.missing;
    const DeviceList list = list_devices(*library.functions);
    if (!list.chosen) return list.why_none;
    return std::nullopt;
}

const DeviceInfo& Device::info() const { return context_->info(); }

std::size_t Device::free_bytes() const {
    const Context::Entered cuda = context_->enter();
    std::size_t free = 0;
    std::size_t total = 0;
    cuda.check(cuda.driver().mem_get_info(&free, &total), "asking for the free memory");
    return free;
}

void Device::set_timeout(std::chrono::milliseconds timeout) {
    if (timeout.count() < 0)
        throw ArgumentError(
            fmt::format("a timeout of {} ms: it must be 0 (for ever) or more", timeout.count()));
    context_->timeout = timeout;
}

std::chrono::milliseconds Device::timeout() const { return context_->timeout; }

void Device::wait() const { context_->wait(); }

}  // namespace wgrun::gpu
