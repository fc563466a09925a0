/* hello_wgmma, a kernel for sm_90a that wgrun 1.0.0 wrote from hello_wgmma.lua:7. With hello_wgmma.c it needs CUDA's driver alone:
 *     cc -c hello_wgmma.c -I<toolkit>/include, linked with -lcuda
 * All functions return what the driver says, and want a current context. */
#ifndef hello_wgmma_H
#define hello_wgmma_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hello_wgmma_kernel {
    CUmodule module;
    CUfunction function;
} hello_wgmma_kernel;

/* Loads the machine code that hello_wgmma.c holds into the current context. */
CUresult hello_wgmma_load(hello_wgmma_kernel *kernel);

/* The same, from a file: hello_wgmma.cubin or hello_wgmma.ptx. */
CUresult hello_wgmma_load_file(hello_wgmma_kernel *kernel, const char *path);

/* Unloads it. No launch of it may still run. */
CUresult hello_wgmma_unload(hello_wgmma_kernel *kernel);

/* Starts the kernel on `stream`, and does not wait. Any thread may call it.
 *  grid: CTAs
 *  A: const bf16*
 *  B: const bf16*
 *  D: f32*
 */
CUresult hello_wgmma_launch(
    const hello_wgmma_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, CUdeviceptr A,
    CUdeviceptr B, CUdeviceptr D, CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
