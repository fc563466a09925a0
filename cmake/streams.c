// The standard streams, for a Lua that was compiled to find them in the program itself (lua.cmake).
#include <stdio.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN FILE *wgrun_stdin, *wgrun_stdout, *wgrun_stderr;

__attribute__((constructor)) static void find_streams(void) {
    wgrun_stdin = stdin;
    wgrun_stdout = stdout;
    wgrun_stderr = stderr;
}
