// Products by wmma of several shapes, types and layouts (fragments.ptx: nvcc -ptx -arch=sm_90a): twice A B.
#include <mma.h>
using namespace nvcuda;

template <class T, class LayoutA, class LayoutB, class Sum, int M, int N, int K>
__device__ void product(const T* a, const T* b, Sum* d, int lda, int ldb, int ldd) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> y;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::fill_fragment(sum, static_cast<Sum>(0));
    wmma::load_matrix_sync(x, a, lda);
    wmma::load_matrix_sync(y, b, ldb);
    wmma::mma_sync(sum, x, y, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * static_cast<Sum>(2);
    wmma::store_matrix_sync(d, sum, ldd, wmma::mem_row_major);
}

using Row = wmma::row_major;
using Column = wmma::col_major;
using Brain = __nv_bfloat16;
using Byte = signed char;

extern "C" __global__ __launch_bounds__(32) void half_square(const half* a, const half* b, float* d) {
    product<half, Row, Column, float, 16, 16, 16>(a, b, d, 16, 16, 16);
}
extern "C" __global__ __launch_bounds__(32) void half_wide(const half* a, const half* b, float* d) {
    product<half, Column, Row, float, 8, 32, 16>(a, b, d, 8, 32, 32);
}
extern "C" __global__ __launch_bounds__(32) void brain_high(const Brain* a, const Brain* b, float* d) {
    product<Brain, Row, Row, float, 32, 8, 16>(a, b, d, 16, 8, 8);
}
extern "C" __global__ __launch_bounds__(32) void bytes(const Byte* a, const Byte* b, int* d) {
    product<Byte, Row, Column, int, 16, 16, 16>(a, b, d, 16, 16, 16);
}
extern "C" __global__ __launch_bounds__(32) void doubles(const double* a, const double* b, double* d) {
    product<double, Row, Column, double, 8, 8, 4>(a, b, d, 4, 4, 8);
}
extern "C" __global__ __launch_bounds__(32) void words(const float* a, const float* b, float* d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, Row> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, Row> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, b, 16);
    wmma::load_matrix_sync(sum, d, 16, wmma::mem_col_major);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
// Through shared memory, with sums of 16 bits; D by columns.
extern "C" __global__ __launch_bounds__(32) void shared(const half* a, const half* b, half* d) {
    __shared__ half s[256];
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, Row> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, Column> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    wmma::fill_fragment(sum, __float2half(0));
    wmma::load_matrix_sync(x, s, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_col_major);
}
