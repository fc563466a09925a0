#include "gpu/worker_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "gpu/protocol.hpp"

namespace wgrun::gpu {

namespace {

struct OwnProgram {
    std::mutex mutex;
    std::string path;
};

OwnProgram& own_program() {
    static OwnProgram* const instance = new OwnProgram;
    return *instance;
}

bool can_run(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// Duplicates a descriptor to a number that a worker does not use at its start.
class HighCopy {
  public:
    explicit HighCopy(int descriptor) : copy_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 10)) {}
    ~HighCopy() {
        if (copy_ >= 0) ::close(copy_);
    }
    HighCopy(const HighCopy&) = delete;
    HighCopy& operator=(const HighCopy&) = delete;
    int get() const { return copy_; }

  private:
    int copy_;
};

std::string how(int status) {
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return fmt::format("was killed by signal {} ({}){}", signal, ::strsignal(signal),
                           signal == SIGKILL ? ": perhaps the system ran out of memory" : "");
    }
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

void set_worker_program(std::string path) {
    OwnProgram& own = own_program();
    const std::lock_guard lock(own.mutex);
    own.path = std::move(path);
}

std::vector<std::filesystem::path> worker_places(const std::filesystem::path& library) {
    std::filesystem::path folder = library.lexically_normal().parent_path();
    std::vector<std::filesystem::path> places{folder / "wgrun"};
    constexpr int deepest = 3;
    for (int depth = 0; depth < deepest && folder.has_relative_path(); ++depth) {
        folder = folder.parent_path();
        places.push_back(folder / "bin" / "wgrun");
    }
    return places;
}

Part find_worker() {
    if (const char* named = std::getenv("WGRUN_WORKER"); named != nullptr && *named != '\0') {
        if (can_run(named)) return {named, "", ""};
        return {"", "", fmt::format("WGRUN_WORKER names {}, which is not a program", named)};
    }
    {
        OwnProgram& own = own_program();
        const std::lock_guard lock(own.mutex);
        if (!own.path.empty()) return {own.path, "", ""};
    }
    Dl_info here{};
    if (::dladdr(reinterpret_cast<const void*>(&find_worker), &here) == 0 || here.dli_fname == nullptr)
        return {"", "", "WGRUN_WORKER does not name a wgrun program"};
    std::error_code ignored;
    for (const std::filesystem::path& path :
         worker_places(std::filesystem::absolute(here.dli_fname, ignored)))
        if (can_run(path)) return {path, "", ""};
    return {"", "", fmt::format("no wgrun program beside {}, and WGRUN_WORKER names none", here.dli_fname)};
}

WorkerProcess::WorkerProcess(const std::string& program, int channel, int memory) : parent_(::getpid()) {
    const auto fail = [&](int error) {
        throw EnvironmentError("ENOENT", fmt::format("cannot start {}: {}", program, std::strerror(error)));
    };
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(errno);
    const HighCopy of_channel(channel), of_memory(memory), of_life(ends[1]);
    ::close(ends[1]);
    life_ = ends[0];

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // Output of the driver or of a kernel is not the script's output.
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, of_channel.get(), worker_channel);
    if (of_memory.get() >= 0) posix_spawn_file_actions_adddup2(&actions, of_memory.get(), worker_memory);
    posix_spawn_file_actions_adddup2(&actions, of_life.get(), worker_life);
    // Ctrl-C is for the parent alone, from the first moment.
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGQUIT);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::array<char*, 4> arguments = {const_cast<char*>("wgrun"), const_cast<char*>(worker_command),
                                      const_cast<char*>(protocol), nullptr};
    const int error =
        ::posix_spawn(&process_, program.c_str(), &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        ::close(life_);
        process_ = -1;
        fail(error);
    }
    handle_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
}

bool WorkerProcess::ended() {
    pollfd life{life_, POLLIN, 0};
    return ::poll(&life, 1, 0) > 0;
}

// True when it has been reaped, by us or by a host that reaps every child.
bool WorkerProcess::reap(int flags) {
    int status = 0;
    pid_t got = 0;
    do got = ::waitpid(process_, &status, flags);
    while (got < 0 && errno == EINTR);
    if (got == 0) return false;
    if (got > 0) {
        status_ = status;
        known_ = true;
    }
    process_ = -1;
    return true;
}

std::string WorkerProcess::end(std::chrono::milliseconds limit, bool* gone) noexcept {
    using Clock = std::chrono::steady_clock;
    if (gone != nullptr) *gone = true;
    if (process_ < 0) return {};
    std::string last;
    // A forked child of the parent must not end it.
    if (::getpid() == parent_) {
        bool by_itself = ended();
        // Its end may be seen before it can be reaped.
        for (int i = 0; by_itself && i < 100 && !reap(WNOHANG); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (process_ >= 0) {
            by_itself = false;
            if (handle_ >= 0)
                ::syscall(SYS_pidfd_send_signal, handle_, SIGKILL, nullptr, 0);
            else
                ::kill(process_, SIGKILL);
            const auto deadline = Clock::now() + limit;
            while (!reap(WNOHANG) && Clock::now() < deadline)
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            if (process_ >= 0 && gone != nullptr) *gone = false;
        }
        try {
            if (by_itself) last = known_ ? how(status_) : "has ended";
        } catch (const std::exception&) {  // not enough memory for the text
        }
    }
    if (handle_ >= 0) ::close(handle_);
    if (life_ >= 0) ::close(life_);
    handle_ = life_ = process_ = -1;
    return last;
}

}  // namespace wgrun::gpu
