/* gemm_cluster, a kernel for sm_90a that wgrun 1.0.0 wrote from gemms.lua:3. With gemm_cluster.c it needs CUDA's driver alone:
 *     cc -c gemm_cluster.c -I<toolkit>/include, linked with -lcuda
 * All functions return what the driver says, and want a current context. */
#ifndef gemm_cluster_H
#define gemm_cluster_H

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gemm_cluster_kernel {
    CUmodule module;
    CUfunction function;
} gemm_cluster_kernel;

/* Loads the machine code that gemm_cluster.c holds into the current context. */
CUresult gemm_cluster_load(gemm_cluster_kernel *kernel);

/* The same, from a file: gemm_cluster.cubin or gemm_cluster.ptx. */
CUresult gemm_cluster_load_file(gemm_cluster_kernel *kernel, const char *path);

/* Unloads it. No launch of it may still run. */
CUresult gemm_cluster_unload(gemm_cluster_kernel *kernel);

/* The grid of gemm_cluster_launch, along x, for a matrix of M x N: as many CTAs as it has tiles, or as run at
 * a time on the current device. */
CUresult gemm_cluster_grid(const gemm_cluster_kernel *kernel, uint32_t M, uint32_t N, unsigned *grid_x);

/* Starts the kernel on `stream`, and does not wait. Any thread may call it.
 *  grid: CTAs, a whole number of clusters of 2 x 1 x 1; gemm_cluster_grid computes it
 *  A: const tensor of bf16, packed, of A_rows x A_columns: its extents in elements, the last one contiguous
 *  B: const tensor of bf16, packed, of B_rows x B_columns: its extents in elements, the last one contiguous
 *  D: tensor of bf16, packed, of D_rows x D_columns: its extents in elements, the last one contiguous
 *  M: u32
 *  N: u32
 *  K: u32
 */
CUresult gemm_cluster_launch(
    const gemm_cluster_kernel *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, CUdeviceptr A,
    uint64_t A_rows, uint64_t A_columns, CUdeviceptr B, uint64_t B_rows, uint64_t B_columns, CUdeviceptr D,
    uint64_t D_rows, uint64_t D_columns, uint32_t M, uint32_t N, uint32_t K, CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
