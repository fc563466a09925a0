// Running a program: no shell, both outputs together, a time limit.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace wgrun::gpu {

struct ProcessResult {
    int status = 0;  ///< exit status, or minus the signal that ended it
    std::string output;
};

/// Runs `arguments[0]` (a path) to its end, with nothing to read. EnvironmentError ENOENT when it cannot be
/// started, ETIMEDOUT when it was killed after `timeout`.
ProcessResult run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout);

/// A new folder of this process alone, removed with what is in it at the end of the scope.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace wgrun::gpu
