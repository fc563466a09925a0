// One process at a time.
#pragma once

#include <chrono>

#include "file/descriptor.hpp"

namespace wgrun::file {

/// A lock on a folder that goes with its process, however that ends; nothing is left in the folder. Threads
/// of one process exclude each other too.
class FolderLock {
  public:
    /// Waits at most `patience` for `folder`, an open folder, which is not needed afterwards.
    FolderLock(int folder, std::chrono::milliseconds patience);

    /// False if another process held it, or the file system has no locks.
    bool held() const { return held_; }

  private:
    Descriptor descriptor_;
    bool held_ = false;
};

}  // namespace wgrun::file
