/* Calls of the Linux kernel that wgrun makes for worker processes: there are none here, and each says so. */
#ifndef WGRUN_NO_SYSCALLS
#define WGRUN_NO_SYSCALLS
#include <errno.h>
#define SYS_futex 202
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#define SYS_close_range 436
static inline long syscall(long number, ...) {
    (void)number;
    errno = ENOSYS;
    return -1;
}
#endif
