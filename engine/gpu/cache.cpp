#include "gpu/cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "file/identity.hpp"
#include "file/lock.hpp"
#include "file/replacement.hpp"
#include "gpu/sha256.hpp"

namespace wgrun::gpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view entry_suffix = ".entry";
constexpr std::size_t key_digits = 64;

// https://bford.info/cachedir/: backup programs skip such folders.
constexpr const char* tag_name = "CACHEDIR.TAG";
constexpr std::string_view tag_text =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# wgrun's cache of compiled kernels. It can be deleted at any time (wgrun cache clear).\n";

std::string name_of(const std::string& key) { return key + std::string(entry_suffix); }

/// The key of the entry called `name`; empty for every other name.
std::string_view key_of(std::string_view name) {
    if (name.size() != key_digits + entry_suffix.size() || !name.ends_with(entry_suffix)) return {};
    name.remove_suffix(entry_suffix.size());
    const bool digits =
        std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    return digits ? name : std::string_view();
}

struct File {
    std::string name;
    std::uint64_t bytes;
    timespec used;
};

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The files of the entries.
std::vector<File> list(int folder) {
    std::vector<File> files;
    file::Descriptor own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, CloseFolder> opened(own ? ::fdopendir(own.get()) : nullptr);
    if (opened == nullptr) return files;
    own.release();  // closed with the stream
    while (const dirent* entry = ::readdir(opened.get())) {
        struct stat status {};
        if (key_of(entry->d_name).empty()) continue;
        if (::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
        files.push_back({entry->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtim});
    }
    return files;
}

/// Orders entries by what is removed first. A time in the future, from a wrong clock, says nothing.
void sort_by_use(std::vector<File>& files) {
    const std::time_t latest = std::time(nullptr) + 60;
    const auto used = [latest](const File& file) {
        return file.used.tv_sec > latest ? std::pair<std::time_t, long>()
                                         : std::pair(file.used.tv_sec, file.used.tv_nsec);
    };
    std::ranges::sort(files, {}, used);
}

void make_folders(const fs::path& path) {
    fs::path below;
    for (const fs::path& part : path) {
        below /= part;
        ::mkdir(below.c_str(), S_IRWXU);  // as the XDG base directory specification wants it
    }
}

/// The bytes that this process has stored since it last measured the folder.
struct Growth {
    std::uint64_t seen = 0, stored = 0;
};

struct Growths {
    std::mutex mutex;
    std::map<file::Identity, Growth> folders;
};

Growths& growths() {
    static Growths all;
    return all;
}

struct Problem {
    std::mutex mutex;
    std::string pending;
    std::set<std::string> known;  ///< each is reported once
};

Problem& problem() {
    static Problem the_one;
    return the_one;
}

}  // namespace

std::string take_cache_problem() {
    Problem& here = problem();
    const std::lock_guard lock(here.mutex);
    return std::exchange(here.pending, {});
}

void Cache::complain(std::string_view why) const {
    constexpr std::size_t most = 100;
    std::string text = fmt::format("the cache {} cannot be used: {}", folder_.string(), why);
    Problem& here = problem();
    const std::lock_guard lock(here.mutex);
    if (here.known.size() < most && here.known.insert(text).second) here.pending = std::move(text);
}

Cache::Cache(fs::path folder, std::uint64_t limit)
    : base_(std::move(folder)), folder_(base_ / cache_format), limit_(limit) {}

Cache Cache::standard() {
    const char* named = std::getenv("WGRUN_CACHE");
    const char* xdg = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (named != nullptr && *named != '\0' && std::string_view(named) != "off") return Cache(fs::path(named));
    if (named != nullptr) return off(fmt::format("switched off by WGRUN_CACHE={}", named));
    // The XDG base directory specification: a relative path is to be ignored.
    if (xdg != nullptr && fs::path(xdg).is_absolute()) return Cache(fs::path(xdg) / "wgrun");
    if (home != nullptr && fs::path(home).is_absolute()) return Cache(fs::path(home) / ".cache" / "wgrun");
    return off("neither XDG_CACHE_HOME nor HOME names a folder");
}

Cache Cache::off(std::string why) {
    Cache cache;
    cache.off_ = std::move(why);
    return cache;
}

std::string Cache::key(std::initializer_list<std::string_view> parts) {
    std::string all;
    for (const std::string_view part : parts) {
        all += fmt::format("{}:", part.size());
        all += part;
    }
    return sha256(all);
}

