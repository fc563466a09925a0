// Running a program: no shell, both outputs together, a time limit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "file/descriptor.hpp"
#include "file/leftovers.hpp"

namespace wgrun::gpu {

struct ProcessResult {
    int status = 0;  ///< the exit status, or minus the signal that ended it
    std::string output;
};

/// Runs `arguments[0]` (a path) to its end, with nothing to read, in a session of its own; what it has
/// started and not waited for is killed when it has ended. Of its output the first `most` bytes are kept.
/// EnvironmentError ENOENT when it cannot be started, ETIMEDOUT when it was killed after `timeout`, EINTR
/// when `stop` was raised.
ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout,
                          const std::atomic<bool>* stop = nullptr, std::size_t most = 8 << 20);

/// A new folder of this process alone (mode 0700), removed with what is in it at the end of the scope.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

    /// The path of a file in it, which is also removed when a signal ends the process.
    std::filesystem::path file(const std::string& name);
    /// The same, with that content. Throws EnvironmentError EIO with the reason, such as a full disk.
    std::filesystem::path file(const std::string& name, std::string_view content);

  private:
    std::filesystem::path path_;
    file::Descriptor parent_, own_;
    std::vector<file::Leftover> leftovers_;
};

/// Writes a new file. Throws as TemporaryFolder::file does.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace wgrun::gpu
