/* hello_wgmma: see hello_wgmma.h. */
#include "hello_wgmma.h"

#include <string.h>

/* PTX, which the driver assembles: there was no ptxas */
static const union {
    unsigned char bytes[0];
    uint64_t aligned;
} image = {{

static CUresult loaded(hello_wgmma_kernel *kernel, CUresult error)
{
    if (error != CUDA_SUCCESS) return error;
    error = cuModuleGetFunction(&kernel->function, kernel->module, "hello_wgmma");
    if (error != CUDA_SUCCESS) cuModuleUnload(kernel->module);
    return error;
}

CUresult hello_wgmma_load(hello_wgmma_kernel *kernel)
{
    return loaded(kernel, cuModuleLoadData(&kernel->module, image.bytes));
}

CUresult hello_wgmma_load_file(hello_wgmma_kernel *kernel, const char *path)
{
    return loaded(kernel, cuModuleLoad(&kernel->module, path));
}

CUresult hello_wgmma_unload(hello_wgmma_kernel *kernel)
{
    return cuModuleUnload(kernel->module);
}

CUresult hello_wgmma_launch(
    const hello_wgmma_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, CUdeviceptr A,
    CUdeviceptr B, CUdeviceptr D, CUstream stream)
{
    void *arguments[3];
    CUlaunchConfig config;
    arguments[0] = &A;
    arguments[1] = &B;
    arguments[2] = &D;
    memset(&config, 0, sizeof config);
    config.gridDimX = grid_x;
    config.gridDimY = grid_y;
    config.gridDimZ = grid_z;
    config.blockDimX = 128;
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = 16384;
    config.hStream = stream;
    return cuLaunchKernelEx(&config, kernel->function, arguments, NULL);
}
