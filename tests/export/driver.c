/* A driver that says what it is asked for. FAIL=NAME in the environment: that function fails. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult told(const char *name)
{
    const char *fails = getenv("FAIL");
    return fails != NULL && strcmp(fails, name) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return told("device");
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132 : -1;
    return told("attribute");
}
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    printf("load file %s\n", path);
    *module = (CUmodule)module;
    return told("load");
}
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    printf("load %.2s, aligned %d\n", (const char *)image, (int)((uintptr_t)image % 8 == 0));
    *module = (CUmodule)module;
    return told("load");
}
CUresult cuModuleUnload(CUmodule module)
{
    (void)module;
    printf("unload\n");
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    printf("function %s\n", name);
    *function = (CUfunction)function;
    return told("function");
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function;
    printf("attribute %d: %d\n", (int)attribute, value);
    return told("allow");
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    (void)function;
    printf("clusters of %u x %u x %u, %u threads, %u bytes\n", config->attrs[0].value.clusterDim.x,
           config->attrs[0].value.clusterDim.y, config->attrs[0].value.clusterDim.z, config->blockDimX,
           config->sharedMemBytes);
    *clusters = 60;
    return told("occupancy");
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra)
{
    (void)function;
    printf("launch %u x %u x %u of %u threads, %u bytes, stream %d", config->gridDimX, config->gridDimY,
           config->gridDimZ, config->blockDimX * config->blockDimY * config->blockDimZ, config->sharedMemBytes,
           config->hStream != NULL);
    if (config->numAttrs == 1) printf(", attribute %d", (int)config->attrs[0].id);
    printf(", first %#x, extra %d\n", (unsigned)*(const unsigned *)arguments[0], extra != NULL);
    return told("launch");
}
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *data,
                                const cuuint64_t *extents, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    cuuint32_t i;
    printf("map of type %d at %#lx, aligned %d:", (int)type, (unsigned long)(uintptr_t)data,
           (int)((uintptr_t)map % 64 == 0));
    for (i = 0; i < rank; ++i) {
        printf(" %lu in boxes of %u", (unsigned long)extents[i], (unsigned)box[i]);
        if (i + 1 < rank) printf(" stride %lu,", (unsigned long)strides[i]);
        if (element_strides[i] != 1) printf(" element stride %u", (unsigned)element_strides[i]);
    }
    printf("; %d %d %d %d\n", (int)interleave, (int)swizzle, (int)promotion, (int)fill);
    memset(map, 0xAB, sizeof *map);
    return told("map");
}
