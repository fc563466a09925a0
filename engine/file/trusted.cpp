#include "file/trusted.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace wgrun::file {
namespace {

constexpr mode_t others_write = S_IWGRP | S_IWOTH;

/// Why the file with this `status` is not trusted; empty if it is.
std::string distrust(const struct stat& status) {
    if (status.st_uid != ::geteuid())
        return fmt::format("it belongs to user {}, not to {}", status.st_uid, ::geteuid());
    if ((status.st_mode & others_write) != 0)
        return fmt::format("others may write to it (mode {:04o})", status.st_mode & 07777U);
    return {};
}

}  // namespace

TrustedFile open_trusted(int folder, const char* name) {
    TrustedFile file;
    Descriptor opened(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!opened) {
        if (errno == ELOOP)
            file.why = "it is a symbolic link";
        else if (errno != ENOENT)
            file.why = std::strerror(errno);
        return file;
    }
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0)
        file.why = std::strerror(errno);
    else if (!S_ISREG(status.st_mode))
        file.why = "it is not a regular file";
    else
        file.why = distrust(status);
    if (!file.why.empty()) return file;
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    file.descriptor = std::move(opened);
    return file;
}

std::optional<std::string> read_all(const TrustedFile& file, std::uint64_t limit) {
    if (!file || file.bytes > limit) return std::nullopt;
    std::string all(file.bytes, '\0');
    std::size_t at = 0;
    while (at < all.size()) {
        const ssize_t got = ::read(file.descriptor.get(), all.data() + at, all.size() - at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        at += static_cast<std::size_t>(got);
    }
    all.resize(at);
    return all;
}

TrustedFolder open_trusted_folder(int folder, const char* name, bool make) {
    TrustedFolder opened;
    if (make && ::mkdirat(folder, name, S_IRWXU) != 0 && errno != EEXIST) {
        opened.why = std::strerror(errno);
        return opened;
    }
    Descriptor descriptor(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!descriptor) {
        // With O_DIRECTORY a symbolic link is ENOTDIR.
        if (errno == ENOTDIR)
            opened.why = "it is not a folder";
        else if (errno != ENOENT)
            opened.why = std::strerror(errno);
        return opened;
    }
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0)
        opened.why = std::strerror(errno);
    else
        opened.why = distrust(status);
    if (opened.why.empty() && (status.st_mode & 0777U) != S_IRWXU && ::fchmod(descriptor.get(), S_IRWXU) != 0)
        opened.why = std::strerror(errno);
    if (opened.why.empty()) opened.descriptor = std::move(descriptor);
    return opened;
}

}  // namespace wgrun::file
