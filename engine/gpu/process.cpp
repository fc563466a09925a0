#include "gpu/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "file/descriptor.hpp"
#include "file/leftovers.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

// How a child is started: nothing to read, one pipe to write to, a session of its own, so that what it starts
// can be killed with it and the terminal's Ctrl-C is ours to answer, and signals as they are by default.
class SpawnPlan {
  public:
    explicit SpawnPlan(int output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    }
    ~SpawnPlan() {
        posix_spawnattr_destroy(&attributes_);
        posix_spawn_file_actions_destroy(&actions_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    int start(pid_t& pid, char* const* argv) const {
        return posix_spawn(&pid, argv[0], &actions_, &attributes_, argv, environ);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// A child and everything that it has started: ended and reaped in any case.
class Child {
  public:
    Child(const std::vector<std::string>& arguments, int output) {
        std::vector<char*> argv;
        argv.reserve(arguments.size() + 1);
        for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        const file::Starting starting;
        const int error = SpawnPlan(output).start(pid_, argv.data());
        if (error != 0)
            throw EnvironmentError("ENOENT",
                                   fmt::format("cannot run {}: {}", arguments[0], std::strerror(error)));
        leftover_ = file::Leftover::processes(pid_);
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Whether it has ended. It is not reaped yet, so that the number of its group is not reused.
    bool ended() const {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return errno != EINTR;  // ECHILD: the host ignores SIGCHLD, and the kernel has reaped it
        return info.si_pid == pid_;
    }

    // Kills what is left of it, and gives its status: 0 where the kernel has reaped it, and the output has to
    // tell.
    int end() {
        if (pid_ < 0) return 0;
        ::kill(-pid_, SIGKILL);
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0)
            if (errno != EINTR) break;
        leftover_.forget();
        pid_ = -1;
        return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }

  private:
    pid_t pid_ = -1;
    file::Leftover leftover_;
};

// The reasons to stop waiting for a program.
class Limits {
  public:
    Limits(const std::string& program, std::chrono::milliseconds timeout, const std::atomic<bool>* stop)
        : program_(program), timeout_(timeout), deadline_(Clock::now() + timeout), stop_(stop) {}

    // Throws if one of them has occurred.
    void check() const {
        Cancellation::poll();
        if (stop_ != nullptr && stop_->load(std::memory_order_relaxed))
            throw EnvironmentError("EINTR", fmt::format("{} was interrupted", program_));
        if (Clock::now() >= deadline_)
            throw EnvironmentError("ETIMEDOUT",
                                   fmt::format("{} did not end within {} s and was killed", program_,
                                               static_cast<double>(timeout_.count()) / 1000));
    }

  private:
    const std::string& program_;
    std::chrono::milliseconds timeout_;
    Clock::time_point deadline_;
    const std::atomic<bool>* stop_;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout,
                          const std::atomic<bool>* stop, std::size_t most) {
    // Programs that it has started may keep the pipe open; only its contents at the program's end are read.
    constexpr auto drained_within = std::chrono::milliseconds(200);
    constexpr int look_around = 20;  // ms
    const Limits limits(arguments[0], timeout, stop);

    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw EnvironmentError("EIO", fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    const file::Descriptor read_end(ends[0]);
    file::Descriptor write_end(ends[1]);
    Child child(arguments, write_end.get());
    write_end.close();

    ProcessResult result;
    std::array<char, 16384> buffer{};
    std::optional<Clock::time_point> ended;
    for (;;) {
        limits.check();
        if (!ended && child.ended()) ended = Clock::now();
        if (ended && Clock::now() - *ended > drained_within) break;
        pollfd ready{read_end.get(), POLLIN, 0};
        if (::poll(&ready, 1, look_around) <= 0) continue;
        const ssize_t got = ::read(read_end.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (result.output.size() < most)  // what comes later is read and discarded
            result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    while (!child.ended()) {  // it has closed its outputs but still runs
        limits.check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    result.status = child.end();
    return result;
}

TemporaryFolder::TemporaryFolder() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    if (error) base = "/tmp";
    std::string name = (base / "wgrun-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw EnvironmentError("EIO", fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)),
                               "set TMPDIR to a folder that can be written");
    path_ = name;
    parent_ = file::Descriptor(::open(path_.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    own_ = file::Descriptor(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    leftovers_.push_back(file::Leftover::folder(parent_.get(), path_.filename().string()));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::file(const std::string& name) {
    leftovers_.push_back(file::Leftover::file(own_.get(), name));
    return path_ / name;
}

std::filesystem::path TemporaryFolder::file(const std::string& name, std::string_view content) {
    std::filesystem::path path = file(name);
    write_file(path, content);
    return path;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
    const file::Descriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    while (made.get() >= 0 && !content.empty()) {
        const ssize_t written = ::write(made.get(), content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (made.get() < 0 || !content.empty())
        throw EnvironmentError("EIO", fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)),
                               "set TMPDIR to a folder that can be written and has room");
}

}  // namespace wgrun::gpu
