#include "gpu/cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "gpu/sha256.hpp"

namespace wgrun::gpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "wgrun-cache-1";
constexpr std::string_view temporary_suffix = ".tmp";

std::string payload_hash(const Cache::Entry& entry) {
    const std::string_view image(reinterpret_cast<const char*>(entry.image.data()), entry.image.size());
    return Cache::key({entry.log, image});
}

bool is_temporary(const fs::path& path) { return path.extension() == temporary_suffix; }

struct File {
    fs::path path;
    std::uint64_t bytes;
    fs::file_time_type used;
};

std::vector<File> list(const fs::path& folder) {
    std::vector<File> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;  // another process may have removed it meanwhile
        if (!it->is_regular_file(ignored)) continue;
        const auto bytes = it->file_size(ignored);
        const auto used = it->last_write_time(ignored);
        if (!ignored) files.push_back({it->path(), bytes, used});
    }
    return files;
}

}  // namespace

Cache::Cache(fs::path folder, std::uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

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

std::optional<Cache::Entry> Cache::find(const std::string& key) const {
    if (!off_.empty()) return std::nullopt;
    const fs::path path = folder_ / key;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream read;
    read << file.rdbuf();
    const std::string all = std::move(read).str();

    const std::size_t header_end = all.find('\n');
    std::istringstream header(all.substr(0, header_end));
    std::string word;
    std::string hash;
    std::size_t log_bytes = 0;
    std::error_code ignored;
    if (header_end != std::string::npos && header >> word >> hash >> log_bytes && word == magic &&
        log_bytes <= all.size() - header_end - 1) {
        Entry entry;
        entry.log = all.substr(header_end + 1, log_bytes);
        const auto image = std::as_bytes(std::span(all)).subspan(header_end + 1 + log_bytes);
        entry.image.assign(image.begin(), image.end());
        if (payload_hash(entry) == hash) {
            fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // used just now
            return entry;
        }
    }
    fs::remove(path, ignored);  // damaged
    return std::nullopt;
}

void Cache::store(const std::string& key, const Entry& entry) const {
    if (!off_.empty() || entry.log.size() + entry.image.size() > limit_) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    static std::atomic<unsigned> counter = 0;
    const fs::path temporary =
        folder_ / fmt::format("{}.{}.{}{}", key, ::getpid(), counter.fetch_add(1), temporary_suffix);
    {
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file << magic << ' ' << payload_hash(entry) << ' ' << entry.log.size() << '\n' << entry.log;
        file.write(reinterpret_cast<const char*>(entry.image.data()),
                   static_cast<std::streamsize>(entry.image.size()));
        file.close();
        if (file) fs::rename(temporary, folder_ / key, error);
        if (!file || error) {
            fs::remove(temporary, error);
            return;
        }
    }
    evict();
}

void Cache::evict() const {
    std::vector<File> files = list(folder_);
    std::uint64_t bytes = 0;
    std::error_code ignored;
    const auto stale = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const File& file : files) {
        bytes += file.bytes;
        if (is_temporary(file.path) && file.used < stale) fs::remove(file.path, ignored);  // its writer died
    }
    if (bytes <= limit_) return;
    std::ranges::sort(files, {}, &File::used);
    for (const File& file : files) {
        if (bytes <= limit_ - limit_ / 4) break;  // some room, so that not every store has to clean up
        if (is_temporary(file.path)) continue;
        if (fs::remove(file.path, ignored)) bytes -= file.bytes;
    }
}

CacheInfo Cache::info() const {
    CacheInfo info;
    info.folder = folder_.string();
    info.limit = limit_;
    info.missing = off_;
    if (!off_.empty()) return info;
    for (const File& file : list(folder_)) {
        if (is_temporary(file.path)) continue;
        info.bytes += file.bytes;
        ++info.entries;
    }
    // The nearest folder that exists decides whether something can be stored.
    std::error_code ignored;
    fs::path nearest = fs::absolute(folder_, ignored);
    while (!fs::exists(nearest, ignored) && nearest.has_relative_path()) nearest = nearest.parent_path();
    if (!fs::is_directory(nearest, ignored) || ::access(nearest.c_str(), W_OK | X_OK) != 0)
        info.missing = fmt::format("{} cannot be written", nearest.string());
    return info;
}

}  // namespace wgrun::gpu
