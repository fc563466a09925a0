// The options of a host for its scripts and kernels, and the engine's exclusive use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "bindings/c/cancellation.hpp"
#include "bindings/c/failure.hpp"
#include "bindings/c/handle.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/limits.hpp"

namespace wgrun::c {

class Engine {
  public:
    Engine(const wgrun_engine_options& options, const lua::Limits& limits);

    const wgrun_engine_options options;  ///< except its pointer to limits, which is null
    const lua::Limits limits;            ///< of each script

    /// Ends the work in progress or, if there is none, the next. Callable from any thread.
    void interrupt();

  private:
    friend class Turn;
    friend class Interruptible;
    std::atomic<bool> busy_ = false;
    std::mutex mutex_;
    std::atomic<bool>* stop_ = nullptr;  ///< of the work in progress
    bool stop_next_ = false;
};

template <>
inline constexpr Kind kind_of<Engine> = Kind::engine;

/// Exclusive use of an engine by one thread. Throws Failure WGRUN_BUSY if it is in use.
class Turn {
  public:
    explicit Turn(Engine& engine);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    TokenInUse token_;
    Engine& engine_;
};

/// While it lives, work of this thread ends once interrupt() or the thread's token says so; its maker throws
/// if that was before. `stop` is set then, too: a flag of the work's own.
class Interruptible {
  public:
    Interruptible(Engine& engine, std::atomic<bool>& stop);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    Engine& engine_;
    Cancellation cancellation_;
};

}  // namespace wgrun::c
