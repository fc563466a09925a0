/* Of the kernel's header, which emscripten has not, what wgrun uses. */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
