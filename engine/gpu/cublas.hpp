// cuBLASLt as a baseline: dense GEMM, opened at run time, with the fastest of the algorithms that its
// heuristic proposes. For benchmarks; nothing of the engine needs it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

/// Where libcublasLt is and its version, or why it is missing.
Part find_cublas();

/// D[m, n] = A[m, k] * B[k, n], accumulated in f32 (8-bit floats as the tensor cores do it by themselves), or
/// in s32 for s8. All leading dimensions are the least ones. cuBLAS takes operands of 8 bits K-major only.
struct Gemm {
    enum class Input { bf16, f16, tf32, e4m3, e5m2, s8 };
    enum class Output { f32, bf16, f16, s32 };
    enum class Major { k, mn };  ///< the index of the operand that is contiguous

    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Input input = Input::bf16;
    Output output =
        Output::bf16;  ///< 16-bit inputs: their type or f32; tf32: f32; 8-bit floats: bf16; s8: s32
    Major a = Major::k;
    Major b = Major::k;
};

/// One GEMM on given buffers, its algorithm chosen. D is row-major: n is contiguous.
class CublasProduct {
  public:
    /// Asks the heuristic for `candidates` algorithms (1 to 64), times each and keeps the fastest.
    /// The buffers must outlive this. ArgumentError for extents or buffers that do not fit; EnvironmentError
    /// ENOENT without libcublasLt, EFAULT with cuBLAS's status name.
    CublasProduct(const Device& device, const Gemm& gemm, const Buffer& a, const Buffer& b, Buffer& d,
                  int candidates = 8);

    /// The same on the device addresses of A, B and D, of whose sizes nothing is known.
    CublasProduct(const Device& device, const Gemm& gemm, const std::array<std::uint64_t, 3>& operands,
                  int candidates);
    CublasProduct(CublasProduct&&) noexcept;
    CublasProduct& operator=(CublasProduct&&) noexcept;
    ~CublasProduct();

    /// Starts it on the default stream; does not wait.
    void run() const;

    /// The number of algorithms that were tried.
    int tried() const;

  private:
    struct State;
    struct Here;
    struct InWorker;
    std::unique_ptr<State> state_;
};

}  // namespace wgrun::gpu
