// An entry of the cache as the bytes of a file.
//
//   wgrun-cache-v1 HASH LOG-BYTES\n LOG IMAGE
//
// HASH is the SHA-256 of key, log and image together, so that an entry is believed under its own key alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wgrun::gpu {

struct CacheEntry {
    std::string log;
    std::vector<std::byte> image;
};

/// Changes with the form of an entry: then older ones are in another folder, and nobody reads them.
inline constexpr std::string_view cache_format = "wgrun-cache-v1";

std::string encode_entry(std::string_view key, const CacheEntry& entry);

/// Nothing, unless `file` is an entry of `key` to the last byte.
std::optional<CacheEntry> decode_entry(std::string_view key, std::string_view file);

}  // namespace wgrun::gpu
