#include "file/replacement.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include "file/identity.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::file {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".wgrun-";
constexpr std::string_view suffix = ".tmp";
constexpr std::size_t largest_write = std::size_t{1} << 30;

std::string temporary_name() {
    static std::atomic<unsigned> serial{0};
    return fmt::format("{}{}-{}{}", prefix, ::getpid(), serial++, suffix);
}

fs::path parent_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Whether a link may be followed. In a sticky folder that all may write to, another user may have laid it
/// there: the kernel's rule for opening files (fs.protected_symlinks).
bool may_follow(const fs::path& link, const struct stat& status) {
    struct stat parent {};
    if (::stat(parent_of(link).c_str(), &parent) != 0) return false;
    constexpr mode_t like_tmp = S_ISVTX | S_IWOTH;
    return (parent.st_mode & like_tmp) != like_tmp || status.st_uid == ::geteuid() ||
           status.st_uid == parent.st_uid;
}

/// /proc/self/fd and the like, where links stand for open files: /dev/stdout leads there.
bool is_proc(int folder) {
    struct statfs system {};
    return ::fstatfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/// The file that is to be written: the target of a symbolic link, or of a row of them, in place of the link.
/// The target need not exist. Nothing, with errno set, when it must not be followed.
std::optional<fs::path> target_of(const fs::path& path) {
    fs::path target = path;
    for (int links = 0; links < 40; ++links) {
        struct stat status {};
        if (::lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return target;
        std::error_code error;
        const fs::path next = fs::read_symlink(target, error);
        errno = error ? error.value() : EACCES;
        if (error || !may_follow(target, status)) return std::nullopt;
        const Descriptor folder(::open(parent_of(target).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (is_proc(folder.get())) return target;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    errno = ELOOP;
    return std::nullopt;
}

/// Removes leftovers of a folder once in a process, since it takes time proportional to the size of the
/// folder.
bool first_use(int folder) {
    constexpr std::size_t most = 1024;
    static std::mutex mutex;
    static std::set<Identity> known;
    const std::lock_guard lock(mutex);
    return known.size() < most && known.insert(identity_of(folder)).second;
}

/// fsync, where the file supports it.
bool synchronised(int descriptor) {
    while (::fsync(descriptor) != 0) {
        if (errno == EINTR) continue;
        return errno == EINVAL || errno == ENOTSUP;
    }
    return true;
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

bool is_temporary(std::string_view name) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
    if (name.size() < prefix.size() + suffix.size() + 3) return false;
    name.remove_prefix(prefix.size());
    name.remove_suffix(suffix.size());
    const auto dash = name.find('-');
    const auto digits = [](std::string_view text) {
        return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    };
    return dash != std::string_view::npos && digits(name.substr(0, dash)) && digits(name.substr(dash + 1));
}

std::size_t clear_stale(int folder) {
    const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, CloseFolder> opened(own < 0 ? nullptr : ::fdopendir(own));
    if (opened == nullptr) {
        if (own >= 0) ::close(own);
        return 0;
    }
    std::size_t removed = 0;
    while (const dirent* entry = ::readdir(opened.get())) {
        if (!is_temporary(entry->d_name)) continue;
        const Descriptor file(
            ::openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        struct stat status {};
        const bool ours = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                          status.st_uid == ::geteuid();
        // The lock of its writer ended with the writer.
        if (ours && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::unlinkat(folder, entry->d_name, 0) == 0)
            ++removed;
    }
    return removed;
}

void Replacement::fail(int error) const {
    throw EnvironmentError(error == ENOENT ? "ENOENT" : "EIO",
                           fmt::format("{}: {}", shown_, std::strerror(error)));
}

Replacement::Replacement(const fs::path& path, Durable durable) : shown_(path.string()), durable_(durable) {
    const std::optional<fs::path> target = target_of(path);
    if (!target) fail(errno);
    name_ = target->filename().string();
    // The folder may not be readable; only a path in it is needed.
    own_folder_ = Descriptor(::open(parent_of(*target).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!own_folder_) fail(errno);
    folder_ = own_folder_.get();
    if (name_.empty() || name_ == "." || name_ == "..") fail(name_.empty() ? ENOENT : EISDIR);

    struct stat status {};
    if (::fstatat(folder_, name_.c_str(), &status, 0) != 0) {
        if (errno != ENOENT) fail(errno);
        begin(std::nullopt);
    } else if (S_ISREG(status.st_mode) && !is_proc(folder_)) {
        begin(S_IRUSR | S_IWUSR);  // nobody may read it whom the old file's mode excluded
        inherit();
    } else if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode)) {
        file_ = Descriptor(::openat(folder_, name_.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
        if (!file_) fail(errno);
        durable_ = Durable::no;
    } else {
        throw EnvironmentError("EIO", fmt::format("{}: not a regular file", shown_));
    }
}

Replacement::Replacement(int folder, std::string name, Durable durable)
    : shown_(name), durable_(durable), folder_(folder), name_(std::move(name)) {
    begin(S_IRUSR | S_IWUSR);
    if (::fchmod(file_.get(), S_IRUSR | S_IWUSR) != 0) fail(errno);
}

void Replacement::begin(std::optional<mode_t> mode) {
    constexpr mode_t everybody = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
    if (first_use(folder_)) clear_stale(folder_);
    temporary_.folder = folder_;
    for (;;) {
        const std::string name = temporary_name();
        temporary_.leftover = Leftover::file(folder_, name);
        file_ =
            Descriptor(::openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                mode.value_or(everybody)));
        if (!file_) {
            const int error = errno;
            temporary_.leftover.forget();
            if (error == EEXIST) continue;  // left by a killed process with the same number
            fail(error);
        }
        temporary_.name = name;
        struct stat status {};
        const bool locked = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        // Another process that removes leftovers may have come between the two calls.
        if (locked && ::fstat(file_.get(), &status) == 0 && status.st_nlink > 0) return;
    }
}

// Mode and owner of the file that is replaced.
void Replacement::inherit() {
    struct stat old {};
    struct stat now {};
    if (::fstatat(folder_, name_.c_str(), &old, 0) != 0 || ::fstat(file_.get(), &now) != 0) fail(errno);
    mode_t mode = old.st_mode & 07777U;
    if (old.st_uid != now.st_uid && ::fchown(file_.get(), old.st_uid, static_cast<gid_t>(-1)) != 0)
        mode &= ~static_cast<mode_t>(S_ISUID);
    if (old.st_gid != now.st_gid && ::fchown(file_.get(), static_cast<uid_t>(-1), old.st_gid) != 0) {
        // Another group gets no more rights than everybody.
        mode &= ~static_cast<mode_t>(S_ISGID);
        mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | ((mode & S_IRWXO) << 3U & mode & S_IRWXG);
    }
    if (::fchmod(file_.get(), mode) != 0) fail(errno);
}

void Replacement::Temporary::remove() noexcept {
    if (!name.empty()) ::unlinkat(folder, name.c_str(), 0);
    renamed();
}

void Replacement::Temporary::renamed() noexcept {
    name.clear();
    leftover.forget();
}

void Replacement::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_.get(), bytes.data(), std::min(bytes.size(), largest_write));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail(written == 0 ? ENOSPC : errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Replacement::complete() {
    const bool durable = durable_ == Durable::yes;
    if (durable && !synchronised(file_.get())) fail(errno);
    if (temporary_.name.empty()) {
        if (!file_.close()) fail(errno);
        return;
    }
    // Renamed while it is locked, so that no process takes it for a leftover.
    if (::renameat(folder_, temporary_.name.c_str(), folder_, name_.c_str()) != 0) fail(errno);
    temporary_.renamed();
    if (!file_.close()) fail(errno);
    if (!durable) return;
    const Descriptor folder(::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder && !synchronised(folder.get())) fail(errno);
}

void replace(const fs::path& path, std::string_view text, Durable durable) {
    Replacement file(path, durable);
    file.write(text);
    file.complete();
}

}  // namespace wgrun::file
