#include "gpu/context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "gpu/driver.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

// The driver takes about a thousand launches before it makes the caller wait.
constexpr std::uint64_t queue_limit = 512;
constexpr std::uint64_t mark_distance = 64;
constexpr unsigned event_without_timing = 2;  // CU_EVENT_DISABLE_TIMING
constexpr std::size_t kernels_named = 4;

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

bool stopped() {
    const std::atomic<bool>* stop = Patience::current().stop;
    return (stop != nullptr && *stop) || Cancellation::requested();
}

// Spins at first, then sleeps an eighth of the time that has passed, at most 1 ms.
void breathe(Clock::duration waited) {
    if (waited > std::chrono::microseconds(200))
        std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, std::chrono::milliseconds(1)));
}

}  // namespace

Context::Context(const Driver& driver) : driver_(driver), process_(::getpid()) {
    const DeviceList list = list_devices(driver);
    if (!list.chosen)
        throw EnvironmentError("ENODEV", fmt::format("no GPU to run on: {}", list.why_none),
                               "use the simulator (backend = \"sim\")");
    info_ = list.devices[*list.chosen];
    retain();
}

Context::~Context() {
    if (::getpid() != process_ || context_ == nullptr) return;
    for (const Mark& mark : marks_) driver_.event_destroy(mark.event);
    for (const abi::Handle event : free_events_) driver_.event_destroy(event);
    driver_.primary_context_release(device_);
}

void Context::retain() {
    abi::Handle context = nullptr;
    abi::Result result = driver_.device_get(&device_, info_.ordinal);
    if (result == abi::success) result = driver_.primary_context_retain(&context, device_);
    throw_worker_trouble(driver_, result, "making a context");
    if (result != abi::success)
        throw EnvironmentError(
            "ENODEV", fmt::format("{} gives no context: {}", info_.name, error_text(driver_, result)),
            "check with nvidia-smi whether another process uses the device exclusively");
    context_ = context;
}

bool Context::foreign() const { return ::getpid() != process_; }

Context::Entered Context::enter() {
    if (foreign())
        throw EnvironmentError("ENODEV",
                               "CUDA was started before fork(), and the child process cannot use it",
                               "fork before the first use of the GPU, or start a new program");
    const std::lock_guard lock(mutex_);
    if (!broken_.empty())
        throw EnvironmentError("EFAULT", broken_,
                               "restart the program, or run kernels in a worker process (--gpu=worker)");
    if (context_ == nullptr) {
        const abi::Result begun = driver_.init(0);
        throw_worker_trouble(driver_, begun, "starting the driver");
        if (begun != abi::success)
            throw EnvironmentError("ENODEV", fmt::format("cuInit returned {}", error_text(driver_, begun)));
        retain();
    }
    if (const abi::Result result = driver_.context_set_current(context_); result != abi::success)
        throw EnvironmentError("EFAULT",
                               fmt::format("cuCtxSetCurrent returned {}", error_text(driver_, result)));
    return {*this, generation_};
}

Context::Entered Context::enter(std::uint64_t generation, std::string_view what) {
    if (generation != generation_)
        throw EnvironmentError("EFAULT",
                               fmt::format("{} was lost with the worker process when a kernel failed", what),
                               "make it again after the failure");
    Entered entered = enter();
    return entered.generation() == generation ? entered : enter(generation, what);
}

void Context::Entered::check(abi::Result result, std::string_view doing) const {
    if (result != abi::success) context_->fail(result, generation_, doing);
}

void Context::started(const std::string* kernel) {
    if (kernel != nullptr) {
        const std::lock_guard lock(mutex_);
        if (kernels_.empty() ||
            (kernels_.back() != *kernel && std::ranges::find(kernels_, *kernel) == kernels_.end()))
            kernels_.push_back(*kernel);
    }
    if (const std::uint64_t count = ++started_; count % mark_distance == 0) mark(count);
}

// Without a mark, a full queue is waited for as a whole, so a failure here does no harm.
void Context::mark(std::uint64_t count) {
    const std::lock_guard lock(marks_mutex_);
    abi::Handle event = nullptr;
    if (!free_events_.empty()) {
        event = free_events_.back();
        free_events_.pop_back();
    } else if (driver_.event_create(&event, event_without_timing) != abi::success) {
        return;
    }
    if (driver_.event_record(event, nullptr) == abi::success)
        marks_.push_back({event, count});
    else
        free_events_.push_back(event);
}

// True if the device has passed another mark.
bool Context::pass_marks(const Entered& cuda) {
    bool passed = false;
    for (;;) {
        abi::Result result = abi::not_ready;
        {
            const std::lock_guard lock(marks_mutex_);
            if (marks_.empty()) return passed;
            const Mark mark = marks_.front();
            result = driver_.event_query(mark.event);
            if (result == abi::success) {
                marks_.pop_front();
                free_events_.push_back(mark.event);
                if (finished_ < mark.count) finished_ = mark.count;
                passed = true;
            }
        }
        if (result == abi::not_ready) return passed;
        cuda.check(result, "waiting for the device");
    }
}

void Context::make_room() {
    if (started_ - finished_ < queue_limit) return;
    const Entered cuda = enter();
    const std::chrono::nanoseconds limit = Patience::current().timeout;
    for (auto start = Clock::now(); started_ - finished_ >= queue_limit;) {
        if (pass_marks(cuda)) {
            start = Clock::now();
            continue;
        }
        {
            const std::lock_guard lock(marks_mutex_);
            if (marks_.empty()) break;
        }
        if (stopped()) throw_interrupted(cuda.generation());
        const auto waited = Clock::now() - start;
        if (limit.count() > 0 && waited > limit) hung(cuda.generation());
        breathe(waited);
    }
    if (started_ - finished_ >= queue_limit) wait();
}

