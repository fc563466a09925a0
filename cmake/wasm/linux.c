/* Calls of Linux that emscripten declares and does not have. None has an effect that wgrun needs here; each says so. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>

struct sysinfo;

static int absent(void) {
    errno = ENOSYS;
    return -1;
}

int fallocate(int descriptor, int mode, off_t from, off_t length) {
    (void)descriptor, (void)mode, (void)from, (void)length;
    return absent();
}
int memfd_create(const char *name, unsigned flags) {
    (void)name, (void)flags;
    return absent();
}
int ppoll(struct pollfd *all, nfds_t count, const struct timespec *limit, const sigset_t *open) {
    (void)all, (void)count, (void)limit, (void)open;
    return absent();
}
int prctl(int option, ...) {
    (void)option;
    return absent();
}
int pthread_kill(pthread_t thread, int number) {
    (void)thread, (void)number;
    return ESRCH;
}
int sysinfo(struct sysinfo *out) {
    (void)out;
    return absent();
}
