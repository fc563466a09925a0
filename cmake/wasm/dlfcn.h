/* emscripten's dlopen ends the program where it is not linked for it. Here no library can be opened: no driver, no NVRTC. */
#ifndef WGRUN_NO_LIBRARIES
#define WGRUN_NO_LIBRARIES
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 256
#define RTLD_DEFAULT ((void *)0)
#define RTLD_DI_LINKMAP 2
typedef struct {
    const char *dli_fname;
} Dl_info;
static inline int dladdr(const void *address, Dl_info *out) {
    (void)address, (void)out;
    return 0;
}
static inline int dlinfo(void *library, int request, void *out) {
    (void)library, (void)request, (void)out;
    return -1;
}
static inline void *dlopen(const char *file, int flags) {
    (void)file, (void)flags;
    return 0;
}
static inline void *dlsym(void *library, const char *name) {
    (void)library, (void)name;
    return 0;
}
static inline int dlclose(void *library) {
    (void)library;
    return -1;
}
static inline char *dlerror(void) { return (char *)"WebAssembly has no shared libraries"; }
#endif
