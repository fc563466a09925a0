#pragma nv_diag_default 549
#pragma nv_diag_default 550

namespace {

// Describes a packed tensor to the bulk copy engine. `extents` in elements, the contiguous dimension first.
// cuTensorMapEncodeTiled is a function of the driver: the runtime finds it, so that -lcuda is not needed.
cudaError_t encode_map(TensorMap* map, CUtensorMapDataType type, unsigned element_bytes, const void* data, unsigned rank,
                       const cuuint64_t* extents, const cuuint32_t* box, CUtensorMapSwizzle swizzle,
                       CUtensorMapFloatOOBfill fill) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess) return error;
    if (result != cudaDriverEntryPointSuccess) return cudaErrorInsufficientDriver;
    cuuint64_t strides[5] = {extents[0] * element_bytes};  // bytes, of all dimensions but the contiguous one
    for (unsigned i = 1; i + 1 < rank; ++i) strides[i] = strides[i - 1] * extents[i];
    const cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
    const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    const CUresult encoded =
        encode(reinterpret_cast<CUtensorMap*>(map), type, rank, const_cast<void*>(data), extents, strides, box,
               element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
    return encoded == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

// What the kernel needs and a kernel does not have unasked: 229440 bytes of dynamic shared memory.
static cudaError_t gemm_cluster_allow() {
    const void* kernel = reinterpret_cast<const void*>(&gemm_cluster_kernel);
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 229440);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

// The grid of gemm_cluster_launch for a matrix of M x N: its CTAs walk over the tiles of 256 x 256, so that
// there are as many as there are tiles, or as run at a time on the current device.
cudaError_t gemm_cluster_grid(unsigned M, unsigned N, dim3* grid) {
    int resident = 0;
    if (const cudaError_t error = gemm_cluster_allow()) return error;
    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2, 1, 1);
    config.blockDim = dim3(384, 1, 1);
    config.dynamicSmemBytes = 229440;
    config.attrs = attributes;
    config.numAttrs = 1;
    const cudaError_t error =
        cudaOccupancyMaxActiveClusters(&resident, reinterpret_cast<const void*>(&gemm_cluster_kernel), &config);
    if (error != cudaSuccess) return error;
    const unsigned long long tiles =
        (M + 256ull - 1) / 256 * ((N + 256ull - 1) / 256);
    const unsigned long long most = static_cast<unsigned long long>(resident);
    *grid = dim3(static_cast<unsigned>(tiles < most ? tiles : most) * 2, 1, 1);
    return cudaSuccess;
}

// Starts the kernel on `stream`, does not wait, and returns what CUDA says. Pointers are those of device memory.
//  grid: CTAs, a whole number of clusters of 2 x 1 x 1; gemm_cluster_grid computes it
//  A: const tensor of bf16, packed, of A_rows x A_columns: its extents in elements, the last one contiguous
//  B: const tensor of bf16, packed, of B_rows x B_columns: its extents in elements, the last one contiguous
//  D: tensor of bf16, packed, of D_rows x D_columns: its extents in elements, the last one contiguous
//  M: u32
//  N: u32
//  K: u32
cudaError_t gemm_cluster_launch(
    dim3 grid, const __nv_bfloat16* A, unsigned long long A_rows, unsigned long long A_columns,
    const __nv_bfloat16* B, unsigned long long B_rows, unsigned long long B_columns, __nv_bfloat16* D,
    unsigned long long D_rows, unsigned long long D_columns, unsigned M, unsigned N, unsigned K,
    cudaStream_t stream) {
    if (const cudaError_t error = gemm_cluster_allow()) return error;
    const cuuint64_t A_extents[] = {A_columns, A_rows};
    const cuuint32_t A_box[] = {64, 128};
    TensorMap A_map;
    if (const cudaError_t error = encode_map(&A_map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, A, 2, A_extents, A_box,
                                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return error;
    const cuuint64_t B_extents[] = {B_columns, B_rows};
    const cuuint32_t B_box[] = {64, 128};
    TensorMap B_map;
    if (const cudaError_t error = encode_map(&B_map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, B, 2, B_extents, B_box,
                                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return error;
    const cuuint64_t D_extents[] = {D_columns, D_rows};
    const cuuint32_t D_box[] = {64, 64};
    TensorMap D_map;
    if (const cudaError_t error = encode_map(&D_map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, D, 2, D_extents, D_box,
                                             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return error;
    void* arguments[] = {&A_map, &B_map, &D_map, &M, &N, &K};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(384, 1, 1);
    config.dynamicSmemBytes = 229440;
    config.stream = stream;
    // It may start beside the end of the kernel before it in the stream, and waits for that by itself.
    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&gemm_cluster_kernel), arguments);
}
