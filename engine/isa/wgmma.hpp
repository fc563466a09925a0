// What the records of wgmma are made of: the meaning of a step, and how its sums are made.
#pragma once

#include <span>
#include <vector>

#include "isa/effects.hpp"
#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

inline constexpr int rows_of_a = 64;

/// The meaning of wgmma.mma_async and wgmma.mma_async.sp (wgmma_run.cpp).
void run_mma(const Step& s, const AsyncMma& mma, Machine& m);

/// One row of A as it is multiplied: element i meets row `k[i]` of B. Both of one length.
struct RowOfA {
    std::span<const float> values;
    std::span<const int> k;
};

/// B as it is multiplied: [k][n].
struct MatrixB {
    std::span<const float> values;
    int n = 0;
    std::span<const int> exponents = {};  ///< of an aligned sum: see exponents()
};

/// sums[j] += row * column j of B. Exact for integers below 2^24.
void add_products(const RowOfA& a, const MatrixB& b, std::span<float> sums);

/// The same in binary64, rounded once when the caller stores it: the reference.
void add_products(const RowOfA& a, const MatrixB& b, std::span<double> sums);

/// The exponents of operands of `type` as the tensor core aligns by: those of the encoding, so a subnormal
/// has that of the least normal number, and a zero has `exponent_of_zero`.
void exponents(Type type, std::span<const float> values, std::span<int> out);
inline constexpr int exponent_of_zero = -4096;

/// What an H200 does for operands of `type`. Fitted on the chip: docs/silicon.md.
Accumulation accumulation_of_h200(Type type);

/// sums[j] + row * column j of B as `model` adds: what the accumulator of type `d` holds afterwards (f16:
/// still to be rounded). `exponents` are those of the row.
void add_aligned(const Accumulation& model, Type d, const RowOfA& a, std::span<const int> exponents,
                 const MatrixB& b, std::span<double> sums);

}  // namespace wgrun::isa
