// The device's primary context, and what becomes of it when a kernel fails.
//
// A fault makes every later call in the context fail, and a hung kernel never ends. The driver cannot undo
// either within a process, so a context in a worker process is given up with the worker, and the next use has
// a new one. Each time its generation grows, and whoever holds a handle of an older one (a buffer, a module)
// finds out before the driver is called with it. A context of this process is left as it is: others may use
// it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
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

        /// Throws EnvironmentError EFAULT for a result that is not success. `doing` completes "while ...".
        /// What ends a worker gives the context up first.
        void check(abi::Result result, std::string_view doing) const;

      private:
        friend class Context;
        Entered(Context& context, std::uint64_t generation) : context_(&context), generation_(generation) {}
        Context* context_;
        std::uint64_t generation_;
    };

    /// Makes the context current on this thread; starts a worker after one was given up. EnvironmentError
    /// ENODEV in a forked child, EFAULT when the context of this process is no use any more.
    Entered enter();

    /// The same for the holder of a handle of `generation`; EFAULT when it was lost. `what`: "the buffer".
    Entered enter(std::uint64_t generation, std::string_view what);

    /// To be called before a kernel is started: waits, with the time limit, while the driver's queue is
    /// nearly full, for the driver itself would wait without one.
    void make_room();

    /// Call it after work was enqueued on the default stream; a kernel's name is kept for messages.
    void started(const std::string* kernel = nullptr);
    void started(const char* kernel) {
        const std::string name = kernel;
        started(&name);
    }

    /// Waits for the default stream. See Device::wait.
    void wait();

    /// Frees a handle when nothing runs that may use it, now or later. Never throws, never waits. `bytes`: of
    /// a buffer, which held_bytes loses.
    enum class Kind { memory, module };
    void release(Kind kind, std::uint64_t handle, std::uint64_t generation, std::size_t bytes = 0) noexcept;

    /// Frees handles that could not be freed before; waits for running kernels. True if there were any.
    bool collect();

    /// Incremented each time the context is given up.
    std::uint64_t generation() const { return generation_; }

    /// True in a forked child of the process that made the context.
    bool foreign() const;

    /// Bytes that buffers hold.
    std::atomic<std::size_t> held_bytes = 0;

  private:
    struct Pending {
        Kind kind;
        std::uint64_t handle;
    };
    /// An event after the work that was counted before it.
    struct Mark {
        abi::Handle event;
        std::uint64_t count;
    };

    void retain();
    [[noreturn]] void fail(abi::Result result, std::uint64_t generation, std::string_view doing);
    [[noreturn]] void hung(std::uint64_t generation);
    [[noreturn]] void throw_interrupted(std::uint64_t generation);
    std::string kernels() const;
    std::vector<std::string> running_kernels() const;
    bool busy() const { return started_ != finished_; }
    void give_up(std::uint64_t generation);
    void mark(std::uint64_t count);
    bool pass_marks(const Entered& cuda);
    void free_now(const Pending& pending) const;
    void free_pending();

    const Driver& driver_;
    DeviceInfo info_;
    abi::DeviceOrdinal device_ = 0;
    int process_ = 0;

    mutable std::mutex mutex_;                   // guards what follows
    abi::Handle context_ = nullptr;              // null: given up
    std::atomic<std::uint64_t> generation_ = 1;  // written under the mutex
    std::vector<Pending> pending_;
    std::vector<std::string> kernels_;  // that may be running, each once, in order
    std::string broken_;                // why the context cannot be used any more

    std::mutex marks_mutex_;  // guards the marks
    std::deque<Mark> marks_;
    std::vector<abi::Handle> free_events_;

    // Pieces of work given to the stream, and how many of them are known to be done. The first is counted
    // after the driver took the piece, so a wait never believes in more than it has seen.
    std::atomic<std::uint64_t> started_ = 0;
    std::atomic<std::uint64_t> finished_ = 0;
};

}  // namespace wgrun::gpu
