#include "file/identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace wgrun::file {

Identity identity_of(int descriptor) {
    struct statx status {};
    if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0) return {};
    const std::uint64_t device = std::uint64_t{status.stx_dev_major} << 32U | status.stx_dev_minor;
    constexpr std::int64_t nanoseconds = 1000000000;
    return {device, status.stx_ino, status.stx_btime.tv_sec * nanoseconds + status.stx_btime.tv_nsec};
}

}  // namespace wgrun::file
