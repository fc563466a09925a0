#include "gpu/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <thread>
#include <utility>

#include "gpu/driver.hpp"

namespace wgrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

Context::Context(const Driver& driver) : driver_(driver), process_(::getpid()) {
    const DeviceList list = list_devices(driver);
    if (!list.chosen)
        throw EnvironmentError("ENODEV", fmt::format("no GPU to run on: {}", list.why_none),
                               "use the simulator (backend = \"sim\")");
    info_ = list.devices[*list.chosen];
    abi::Result result = driver_.device_get(&device_, info_.ordinal);
    if (result == abi::success) result = driver_.primary_context_retain(&context_, device_);
    if (result != abi::success)
        throw EnvironmentError(
            "ENODEV", fmt::format("{} gives no context: {}", info_.name, error_text(driver_, result)),
            "look with nvidia-smi whether another process holds the device exclusively");
}

Context::~Context() {
    if (::getpid() == process_ && context_ != nullptr) driver_.primary_context_release(device_);
}

Context::Entered Context::enter() {
    if (::getpid() != process_)
        throw EnvironmentError("ENODEV",
                               "CUDA was started before fork(), and the child process cannot use it",
                               "fork before the first use of the GPU, or start a new program");
    const std::lock_guard lock(mutex_);
    adopt_renewed();
    if (!broken_.empty()) throw EnvironmentError("EFAULT", broken_, "start the program again");
    if (const abi::Result result = driver_.context_set_current(context_); result != abi::success)
        throw EnvironmentError("EFAULT", fmt::format("cuCtxSetCurrent says {}", error_text(driver_, result)));
    return {*this, generation_};
}

Context::Entered Context::enter(std::uint64_t generation, std::string_view what) {
    Entered entered = enter();
    if (generation != entered.generation())
        throw EnvironmentError("EFAULT",
                               fmt::format("{} was lost with the device context when a kernel failed", what),
                               "make it again after the failure");
    return entered;
}

void Context::Entered::check(abi::Result result, std::string_view doing) const {
    if (result != abi::success) context_->fail(result, generation_, doing);
}

void Context::started(std::string_view kernel) {
    if (!kernel.empty()) {
        const std::lock_guard lock(mutex_);
        last_kernel_ = kernel;
    }
    ++started_;
}

std::string Context::kernels() const {
    const std::lock_guard lock(mutex_);
    return last_kernel_.empty() ? "the device" : fmt::format("kernel `{}`", last_kernel_);
}

void Context::fail(abi::Result result, std::uint64_t generation, std::string_view doing) {
    if (!is_sticky(result))
        throw EnvironmentError("EFAULT", fmt::format("while {}: {}", doing, error_text(driver_, result)));
    const std::string message = fmt::format("{} failed: {}", kernels(), error_text(driver_, result));
    const std::string trouble = renew(generation);
    throw EnvironmentError("EFAULT", trouble.empty() ? message : fmt::format("{}; {}", message, trouble),
                           fault_advice(result));
}

void Context::hung(std::uint64_t generation) {
    const std::string message = fmt::format("{} did not end within {} s", kernels(), seconds(timeout));
    const std::string trouble = renew(generation);
    throw EnvironmentError(
        "ETIMEDOUT", trouble.empty() ? message : fmt::format("{}; {}", message, trouble),
        "most likely a barrier that nobody completes: the simulator names it; a kernel that is just "
        "slow needs a longer timeout");
}

// Resets the primary context; what went wrong with that, or nothing. Whoever comes second to the same failure
// finds the generation changed and leaves the new context alone.
std::string Context::renew(std::uint64_t generation) {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return {};
    ++generation_;
    pending_.clear();  // gone with the context
    finished_ = started_.load();
    last_kernel_.clear();

    // The driver may not come back from resetting a context whose kernel never ends, so a thread of its own
    // asks it.
    std::promise<Renewed> promise;
    renewing_ = promise.get_future();
    std::thread([&driver = driver_, device = device_, promise = std::move(promise)]() mutable {
        Renewed renewed;
        renewed.result = driver.primary_context_reset(device);
        driver.primary_context_release(device);
        if (renewed.result == abi::success)
            renewed.result = driver.primary_context_retain(&renewed.context, device);
        promise.set_value(renewed);
    }).detach();
    if (renewing_.wait_for(reset_timeout.load()) != std::future_status::ready)
        return "the driver has not been able to end it so far";
    adopt_renewed();
    return broken_;
}

// Takes the context that a reset has brought, if one is under way and done. The mutex is held.
void Context::adopt_renewed() {
    if (!renewing_.valid()) return;
    if (renewing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        throw EnvironmentError("ETIMEDOUT",
                               "the GPU is still busy with a kernel that hangs, which the driver cannot end",
                               "end this process");
    const Renewed renewed = renewing_.get();
    context_ = renewed.context;
    if (renewed.result != abi::success)
        broken_ =
            fmt::format("the device context could not be made anew: {}", error_text(driver_, renewed.result));
}

void Context::wait() {
    const Entered cuda = enter();
    if (!busy()) return;
    const std::uint64_t started = started_;
    const auto start = Clock::now();
    const std::chrono::nanoseconds limit = timeout.load();
    for (;;) {
        const abi::Result result = driver_.stream_query(nullptr);
        if (result != abi::not_ready) {
            cuda.check(result, "waiting for the device");
            break;
        }
        const auto waited = Clock::now() - start;
        if (limit.count() > 0 && waited > limit) hung(cuda.generation());
        // Short kernels are met by spinning, long ones by sleeping an eighth of what has passed, at most 1
        // ms.
        if (waited > std::chrono::microseconds(200))
            std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, std::chrono::milliseconds(1)));
    }
    finished_ = started;
    const std::lock_guard lock(mutex_);
    if (!busy()) last_kernel_.clear();
    free_pending();
}

void Context::free_now(const Pending& pending) const {
    // Errors are of no use here: one of a kernel will be met by the next call that can report it.
    if (pending.kind == Kind::memory)
        driver_.mem_free(pending.handle);
    else
        driver_.module_unload(std::bit_cast<abi::Handle>(pending.handle));
}

void Context::free_pending() {
    for (const Pending& pending : std::exchange(pending_, {})) free_now(pending);
}

void Context::release(Kind kind, std::uint64_t handle, std::uint64_t generation) noexcept {
    try {
        if (::getpid() != process_) return;
        const std::lock_guard lock(mutex_);
        if (generation != generation_ || context_ == nullptr) return;
        if (driver_.context_set_current(context_) != abi::success) return;
        // Both calls would wait for running kernels, perhaps for ever.
        if (busy() && driver_.stream_query(nullptr) == abi::not_ready)
            pending_.push_back({kind, handle});
        else
            free_now({kind, handle});
    } catch (...) {  // no memory to remember it: it stays until the context goes
    }
}

bool Context::collect() {
    {
        const std::lock_guard lock(mutex_);
        if (pending_.empty()) return false;
    }
    wait();
    return true;
}

}  // namespace wgrun::gpu
