// One message of `wgrun check --batch` or `wgrun serve`: a command of wgrun in a process of its own, so that
// a crash, a limit or a cancellation of one never touches another. docs/serve.md has the messages.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "file/descriptor.hpp"
#include "file/leftovers.hpp"

namespace wgrun::cli {

/// How a server works.
struct Serving {
    int jobs = 1;                    ///< processes at a time
    double seconds = 60;             ///< of a message that says nothing else
    std::vector<std::string> words;  ///< of a check, before the options of its message
    bool checks_only = false;        ///< messages have no other command
};

/// What a message asks for.
struct JobRequest {
    nlohmann::ordered_json id;        ///< any value; the answer has the same
    std::vector<std::string> words;   ///< of the command line, behind the program's name
    std::optional<std::string> text;  ///< standard input
    double seconds = 0;               ///< after which the process is ended; 0: the server's

    /// Reads a message. Throws ArgumentError, with the place.
    JobRequest(const nlohmann::json& message, const Serving& how);
};

/// A running command.
class Job {
  public:
    using Clock = std::chrono::steady_clock;

    /// Starts it. seconds: unless the request says its own. Throws EnvironmentError EIO.
    Job(JobRequest request, double seconds);
    Job(Job&&) noexcept = default;
    Job& operator=(Job&&) noexcept = default;
    /// Kills it if it runs.
    ~Job();

    const nlohmann::ordered_json& id() const { return request_.id; }
    /// Becomes readable when the process has ended.
    int descriptor() const { return process_.get(); }
    Clock::time_point end() const { return end_; }

    /// Ends it for this reason, which the answer has as its error: first so that it can remove its temporary
    /// files, at the second call at once.
    void stop(const std::string& code, const std::string& message);

    /// The answer, when the process has ended: { id, code, report, messages, seconds } or { id, error,
    /// seconds }.
    nlohmann::ordered_json answer();

  private:
    JobRequest request_;
    pid_t pid_ = -1;
    file::Descriptor process_, input_, output_, messages_;
    file::Leftover leftover_;
    Clock::time_point begin_, end_;
    std::string code_, reason_;  ///< why it was ended
};

/// The answer to a message that starts nothing.
nlohmann::ordered_json job_error(const nlohmann::ordered_json& id, const std::string& code,
                                 const std::string& message);

}  // namespace wgrun::cli