// The folder of the entries. Without `make`, it is not an error if there is none.
file::TrustedFolder Cache::open(bool make) const {
    if (make) make_folders(base_);
    const file::Descriptor base(::open(base_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    file::TrustedFolder folder;
    if (!base && (make || errno != ENOENT))
        folder.why = std::strerror(errno);
    else if (base)
        folder = file::open_trusted_folder(base.get(), std::string(cache_format).c_str(), make);
    return folder;
}

std::optional<Cache::Entry> Cache::find(const std::string& key) const {
    if (!off_.empty()) return std::nullopt;
    const file::TrustedFolder folder = open(false);
    if (!folder) {
        if (!folder.absent()) complain(folder.why);
        return std::nullopt;
    }
    const std::string name = name_of(key);
    const int at = folder.descriptor.get();
    const file::TrustedFile file = file::open_trusted(at, name.c_str());
    if (!file && file.why.empty()) return std::nullopt;
    if (const auto all = file::read_all(file, limit_))
        if (auto entry = decode_entry(key, *all)) {
            ::futimens(file.descriptor.get(), nullptr);  // used just now
            return entry;
        }
    ::unlinkat(at, name.c_str(), 0);
    return std::nullopt;
}

void Cache::store(const std::string& key, const Entry& entry) const {
    if (!off_.empty()) return;
    const std::string bytes = encode_entry(key, entry);
    if (bytes.size() > limit_) return;
    const file::TrustedFolder folder = open(true);
    if (!folder) return complain(folder.why);
    const int at = folder.descriptor.get();
    try {
        if (::faccessat(at, tag_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
            file::Replacement tag(at, tag_name, file::Durable::no);
            tag.write(tag_text);
            tag.complete();
        }
        file::Replacement file(at, name_of(key), file::Durable::no);
        file.write(bytes);
        file.complete();
    } catch (const EnvironmentError& error) {
        return complain(error.what());
    }
    keep_bounded(at, bytes.size());
}

// Measuring the folder takes time proportional to its entries, so it is done only after enough was stored.
void Cache::keep_bounded(int folder, std::uint64_t stored) const {
    Growths& all = growths();
    const std::lock_guard lock(all.mutex);
    const auto [known, fresh] = all.folders.try_emplace(file::identity_of(folder));
    Growth& growth = known->second;
    growth.stored += stored;
    if (!fresh && growth.stored <= limit_ / 16 && growth.seen + growth.stored <= limit_) return;
    file::clear_stale(folder);
    const auto sum = [](const std::vector<File>& files) {
        std::uint64_t bytes = 0;
        for (const File& file : files) bytes += file.bytes;
        return bytes;
    };
    std::vector<File> files = list(folder);
    growth = {sum(files), 0};
    if (growth.seen <= limit_) return;
    const file::FolderLock evicting(folder, std::chrono::milliseconds(0));
    if (!evicting.held()) return;  // another process is doing it
    files = list(folder);
    growth.seen = sum(files);
    sort_by_use(files);
    for (const File& file : files) {
        if (growth.seen <= limit_ - limit_ / 4)
            break;  // leaves some room, so that not every store has to remove entries
        if (::unlinkat(folder, file.name.c_str(), 0) == 0) growth.seen -= file.bytes;
    }
}

fs::path Cache::folder(const std::string& name) const {
    if (!off_.empty()) throw EnvironmentError("ENOENT", "no cache: " + off_);
    const file::TrustedFolder own = open(true);
    const file::TrustedFolder below =
        own ? file::open_trusted_folder(own.descriptor.get(), name.c_str(), true) : file::TrustedFolder();
    if (!below)
        throw EnvironmentError("EACCES", fmt::format("{} cannot be used: {}", (folder_ / name).string(),
                                                     own ? below.why : own.why));
    return folder_ / name;
}

CacheInfo Cache::info() const {
    CacheInfo info;
    info.folder = folder_.string();
    info.limit = limit_;
    info.missing = off_;
    if (!off_.empty()) return info;
    const file::TrustedFolder folder = open(false);
    if (folder) {
        for (const File& file : list(folder.descriptor.get())) {
            info.bytes += file.bytes;
            ++info.entries;
        }
    } else if (!folder.absent()) {
        info.missing = fmt::format("{} cannot be used: {}", folder_.string(), folder.why);
        return info;
    }
    // The nearest folder that exists decides whether something can be stored.
    std::error_code ignored;
    fs::path nearest = fs::absolute(folder_, ignored);
    while (!fs::exists(nearest, ignored) && nearest.has_relative_path()) nearest = nearest.parent_path();
    if (!fs::is_directory(nearest, ignored) || ::access(nearest.c_str(), W_OK | X_OK) != 0)
        info.missing = fmt::format("{} cannot be written", nearest.string());
    return info;
}

CacheCleared Cache::clear() const {
    CacheCleared done;
    const file::TrustedFolder folder = off_.empty() ? open(false) : file::TrustedFolder();
    if (!folder) {
        if (!folder.absent()) done.problem = folder.why;
        return done;
    }
    const int at = folder.descriptor.get();
    for (const File& file : list(at)) {
        if (::unlinkat(at, file.name.c_str(), 0) == 0) {
            ++done.entries;
            done.bytes += file.bytes;
        } else if (errno != ENOENT) {
            done.problem = fmt::format("{}: {}", file.name, std::strerror(errno));
        }
    }
    done.temporaries = file::clear_stale(at);
    return done;
}

CacheVerified Cache::verify() const {
    CacheVerified found;
    const file::TrustedFolder folder = off_.empty() ? open(false) : file::TrustedFolder();
    if (!folder) {
        if (!folder.absent()) found.problem = folder.why;
        return found;
    }
    const int at = folder.descriptor.get();
    for (const File& listed : list(at)) {
        const file::TrustedFile file = file::open_trusted(at, listed.name.c_str());
        if (!file && file.why.empty()) continue;  // gone meanwhile
        std::string why = file.why;
        if (file) {
            const auto all = file::read_all(file, limit_);
            if (!all)
                why = "it cannot be read, or is larger than the cache";
            else if (!decode_entry(key_of(listed.name), *all))
                why = "it is damaged, or belongs to another key";
        }
        if (why.empty()) {
            ++found.good;
            continue;
        }
        if (::unlinkat(at, listed.name.c_str(), 0) != 0)
            why += fmt::format(" (and cannot be removed: {})", std::strerror(errno));
        found.faults.push_back({listed.name, why});
    }
    return found;
}

}  // namespace wgrun::gpu
