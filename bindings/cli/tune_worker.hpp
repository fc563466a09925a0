// The processes of `wgrun tune`, and what is said to them.
//
// A worker is this program once more, with the same script and the option --worker. It reads steps, one a
// line, from a socket that is its standard input and output, and answers each with a line of JSON. What
// becomes of it (a crash, a candidate that never ends) is the search's affair, which starts another.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/host.hpp"
#include "file/descriptor.hpp"
#include "file/leftovers.hpp"

namespace wgrun::cli {

/// What is done to a candidate, in this order.
enum class Step : std::uint8_t {
    trace,    ///< the kernel is made and checked; the answer's text is its content
    model,    ///< the answer's number is what the cost model expects
    compile,  ///< the machine code goes into the driver's cache
    time,     ///< the answer's number is the measured time
};

struct Answer {
    std::size_t candidate = 0;
    bool good = false;
    double microseconds = 0;
    std::string text;  ///< of a step that failed: why
    /// A step that failed: a rule was broken. Otherwise it could not be done.
    bool finding = false;
    /// A step that failed: the machine's fault (no device, no memory), so another time it may not fail.
    bool machine = false;
};

/// Serves as a worker until there are no more steps; returns the exit code.
int serve_tuning(const Request& request, int rounds);

/// A worker that was started. For one thread.
class TuneWorker {
  public:
    using Clock = std::chrono::steady_clock;

    /// `device`: which GPU it sees, as CUDA_VISIBLE_DEVICES names it; nothing: all.
    /// EnvironmentError EIO if it cannot be started.
    explicit TuneWorker(const std::optional<std::string>& device);
    ~TuneWorker() { end(); }
    TuneWorker(const TuneWorker&) = delete;
    TuneWorker& operator=(const TuneWorker&) = delete;

    /// Has it do a step, for at most `limit`. It must be idle.
    void begin(Step step, std::size_t candidate, std::chrono::milliseconds limit);
    bool idle() const { return !step_; }
    Step step() const { return *step_; }
    std::size_t candidate() const { return candidate_; }
    Clock::time_point deadline() const { return deadline_; }
    bool overdue() const { return step_ && Clock::now() >= deadline_; }

    int descriptor() const { return channel_.get(); }
    /// Reads what has come; the answer, when it is complete. Sets `gone` when the worker has ended.
    std::optional<Answer> read(bool& gone);

    /// Kills it and what it has started. How it had ended by itself: "was killed by signal 11 (...)".
    std::string end();

  private:
    pid_t process_ = -1;
    file::Leftover leftover_;
    file::Descriptor channel_;
    std::string received_;
    std::optional<Step> step_;
    std::size_t candidate_ = 0;
    Clock::time_point deadline_;
};

/// The words of this process's command line. EnvironmentError EIO if the system does not tell.
std::vector<std::string> own_command_line();

}  // namespace wgrun::cli
