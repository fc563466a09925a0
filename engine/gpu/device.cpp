#include <fmt/format.h>

#include <utility>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/link.hpp"

namespace wgrun::gpu {

namespace {

// The process-wide contexts are never destroyed: the driver may be gone before our statics are, and giving
// back a context whose kernel hangs would keep the process from ending.
struct Process {
    std::mutex mutex;
    std::shared_ptr<Context> worker, process;
};

Process& process() {
    static Process* const instance = new Process;
    return *instance;
}

/// The driver according to `isolation`; this process's own if there is no worker.
const Driver* driver_of(Isolation isolation, const DriverLibrary& library) {
    if (library.functions == nullptr) return nullptr;
    return isolation == Isolation::worker && find_worker() ? &worker_driver() : library.functions;
}

}  // namespace

std::string_view to_string(Isolation isolation) {
    return isolation == Isolation::worker ? "worker" : "process";
}

Isolation isolation_named(std::string_view name) {
    if (name == "worker") return Isolation::worker;
    if (name == "process") return Isolation::process;
    throw ArgumentError(fmt::format("unknown isolation `{}`", name), "worker or process");
}

Device::Device(const Driver& driver) : context_(std::make_shared<Context>(driver)) {}

Device Device::get(Isolation isolation) {
    const DriverLibrary library = find_driver();
    const Driver* const driver = driver_of(isolation, library);
    if (driver == nullptr)
        throw EnvironmentError("ENODEV", fmt::format("no GPU to run on: {}", library.part.missing),
                               "use the simulator (backend = \"sim\")");
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    std::shared_ptr<Context>& context = driver->worker != nullptr ? here.worker : here.process;
    // A forked child can have a worker of its own. Its parent's context stays where it is.
    if (context != nullptr && context->foreign() && driver->worker != nullptr)
        new std::shared_ptr<Context>(std::exchange(context, nullptr));
    if (context == nullptr) context = std::make_shared<Context>(*driver);
    context->enter();
    return Device(context);
}

std::optional<std::string> Device::unavailable(Isolation isolation) {
    const DriverLibrary library = find_driver();
    const Driver* const driver = driver_of(isolation, library);
    if (driver == nullptr) return library.part.missing;
    {
        Process& here = process();
        const std::lock_guard lock(here.mutex);
        const std::shared_ptr<Context>& context = driver->worker != nullptr ? here.worker : here.process;
        if (context != nullptr && !context->foreign()) return std::nullopt;
    }
    const DeviceList list = list_devices(*driver);
    if (!list.chosen) return list.why_none;
    return std::nullopt;
}

std::size_t Device::held_bytes() {
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    std::size_t sum = 0;
    for (const std::shared_ptr<Context>& context : {here.worker, here.process})
        if (context != nullptr) sum += context->held_bytes;
    return sum;
}

const DeviceInfo& Device::info() const { return context_->info(); }

std::size_t Device::free_bytes() const {
    const Context::Entered cuda = context_->enter();
    std::size_t free = 0;
    std::size_t total = 0;
    cuda.check(cuda.driver().mem_get_info(&free, &total), "asking for the free memory");
    return free;
}

void Device::wait() const { context_->wait(); }

}  // namespace wgrun::gpu
