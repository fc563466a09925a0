#include "export/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "file/descriptor.hpp"
#include "file/lock.hpp"
#include "file/signals.hpp"
#include "gpu/sha256.hpp"

namespace wgrun::exporting {
namespace {

namespace fs = std::filesystem;
using file::Descriptor;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
    std::string code = "EIO";
    switch (error) {
        case EACCES:
        case EPERM:
        case EROFS: code = "EACCES"; break;
        case ENOENT: code = "ENOENT"; break;
        case ENOTDIR: code = "ENOTDIR"; break;
        case EEXIST:
        case ENOTEMPTY: code = "EEXIST"; break;
        case ENOSPC:
        case EDQUOT: code = "ENOSPC"; break;
        default: break;
    }
    throw EnvironmentError(
        code, fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

Descriptor open_file(const fs::path& path, int flags) {
    return Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0666));
}

void write_file(const fs::path& path, std::string_view content) {
    Descriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (!file) fail("write", path, errno);
    while (!content.empty()) {
        const ssize_t written = ::write(file.get(), content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("write", path, errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file.get()) != 0 || !file.close()) fail("write", path, errno);
}

/// From here on renames survive a crash, if the file system can synchronise folders.
void sync_folder(const fs::path& path) {
    const Descriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (folder) ::fsync(folder.get());
}

void move_file(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) fail("write", to, errno);
}

constexpr std::string_view staging_prefix = ".wgrun-export-";
// In a staging folder: where the old files go once the new ones are complete, and that they all went there.
constexpr const char* before_name = "before";
constexpr const char* all_moved_name = "all-moved";

/// A folder beside the files to be, on the same file system, that goes with what is left in it. It is locked
/// as long as its writer lives.
class Staging {
  public:
    explicit Staging(const fs::path& parent) {
        static std::atomic<unsigned> count = 0;
        constexpr int most_attempts = 100;
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            path_ = parent / fmt::format("{}{}-{}", staging_prefix, ::getpid(), count++);
            if (::mkdir(path_.c_str(), 0777) != 0) {
                if (errno == EEXIST) continue;  // left by a killed process with the same number
                break;
            }
            lock_ = open_file(path_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            const bool locked =
                lock_ && (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
            struct stat made {};
            // Another process that removes leftovers may have come between the calls.
            if (locked && ::fstat(lock_.get(), &made) == 0 && made.st_nlink > 0) return;
        }
        const int error = errno;
        const fs::path failed = std::exchange(path_, {});
        fail("write into", failed.parent_path(), error);
    }
    ~Staging() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    const fs::path& path() const { return path_; }
    void release() { path_.clear(); }

  private:
    fs::path path_;
    Descriptor lock_;
};

/// Moves the files of one folder into another where they are missing. Manifests last: they say that the
/// others are there.
void move_missing(const fs::path& from, const fs::path& to) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error))
        if (entry->is_regular_file(error)) files.push_back(entry->path());
    std::stable_partition(files.begin(), files.end(),
                          [](const fs::path& file) { return file.extension() != ".json"; });
    for (const fs::path& file : files)
        if (!fs::exists(fs::symlink_status(to / file.filename()))) move_file(file, to / file.filename());
}

