// wgrun serve: answers messages, on standard input and output or on a Unix socket.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "bindings/cli/command.hpp"
#include "bindings/cli/server.hpp"

namespace wgrun::cli {
namespace serve_detail {
namespace {

struct Options {
    std::string socket;
    int jobs = default_jobs();
    double seconds = 60;
};

/// A socket that only this user can connect to. One that nobody listens at any more is replaced.
file::Descriptor listening(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        throw ArgumentError(
            fmt::format("{}: the path of a socket has at most {} bytes", path, sizeof address.sun_path - 1));
    constexpr std::size_t longest_name = 63;  // of what a signal removes
    if (std::filesystem::path(path).filename().string().size() > longest_name)
        throw ArgumentError(fmt::format("{}: the name of a socket has at most {} bytes", path, longest_name));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    const auto socket_of = [] { return file::Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); };
    const auto fail = [&](int error) -> void {
        throw EnvironmentError("EIO", fmt::format("{}: {}", path, std::strerror(error)));
    };
    struct stat there {};
    if (lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) {
        const file::Descriptor other = socket_of();
        if (connect(other.get(), to, sizeof address) == 0) fail(EADDRINUSE);
        if (errno == ECONNREFUSED) unlink(path.c_str());
    }
    file::Descriptor out = socket_of();
    if (!out) fail(errno);
    const mode_t mask = umask(0077);
    const int bound = bind(out.get(), to, sizeof address), error = errno;
    umask(mask);
    if (bound != 0) fail(error);
    constexpr int backlog = 64;
    if (::listen(out.get(), backlog) != 0) fail(errno);
    return out;
}

/// The socket's name, as long as the server lives; a signal that ends the process removes it, too.
struct Name {
    explicit Name(const std::string& path)
        : folder(open(std::filesystem::path(path).has_parent_path()
                          ? std::filesystem::path(path).parent_path().c_str()
                          : ".",
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          leftover(file::Leftover::file(folder.get(), std::filesystem::path(path).filename().string())) {}
    file::Descriptor folder;
    file::Leftover leftover;
};

int serve(const Options& options) {
    if (!(options.seconds > 0 && options.seconds < 1e9)) {
        remark("wgrun: --seconds: a positive number of seconds (wgrun serve --help)");
        return Exit::usage;
    }
    Serving how{options.jobs, options.seconds, {}, false};
    if (options.socket.empty())
        return serve_lines(file::Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)), std::move(how));
    Server server(std::move(how));
    server.listen(listening(options.socket));
    const Name name(options.socket);
    return server.run();
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option("--socket", options->socket, "Listen at this Unix socket instead of standard input")
        .unit("PATH");
    arguments.option("--jobs", options->jobs, "Messages that are worked on at a time")
        .between(1, most_jobs)
        .shows_default();
    arguments
        .option("--seconds", options->seconds, "After which a message that says nothing else is given up")
        .unit("S")
        .shows_default();
    return [options](const Request&) { return serve(*options); };
}

}  // namespace
}  // namespace serve_detail

const Command serve_command{"serve",
                            "Answer messages, a line of JSON each: checks and other commands, many at a time",
                            Takes::messages, serve_detail::declare};

}  // namespace wgrun::cli
