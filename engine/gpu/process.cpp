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

#include "wgrun/diagnostic.hpp"

namespace wgrun::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t output_limit = 8 << 20;  // what comes after is read and dropped

class Descriptor {
  public:
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }
    void close() {
        if (value_ >= 0) ::close(value_);
        value_ = -1;
    }

  private:
    int value_;
};

// A child that is ended and reaped whatever happens.
class Child {
  public:
    Child(const std::vector<std::string>& arguments, int output) {
        std::vector<char*> argv;
        argv.reserve(arguments.size() + 1);
        for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
        argv.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
        const int error = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0)
            throw EnvironmentError("ENOENT",
                                   fmt::format("cannot run {}: {}", arguments[0], std::strerror(error)));
    }
    ~Child() {
        if (ended_) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The status once it has ended; nothing before.
    std::optional<int> status() {
        int status = 0;
        const pid_t got = ::waitpid(pid_, &status, WNOHANG);
        if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
        ended_ = true;
        if (got < 0) return 0;  // the host ignores SIGCHLD, so the kernel reaped it: the output has to tell
        return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }

  private:
    pid_t pid_ = -1;
    bool ended_ = false;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    const auto left = [&] {
        const auto ms =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (ms <= 0)
            throw EnvironmentError("ETIMEDOUT",
                                   fmt::format("{} did not end within {} s and was killed", arguments[0],
                                               static_cast<double>(timeout.count()) / 1000));
        return static_cast<int>(std::min<std::int64_t>(ms, 1000));
    };

    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw EnvironmentError("EIO", fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    Descriptor read_end(ends[0]);
    Descriptor write_end(ends[1]);
    Child child(arguments, write_end.get());
    write_end.close();

    ProcessResult result;
    std::array<char, 16384> buffer{};
    for (;;) {
        pollfd ready{read_end.get(), POLLIN, 0};
        if (::poll(&ready, 1, left()) <= 0) continue;
        const ssize_t got = ::read(read_end.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (result.output.size() < output_limit)
            result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    for (;;) {
        if (const auto status = child.status()) {
            result.status = *status;
            return result;
        }
        left();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
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
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace wgrun::gpu