/// What exports that were killed (nothing less stops them) have left in `folder`: one whose old files are all
/// out of the way is completed, any other one taken back.
void finish_killed(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().native().starts_with(staging_prefix)) found.push_back(entry->path());
    for (const fs::path& staging : found) {
        const Descriptor opened = open_file(staging, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        struct stat status {};
        const bool ours = opened && ::fstat(opened.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                          (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
        if (!ours || ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) continue;  // its writer lives
        if (fs::exists(staging / all_moved_name, error))
            move_missing(staging, folder);
        else if (fs::exists(staging / before_name, error))
            move_missing(staging / before_name, folder);
        fs::remove_all(staging, error);
    }
}

/// The file's content; nothing when there is none. EEXIST for what is not a regular file.
std::optional<std::string> content_of(const fs::path& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return std::nullopt;
        fail("look at", path, errno);
    }
    if (!S_ISREG(found.st_mode))
        throw EnvironmentError("EEXIST", path.string() + " is not a regular file",
                               "export into another folder");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("read", path, errno != 0 ? errno : EIO);
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

/// The names of the bundle's files that are in the folder, and of those that the manifest there lists
/// besides: all of them wgrun's.
std::vector<std::string> replaced(const fs::path& folder, const Bundle& bundle) {
    const std::optional<std::string> before = content_of(folder / bundle.manifest.name);
    const auto listed = before ? files_of_manifest(*before) : std::nullopt;
    const auto foreign = [&](const std::string& name, const char* why) {
        throw EnvironmentError("EEXIST", fmt::format("{} {}", (folder / name).string(), why),
                               "move it away, or export into another folder");
    };
    if (before && !listed) foreign(bundle.manifest.name, "is not a manifest written by wgrun");
    std::vector<std::string> out;
    const auto take = [&](const std::string& name) {
        const std::optional<std::string> content = content_of(folder / name);
        if (!content) return;
        const auto entry =
            listed ? std::ranges::find(*listed, name, &Listed::name) : std::vector<Listed>::const_iterator{};
        if (!listed || entry == listed->end()) return foreign(name, "was not written by wgrun");
        if (gpu::sha256(*content) != entry->sha256) foreign(name, "has been changed since wgrun wrote it");
        out.push_back(name);
    };
    for (const File& file : bundle.files) take(file.name);
    if (listed) {
        const std::string stem = bundle.manifest.name.substr(0, bundle.manifest.name.rfind('.'));
        for (const Listed& old : *listed) {
            // A manifest written by hand may list anything; only names of this kernel's form are ours.
            const bool ours = old.name.starts_with(stem + ".") && old.name.find('/') == std::string::npos;
            if (ours && std::ranges::find(bundle.files, old.name, &File::name) == bundle.files.end())
                take(old.name);
        }
        out.push_back(bundle.manifest.name);
    }
    return out;
}

void stage(const fs::path& folder, std::span<const Bundle> bundles) {
    for (const Bundle& bundle : bundles) {
        for (const File& file : bundle.files) write_file(folder / file.name, file.content);
        write_file(folder / bundle.manifest.name, bundle.manifest.content);
    }
}

/// Renames that can be undone.
class Moves {
  public:
    void move(const fs::path& from, const fs::path& to) {
        done_.reserve(done_.size() + 1);
        move_file(from, to);
        done_.emplace_back(from, to);
    }
    void undo() noexcept {
        for (auto move = done_.rbegin(); move != done_.rend(); ++move)
            ::rename(move->second.c_str(), move->first.c_str());
    }

  private:
    std::vector<std::pair<fs::path, fs::path>> done_;
};

void place_into(const fs::path& folder, std::span<const Bundle> bundles) {
    // Only one export at a time, if the file system has locks.
    const Descriptor opened = open_file(folder, O_RDONLY | O_DIRECTORY);
    if (!opened) fail("write into", folder, errno);
    const file::FolderLock lock(opened.get(), std::chrono::seconds(10));
    // A signal finds the old files or the new ones.
    const file::SignalsHeld held;
    if (lock.held()) finish_killed(folder);
    std::vector<std::vector<std::string>> old;
    for (const Bundle& bundle : bundles) old.push_back(replaced(folder, bundle));
    const Staging staging(folder);
    stage(staging.path(), bundles);
    const fs::path before = staging.path() / before_name;
    sync_folder(staging.path());
    if (::mkdir(before.c_str(), 0777) != 0) fail("write into", folder, errno);
    Moves moves;
    try {
        for (const auto& names : old)
            for (const std::string& name : names) moves.move(folder / name, before / name);
        if (::mkdir((staging.path() / all_moved_name).c_str(), 0777) != 0) fail("write into", folder, errno);
        for (const Bundle& bundle : bundles)
            for (const File& file : bundle.files) moves.move(staging.path() / file.name, folder / file.name);
        for (const Bundle& bundle : bundles)
            moves.move(staging.path() / bundle.manifest.name, folder / bundle.manifest.name);
    } catch (...) {
        moves.undo();
        throw;
    }
    sync_folder(folder);
}

}  // namespace

void place(const fs::path& folder, std::span<const Bundle> bundles) {
    const fs::path full = fs::absolute(folder / "").parent_path();  // "out/" and "out" alike
    std::error_code ignored;
    if (fs::exists(full, ignored)) return place_into(full, bundles);
    const fs::path parent = full.parent_path();
    if (const Descriptor opened = open_file(parent, O_RDONLY | O_DIRECTORY); opened) {
        const file::FolderLock lock(opened.get(), std::chrono::milliseconds(100));
        if (lock.held()) finish_killed(parent);
    }
    const file::SignalsHeld held;
    Staging staging(parent);
    stage(staging.path(), bundles);
    sync_folder(staging.path());
    move_file(staging.path(), full);
    staging.release();
    sync_folder(parent);
}

}  // namespace wgrun::exporting
