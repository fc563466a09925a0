#include "bindings/cli/watch.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "bindings/cli/cli.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds look_every{100};

using Times = std::map<fs::path, fs::file_time_type>;

/// The script, and the scripts in its folder, which it may require. Files that cannot be read, as while an
/// editor replaces them, are left out.
Times times_of(const fs::path& file) {
    Times out;
    std::error_code ignored;
    const auto add = [&](const fs::path& path) {
        const fs::file_time_type time = fs::last_write_time(path, ignored);
        if (!ignored) out.emplace(path, time);
    };
    add(file);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
        if (entry->path().extension() == ".lua") add(entry->path());
    return out;
}

pid_t start(int argc, char** argv) {
    std::vector<char*> arguments;
    for (int i = 0; i < argc; ++i)
        if (std::strcmp(argv[i], "--watch") != 0) arguments.push_back(argv[i]);
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int failed = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ);
    if (failed != 0)
        throw EnvironmentError("EIO", fmt::format("cannot start wgrun again: {}", std::strerror(failed)));
    return child;
}

/// Waits until `child` has ended or one of the files in `seen` has changed; returns whether the child has
/// ended.
bool wait_for_end(pid_t child, const fs::path& file, const Times& seen) {
    for (;;) {
        if (waitpid(child, nullptr, WNOHANG) != 0) return true;
        if (times_of(file) != seen) return false;
        std::this_thread::sleep_for(look_every);
    }
}

}  // namespace

int watch(const std::string& file, int argc, char** argv) {
    if (file.empty() || file == "-" || !fs::exists(file)) {
        remark(file.empty() || file == "-" ? "wgrun: --watch needs a script that is a file (wgrun --help)"
                                           : "wgrun: --watch: there is no file `" + file + "`");
        return Exit::usage;
    }
    for (;;) {
        const Times seen = times_of(file);
        const pid_t child = start(argc, argv);
        if (wait_for_end(child, file, seen)) {
            remark(fmt::format("wgrun: watching {} (Ctrl-C stops)", file));
        } else {
            kill(child, SIGTERM);
            while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
        while (times_of(file) == seen) std::this_thread::sleep_for(look_every);
        remark(fmt::format("wgrun: running {} again", file));
    }
}

}  // namespace wgrun::cli
