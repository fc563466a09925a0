// Files of the user's own, believed because nobody else can have written them, in the folder of wgrun's
// cache.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// A folder called `name` in that of the cache, which the size limit of what compilers made does not touch;
/// made if need be. EnvironmentError ENOENT when the cache is off, EACCES when it cannot be used. Any thread
/// may call these functions.
std::string own_folder(const std::string& name);

/// What the file holds; empty when there is none. EnvironmentError EACCES when others could have written it,
/// or it has more than 64 MiB.
std::string read_own(const std::string& path);

/// An update of such a file that no other one, of this process or another, comes between. For one thread at a
/// time.
class OwnUpdate {
  public:
    /// Waits for others, at most 10 s: on a file system without locks the last of two at once wins.
    /// EnvironmentError EIO where the file's folder cannot be opened, and what read_own throws.
    explicit OwnUpdate(std::string path);
    OwnUpdate(OwnUpdate&&) noexcept;
    OwnUpdate& operator=(OwnUpdate&&) noexcept;
    ~OwnUpdate();

    /// What the file holds until now.
    const std::string& text() const;
    /// Puts `changed` in its place, whole or not at all, for this user alone (mode 0600). EnvironmentError
    /// when that cannot be done.
    void write(std::string_view changed);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

namespace gpu {

/// Why a cache could not be read or written; empty when nothing came up since the last call. The same is told
/// once a process. Thread-safe.
std::string take_cache_problem();

}  // namespace gpu

}  // namespace wgrun

#pragma GCC visibility pop
