// The device's primary context, and what happens to it when a kernel fails.
//
// A fault makes every later call in the context fail, and a hung kernel never ends; in both cases the context
// is reset and retained anew. Each time its generation grows, and whoever holds a handle of an older one (a
// buffer, a module) finds out before the driver is called with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda_abi.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

class Context {
  public:
    /// Retains the primary context of the first sm_90 device. EnvironmentError ENODEV.
    explicit Context(const Driver& driver);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Driver& driver() const { return driver_; }
    const DeviceInfo& info() const { return info_; }

    /// The context, current on this thread, at one generation: through it all driver calls are checked.
    class Entered {
      public:
        const Driver& driver() const { return context_->driver_; }
        std::uint64_t generation() const { return generation_; }

        /// Throws EnvironmentError EFAULT for a result that is not success. `doing` completes "while ...". A
        /// kernel's fault renews the context first.
        void check(abi::Result result, std::string_view doing) const;

      private:
        friend class Context;
        Entered(Context& context, std::uint64_t generation) : context_(&context), generation_(generation) {}
        Context* context_;
        std::uint64_t generation_;
    };

    /// Makes the context current on this thread. EnvironmentError ENODEV in a forked child, ETIMEDOUT while
    /// the driver still tries to end a hung kernel.
    Entered enter();

    /// The same for the holder of a handle of `generation`; EFAULT when it was lost. `what`: "the buffer".
    Entered enter(std::uint64_t generation, std::string_view what);

    /// To be called after work was given to the default stream; a kernel's name is kept for messages.
    void started(std::string_view kernel = {});

    /// Waits for the default stream. See Device::wait.
    void wait();

    /// Frees a handle when nothing runs that may use it, now or later. Never throws, never waits.
    enum class Kind { memory, module };
    void release(Kind kind, std::uint64_t handle, std::uint64_t generation) noexcept;

    /// Frees what could not be freed before; waits for running kernels. True when there was something.
    bool collect();

    /// Grows each time that the context is renewed.
    std::uint64_t generation() const {
        const std::lock_guard lock(mutex_);
        return generation_;
    }

    /// How long a kernel may run, and how long the driver gets to end one that ran longer.
    std::atomic<std::chrono::milliseconds> timeout{std::chrono::seconds(10)};
    std::atomic<std::chrono::milliseconds> reset_timeout{std::chrono::seconds(5)};

  private:
    struct Pending {
        Kind kind;
        std::uint64_t handle;
    };

    [[noreturn]] void fail(abi::Result result, std::uint64_t generation, std::string_view doing);
    [[noreturn]] void hung(std::uint64_t generation);
    std::string kernels() const;
    bool busy() const { return started_ != finished_; }
    std::string renew(std::uint64_t generation);
    void adopt_renewed();
    void free_now(const Pending& pending) const;
    void free_pending();

    const Driver& driver_;
    DeviceInfo info_;
    abi::DeviceOrdinal device_ = 0;
    int process_ = 0;

    mutable std::mutex mutex_;  // guards what follows
    abi::Handle context_ = nullptr;
    std::uint64_t generation_ = 1;
    std::vector<Pending> pending_;
    std::string last_kernel_;
    std::string broken_;  // why the context cannot be used any more
    struct Renewed {
        abi::Handle context = nullptr;
        abi::Result result = abi::success;
    };
    std::future<Renewed> renewing_;  // valid while the driver is busy with a reset

    // Pieces of work given to the stream, and how many of them are known to be done. The first is counted
    // after the driver took the piece, so a wait never believes in more than it has seen.
    std::atomic<std::uint64_t> started_ = 0;
    std::atomic<std::uint64_t> finished_ = 0;
};

}  // namespace wgrun::gpu
