#pragma nv_diag_default 549
#pragma nv_diag_default 550

// Starts the kernel on `stream`, does not wait, and returns what CUDA says. Pointers are those of device memory.
//  grid: CTAs
//  A: const bf16*
//  B: const bf16*
//  D: f32*
cudaError_t hello_wgmma_launch(
    dim3 grid, const __nv_bfloat16* A, const __nv_bfloat16* B, float* D, cudaStream_t stream) {
    void* arguments[] = {&A, &B, &D};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(128, 1, 1);
    config.dynamicSmemBytes = 16384;
    config.stream = stream;
    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&hello_wgmma_kernel), arguments);
}
