// The cache on disk: what a compiler made of a text, by the hash of everything that went into it.
//
// One file an entry, written beside its place and renamed into it (file/replacement.hpp), so that a reader
// sees all of it or nothing and writers in many processes, killed at any moment, need no lock. The entries
// are in a folder of their own (wgrun-cache-v1, mode 0700, with a CACHEDIR.TAG) below the one that is named,
// and no name is touched that is not an entry's. What is read is believed only if no other user can have put
// it there, and if its checksum, which covers the key, is right; what is damaged goes. The folder's size is
// bounded; the entries that were used longest ago go first. Whatever goes wrong (full disk, no permission,
// damaged file) is a miss, never an error; take_cache_problem() tells of it.
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

#include "file/trusted.hpp"
#include "gpu/cache_entry.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::gpu {

/// The result of clear().
struct CacheCleared {
    std::size_t entries = 0;      ///< that are gone
    std::uint64_t bytes = 0;      ///< of them
    std::size_t temporaries = 0;  ///< of writers that were killed; gone too
    std::string problem;          ///< why some are not; empty if all are
};

/// The result of verify().
struct CacheVerified {
    struct Fault {
        std::string name, why;
    };
    std::size_t good = 0;
    std::vector<Fault> faults;  ///< damaged or untrusted entries, which were removed
    std::string problem;        ///< why nothing could be checked
};

class Cache {
  public:
    static constexpr std::uint64_t default_limit = 256 << 20;

    using Entry = CacheEntry;

    /// The cache that the environment configures; one that stores nothing if it is switched off.
    static Cache standard();

    /// A cache that stores nothing, for the reason `why`.
    static Cache off(std::string why);

    /// A cache below `folder` (made when something is stored) of at most `limit` bytes; for a moment there
    /// may be a sixteenth more from each process.
    explicit Cache(std::filesystem::path folder, std::uint64_t limit = default_limit);

    /// The key of all `parts` together; moving a byte from one part to the next changes it.
    static std::string key(std::initializer_list<std::string_view> parts);

    std::optional<Entry> find(const std::string& key) const;
    void store(const std::string& key, const Entry& entry) const;

    /// A folder called `name` beside the entries for other things, under the same rules, made if need be;
    /// what is in it counts for no limit. EnvironmentError ENOENT when the cache is off, EACCES when it
    /// cannot be used.
    std::filesystem::path folder(const std::string& name) const;

    CacheInfo info() const;
    /// Removes all entries, and the leftovers of killed writers.
    CacheCleared clear() const;
    /// Reads every entry, and removes those that are damaged or not to be trusted.
    CacheVerified verify() const;

  private:
    Cache() = default;
    file::TrustedFolder open(bool make) const;
    void keep_bounded(int folder, std::uint64_t stored) const;
    void complain(std::string_view why) const;

    std::filesystem::path base_;    ///< as it was named
    std::filesystem::path folder_;  ///< of the entries, in `base_`
    std::uint64_t limit_ = 0;
    std::string off_;  // why nothing is cached; empty when it is on
};

}  // namespace wgrun::gpu
