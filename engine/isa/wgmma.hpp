// Parts of the records of wgmma: the meaning of a step, and the computation of its sums.
#pragma once

#include <span>
#include <vector>

#include "isa/effects.hpp"
#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

inline constexpr int rows_of_a = 64;

/// Whether the register is one that a wgmma adds to.
bool is_accumulator(const Step& step, Reg reg);

/// The meaning of wgmma.mma_async and wgmma.mma_async.sp (wgmma_run.cpp).
void run_mma(const Step& s, const AsyncMma& mma, Machine& m);

/// One row of A for the multiplication: element i is multiplied with row `k[i]` of B. Both have the same
/// length.
struct RowOfA {
    std::span<const float> values;
    std::span<const int> k;
};

/// B for the multiplication: [k][n].
struct MatrixB {
    std::span<const float> values;
    int n = 0;
    std::span<const int> exponents = {};  ///< of an aligned sum: see exponents()
};

/// Computes sums[j] += row * column j of B. It is exact for integers below 2^24.
void add_products(const RowOfA& a, const MatrixB& b, std::span<float> sums);

/// Computes the same in binary64, rounded once when the caller stores it: the reference.
void add_products(const RowOfA& a, const MatrixB& b, std::span<double> sums);

/// Writes to `out` the exponents by which the tensor core aligns operands of `type`. They are those of the
/// encoding: a subnormal has that of the least normal number, and a zero has `exponent_of_zero`.
void exponents(Type type, std::span<const float> values, std::span<int> out);
inline constexpr int exponent_of_zero = -4096;

/// Returns what an H200 does for operands of `type`, fitted to measurements (docs/silicon.md).
Accumulation accumulation_of_h200(Type type);

/// Computes sums[j] + row * column j of B as `model` adds: the contents of the accumulator of type `d`
/// afterwards (f16: still to be rounded). `exponents` are those of the row.
void add_aligned(const Accumulation& model, Type d, const RowOfA& a, std::span<const int> exponents,
                 const MatrixB& b, std::span<double> sums);

}  // namespace wgrun::isa
