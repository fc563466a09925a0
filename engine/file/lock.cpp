#include "file/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace wgrun::file {

FolderLock::FolderLock(int folder, std::chrono::milliseconds patience)
    : descriptor_(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + patience;
    while (descriptor_) {
        held_ = ::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0;
        if (held_ || (errno != EWOULDBLOCK && errno != EINTR) || Clock::now() >= deadline) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace wgrun::file
