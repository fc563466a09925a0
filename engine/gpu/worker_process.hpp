// A worker process: starting it, noticing its end, ending it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// The program that a worker is: what WGRUN_WORKER names, this program if it can be one (set_worker_program),
/// or the first of worker_places() for the file that this code is in.
Part find_worker();

/// Where a `wgrun` may be for a library: beside it, and in the bin folder of its prefix (PREFIX/lib, Debian's
/// PREFIX/lib/x86_64-linux-gnu, or PREFIX/lib/lua/5.4).
std::vector<std::filesystem::path> worker_places(const std::filesystem::path& library);

/// The first arguments of a worker process.
inline constexpr const char* worker_command = "gpu-worker";

/// Descriptors that a worker begins with.
inline constexpr int worker_channel = 3;
inline constexpr int worker_memory = 4;  ///< of engine/memory
inline constexpr int worker_life = 5;    ///< closed when the other end dies

/// A process that serves a channel. It ends with its parent, whatever becomes of that, for it watches a
/// socket whose other end the parent holds. (PR_SET_PDEATHSIG would also end it with the thread that started
/// it.)
class WorkerProcess {
  public:
    /// Starts `program`. EnvironmentError ENOENT when that cannot be.
    WorkerProcess(const std::string& program, int channel, int memory);
    ~WorkerProcess() { end(std::chrono::seconds(5)); }
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// True once it has ended; costs a system call.
    bool ended();

    /// Kills it where it lives, and reaps it. How it ended by itself ("was killed by signal 9 ..."), or
    /// nothing. False in `gone` when the system has not been able to end it within the limit: then it is left
    /// behind.
    std::string end(std::chrono::milliseconds limit, bool* gone = nullptr) noexcept;

    pid_t id() const { return process_; }

  private:
    bool reap(int flags);

    pid_t process_ = -1;  // -1: reaped
    pid_t parent_ = -1;
    int handle_ = -1;  // pidfd: names the process even when a host has reaped it
    int life_ = -1;
    int status_ = 0;
    bool known_ = false;  // the status is
};

}  // namespace wgrun::gpu
