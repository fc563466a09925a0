#include "bindings/cli/job.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <utility>

#include "bindings/cli/json_value.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {
namespace job_detail {
namespace {

using Json = nlohmann::ordered_json;

/// Commands that end by themselves and print what they find.
constexpr std::array<std::string_view, 15> served{"check",  "decode", "doctor", "explain", "help",
                                                  "isa",    "layout", "lua",    "ptx",     "cuda",
                                                  "report", "rules",  "run",    "sass",    "timeline"};

/// "--budget" and "2": the words of an option. A list gives it once for each value.
void add_option(std::vector<std::string>& words, const std::string& name, const JsonValue& value) {
    const auto is_part = [](char c) { return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (name.empty() || name.front() == '-' || !std::ranges::all_of(name, is_part))
        throw ArgumentError(fmt::format("{}: the name of an option, without the dashes", value.place()));
    if (value.json().is_array()) {
        for (const JsonValue& one : value.list()) add_option(words, name, one);
        return;
    }
    const std::string option = (name.size() == 1 ? "-" : "--") + name;
    if (value.json().is_boolean()) {
        if (value.json().get<bool>()) words.push_back(option);
        return;
    }
    if (!value.json().is_string() && !value.json().is_number())
        value.refuse("true, a number, a string or a list of them");
    // As one word: no value is taken for an option.
    const std::string given =
        value.json().is_string() ? value.json().get<std::string>() : value.json().dump();
    if (given.empty()) value.refuse("a value");
    words.push_back(option + (name.size() == 1 ? "" : "=") + given);
}

[[noreturn]] void fail(const char* doing) {
    throw EnvironmentError("EIO", fmt::format("{}: {}", doing, std::strerror(errno)));
}

file::Descriptor memory_file(const char* name) {
    file::Descriptor out(memfd_create(name, MFD_CLOEXEC));
    if (!out) fail("a file in memory");
    return out;
}

void write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(to, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("a file in memory");
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string all_of(int from) {
    std::string out;
    std::array<char, 1 << 16> part;
    for (off_t at = 0;;) {
        const ssize_t got = pread(from, part.data(), part.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return out;
        out.append(part.data(), static_cast<std::size_t>(got));
        at += got;
    }
}

/// In the child: becomes the command. Nothing here allocates.
[[noreturn]] void become(char** words, pid_t parent, int input, int output, int messages) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it has ended before the line above
    constexpr rlim_t most_printed = rlim_t{64} << 20;
    const rlimit limit{most_printed, most_printed};
    setrlimit(RLIMIT_FSIZE, &limit);  // of what it prints, which is in memory
    std::signal(SIGPIPE, SIG_DFL);
    const bool good = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                      dup2(messages, STDERR_FILENO) >= 0;
    if (good) execv("/proc/self/exe", words);
    _exit(127);
}

}  // namespace
}  // namespace job_detail

JobRequest::JobRequest(const nlohmann::json& message, const Serving& how) {
    using namespace job_detail;
    const JsonValue whole(message, "message");
    whole.has_only({"id", "command", "options", "file", "text", "name", "args", "seconds"});
    if (whole.has("id")) id = message.at("id");
    const std::string command = whole.has("command") ? whole.at("command").string() : "check";
    if (std::ranges::find(served, command) == served.end())
        throw ArgumentError(
            fmt::format("message.command: no command `{}` (legal: {})", command, fmt::join(served, ", ")));
    if (how.checks_only && command != "check")
        throw ArgumentError(
            fmt::format("message.command: `{}` is for wgrun serve: a batch has checks alone", command));
    words = {command, "--json"};
    words.insert(words.end(), how.words.begin(), how.words.end());
    if (whole.has("options")) {
        const JsonValue options = whole.at("options");
        if (!options.json().is_object()) options.refuse("an object");
        for (const auto& [name, value] : options.json().items())
            add_option(words, name, {value, options.place() + "." + name});
    }
    if (whole.has("text") == whole.has("file") && whole.has("text"))
        throw ArgumentError("message: either `text` or `file`");
    if (whole.has("name") && !whole.has("text")) throw ArgumentError("message: `name` is for `text`");
    if (whole.has("text")) {
        text = whole.at("text").string();
        if (whole.has("name")) words.push_back("--stdin-name=" + whole.at("name").string());
        words.emplace_back("-");
    } else if (whole.has("file")) {
        words.insert(words.end(), {"--", whole.at("file").string()});  // whatever it is called
    }
    if (whole.has("args"))
        for (const JsonValue& word : whole.at("args").list()) words.push_back(word.string());
    for (const std::string& word : words) {
        constexpr std::size_t longest_word = 1U << 16;  // a process takes no longer ones
        if (word.find('\0') != std::string::npos) throw ArgumentError("message: a word has a NUL byte");
        if (word.size() > longest_word)
            throw ArgumentError(
                fmt::format("message: a word of {} bytes: at most {}", word.size(), longest_word));
    }
    if (whole.has("seconds")) {
        if (!whole.at("seconds").json().is_number()) whole.at("seconds").refuse("a number");
        seconds = whole.at("seconds").json().get<double>();
        if (!(seconds > 0 && seconds < 1e6)) whole.at("seconds").refuse("a positive number");
    }
}

Job::Job(JobRequest request, double most) : request_(std::move(request)), begin_(Clock::now()) {
    using namespace job_detail;
    const double seconds = request_.seconds > 0 ? request_.seconds : most;
    end_ = begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    input_ = memory_file("input");
    output_ = memory_file("output");
    messages_ = memory_file("messages");
    if (request_.text) write_all(input_.get(), *request_.text);
    request_.text.reset();
    lseek(input_.get(), 0, SEEK_SET);
    std::string program = "wgrun";
    std::vector<char*> words{program.data()};
    for (std::string& word : request_.words) words.push_back(word.data());
    words.push_back(nullptr);
    const pid_t parent = getpid();
    {
        const file::Starting starting;
        pid_ = fork();
        if (pid_ < 0) fail("a process");
        if (pid_ == 0) {
            starting.forked();
            become(words.data(), parent, input_.get(), output_.get(), messages_.get());
        }
        setpgid(pid_, pid_);
        leftover_ = file::Leftover::processes(pid_);
    }
    process_ = file::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!process_) {
        const int error = errno;
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        errno = error;
        fail("a descriptor of a process");
    }
}

Job::~Job() {
    if (!process_) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

void Job::stop(const std::string& code, const std::string& message) {
    constexpr std::chrono::seconds patience(1);
    if (code_.empty()) {
        code_ = code;
        reason_ = message;
        kill(-pid_, SIGTERM);
        end_ = Clock::now() + patience;
    } else {
        kill(-pid_, SIGKILL);
        end_ = Clock::time_point::max();
    }
}

nlohmann::ordered_json Job::answer() {
    using job_detail::Json;
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    kill(-pid_, SIGKILL);  // what it has started and left
    process_.close();
    leftover_.forget();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    Json out;
    if (!code_.empty()) {
        out = job_error(id(), code_, reason_);
    } else if (WIFSIGNALED(status)) {
        out = job_error(
            id(), "ECRASH",
            fmt::format("wgrun ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
    } else {
        const std::string text = job_detail::all_of(output_.get());
        out = {{"id", id()}, {"code", WEXITSTATUS(status)}};
        Json report = Json::parse(text, nullptr, false);
        if (!report.is_discarded())
            out["report"] = std::move(report);
        else if (!text.empty())
            out["output"] = text;
        if (std::string said = job_detail::all_of(messages_.get()); !said.empty())
            out["messages"] = std::move(said);
    }
    out["seconds"] = std::round(seconds * 1e6) / 1e6;
    return out;
}

nlohmann::ordered_json job_error(const nlohmann::ordered_json& id, const std::string& code,
                                 const std::string& message) {
    return {{"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace wgrun::cli
