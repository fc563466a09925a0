// The cache on disk: what a compiler made of a text, by the hash of everything that went into it.
//
// One file an entry, written beside its place and renamed into it, so that a reader sees all of it or nothing
// and writers in many processes need no lock. The folder's size is bounded; the entries that were used
// longest ago go first. Whatever goes wrong (full disk, no permission, damaged file) is a miss, never an
// error.
//
// WGRUN_CACHE names the folder, or switches the cache off ("" or "off"); else it is $XDG_CACHE_HOME/wgrun or
// ~/.cache/wgrun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

class Cache {
  public:
    static constexpr std::uint64_t default_limit = 256 << 20;

    struct Entry {
        std::string log;
        std::vector<std::byte> image;
    };

    /// The cache that the environment asks for; one that holds nothing when it is switched off.
    static Cache standard();

    /// A cache that holds nothing, for the reason `why`.
    static Cache off(std::string why);

    /// A cache in `folder` (made when something is stored) of at most `limit` bytes.
    explicit Cache(std::filesystem::path folder, std::uint64_t limit = default_limit);

    /// The key of all `parts` together; moving a byte from one part to the next changes it.
    static std::string key(std::initializer_list<std::string_view> parts);

    std::optional<Entry> find(const std::string& key) const;
    void store(const std::string& key, const Entry& entry) const;
    CacheInfo info() const;

  private:
    Cache() = default;
    void evict() const;

    std::filesystem::path folder_;
    std::uint64_t limit_ = 0;
    std::string off_;  // why nothing is cached; empty when it is on
};

}  // namespace wgrun::gpu
