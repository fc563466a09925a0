#include "gpu/cache_entry.hpp"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "gpu/cache.hpp"

namespace wgrun::gpu {
namespace {

std::string hash_of(std::string_view key, std::string_view log, std::string_view image) {
    return Cache::key({key, log, image});
}

}  // namespace

std::string encode_entry(std::string_view key, const CacheEntry& entry) {
    const std::string_view image(reinterpret_cast<const char*>(entry.image.data()), entry.image.size());
    std::string file =
        fmt::format("{} {} {}\n", cache_format, hash_of(key, entry.log, image), entry.log.size());
    file.reserve(file.size() + entry.log.size() + image.size());
    file += entry.log;
    file += image;
    return file;
}

std::optional<CacheEntry> decode_entry(std::string_view key, std::string_view file) {
    constexpr std::size_t hash_digits = 64;
    constexpr std::size_t head = cache_format.size() + 1 + hash_digits + 1;
    if (file.size() < head || !file.starts_with(cache_format)) return std::nullopt;
    const std::string_view hash = file.substr(cache_format.size() + 1, hash_digits);
    const std::size_t line_end = file.find('\n', head);
    if (line_end == std::string_view::npos) return std::nullopt;
    const std::string_view digits = file.substr(head, line_end - head);
    std::size_t log_bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), log_bytes);
    const std::string_view rest = file.substr(line_end + 1);
    if (error != std::errc{} || end != digits.data() + digits.size() || log_bytes > rest.size())
        return std::nullopt;
    const std::string_view log = rest.substr(0, log_bytes);
    const std::string_view image = rest.substr(log_bytes);
    if (hash != hash_of(key, log, image)) return std::nullopt;
    // The hash does not cover the line that it is in.
    if (file.substr(0, line_end + 1) != fmt::format("{} {} {}\n", cache_format, hash, log_bytes))
        return std::nullopt;
    const auto bytes = std::as_bytes(std::span(image));
    return CacheEntry{std::string(log), {bytes.begin(), bytes.end()}};
}

}  // namespace wgrun::gpu
