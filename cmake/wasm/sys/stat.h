/* emscripten has no statx: what wgrun asks of it, by fstat, without times of birth. */
#include_next <sys/stat.h>
#ifndef STATX_INO
#define STATX_INO 0x100U
#define STATX_BTIME 0x800U
struct statx {
    unsigned stx_dev_major, stx_dev_minor;
    unsigned long long stx_ino;
    struct {
        long long tv_sec;
        unsigned tv_nsec;
    } stx_btime;
};
static inline int statx(int descriptor, const char *path, int flags, unsigned mask, struct statx *out) {
    struct stat status;
    (void)path, (void)flags, (void)mask;
    if (fstat(descriptor, &status) != 0) return -1;
    out->stx_ino = status.st_ino;
    return 0;
}
#endif
