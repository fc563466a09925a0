// Files in the folder of wgrun's cache that are trusted, because nobody but the user can have written
// them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// The folder `name` within the cache's folder, made if need be; the cache's size limit does not apply to it.
/// Throws EnvironmentError ENOENT when the cache is off, EACCES when it cannot be used. All functions here
/// are thread-safe.
std::string own_folder(const std::string& name);

/// The contents of the file; empty when there is none. Throws EnvironmentError EACCES when others could have
/// written it, or when it has more than 64 MiB.
std::string read_own(const std::string& path);

/// An atomic read and write of such a file: updates by other threads and processes wait. An object is for one
/// thread at a time.
class OwnUpdate {
  public:
    /// Waits for other updates, at most 10 s; on a file system without locks the last one wins. Throws
    /// EnvironmentError EIO if the file's folder cannot be opened, and what read_own throws.
    explicit OwnUpdate(std::string path);
    OwnUpdate(OwnUpdate&&) noexcept;
    OwnUpdate& operator=(OwnUpdate&&) noexcept;
    ~OwnUpdate();

    /// The contents of the file before the update.
    const std::string& text() const;
    /// Replaces them by `changed`, whole or not at all, readable by this user alone (mode 0600). Throws
    /// EnvironmentError if that fails.
    void write(std::string_view changed);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

namespace gpu {

/// Why a cache could not be read or written; empty when there was no problem since the last call. Each
/// problem is reported once per process. Thread-safe.
std::string take_cache_problem();

}  // namespace gpu

}  // namespace wgrun

#pragma GCC visibility pop
