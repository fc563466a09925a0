/* Of the kernel's header, which emscripten has not, what wgrun uses. */
#define PROC_SUPER_MAGIC 0x9fa0