std::vector<std::string> Context::running_kernels() const {
    const std::lock_guard lock(mutex_);
    return kernels_;
}

std::string Context::kernels() const {
    const std::lock_guard lock(mutex_);
    if (kernels_.empty()) return "the device";
    if (kernels_.size() == 1) return fmt::format("kernel `{}`", kernels_.front());
    const std::size_t named = std::min(kernels_.size(), kernels_named);
    return fmt::format(
        "one of the kernels `{}`{}",
        fmt::join(kernels_.begin(), kernels_.begin() + static_cast<std::ptrdiff_t>(named), "`, `"),
        named < kernels_.size() ? " ..." : "");
}

void Context::throw_interrupted(std::uint64_t generation) {
    if (driver_.worker != nullptr)
        give_up(generation);  // or what runs would be in the way of what comes next
    throw Error("EINTR", plain_error("interrupted"));
}

void Context::fail(abi::Result result, std::uint64_t generation, std::string_view doing) {
    if (result < 0) {
        const bool by_itself = result == abi::worker_gone && busy();
        const std::string during = by_itself ? fmt::format("running {}", kernels()) : std::string(doing);
        give_up(generation);
        throw_worker_trouble(driver_, result, during);
    }
    if (!is_sticky(result))
        throw EnvironmentError("EFAULT", fmt::format("while {}: {}", doing, error_text(driver_, result)));
    const std::string message = fmt::format("{} failed: {}", kernels(), error_text(driver_, result));
    std::vector<std::string> running = running_kernels();
    give_up(generation);
    throw KernelFailure("EFAULT", message, fault_advice(result), std::move(running),
                        driver_.worker != nullptr);
}

void Context::hung(std::uint64_t generation) {
    std::string message =
        fmt::format("{} did not end within {} s", kernels(), seconds(Patience::current().timeout));
    std::vector<std::string> running = running_kernels();
    if (driver_.worker != nullptr)
        give_up(generation);
    else
        message += ", and still runs: it cannot be ended in this process";
    throw KernelFailure(
        "ETIMEDOUT", message,
        "most likely a barrier that is never completed, which the simulator names; a kernel that is "
        "only slow needs a longer timeout",
        std::move(running), driver_.worker != nullptr);
}

// A second thread that meets the same failure finds a new generation.
void Context::give_up(std::uint64_t generation) {
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    if (driver_.worker == nullptr) {
        broken_ = fmt::format(
            "the CUDA context of this process is lost since {}",
            kernels_.empty() ? "a kernel failed" : fmt::format("kernel `{}` failed", kernels_.back()));
        return;
    }
    driver_.worker->end();
    context_ = nullptr;
    ++generation_;
    held_bytes = 0;
    pending_.clear();  // lost with the worker
    kernels_.clear();
    const std::lock_guard marks(marks_mutex_);
    marks_.clear();
    free_events_.clear();
    finished_ = started_.load();
}

void Context::wait() {
    if (!busy()) {
        enter();
        return;
    }
    const Entered cuda = enter();
    const std::uint64_t started = started_;
    const std::chrono::nanoseconds limit = Patience::current().timeout;
    for (auto start = Clock::now();;) {
        const abi::Result result = driver_.stream_query(nullptr);
        if (result != abi::not_ready) {
            cuda.check(result, "waiting for the device");
            break;
        }
        if (stopped()) throw_interrupted(cuda.generation());
        const auto waited = Clock::now() - start;
        if (limit.count() > 0 && waited > limit) {
            // Many kernels may be queued: as long as some of them end, nothing hangs.
            if (!pass_marks(cuda)) hung(cuda.generation());
            start = Clock::now();
        }
        breathe(waited);
    }
    const std::lock_guard lock(mutex_);
    if (finished_ < started) finished_ = started;
    {
        const std::lock_guard marks(marks_mutex_);
        while (!marks_.empty() && marks_.front().count <= started) {
            free_events_.push_back(marks_.front().event);
            marks_.pop_front();
        }
    }
    if (!busy()) kernels_.clear();
    free_pending();
}

void Context::free_now(const Pending& pending) const {
    // Errors are ignored here: the next call that can report them will find a kernel's error.
    if (pending.kind == Kind::memory)
        driver_.mem_free(pending.handle);
    else
        driver_.module_unload(std::bit_cast<abi::Handle>(pending.handle));
}

void Context::free_pending() {
    for (const Pending& pending : std::exchange(pending_, {})) free_now(pending);
}

void Context::release(Kind kind, std::uint64_t handle, std::uint64_t generation, std::size_t bytes) noexcept {
    try {
        if (foreign()) return;
        const std::lock_guard lock(mutex_);
        if (generation != generation_ || context_ == nullptr) return;
        held_bytes -= bytes;
        if (driver_.context_set_current(context_) != abi::success) return;
        // Both calls would wait for running kernels, possibly forever.
        if (busy() && driver_.stream_query(nullptr) == abi::not_ready)
            pending_.push_back({kind, handle});
        else
            free_now({kind, handle});
    } catch (...) {  // not enough memory to remember it: it is freed with the context
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
