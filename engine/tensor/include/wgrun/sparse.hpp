// Structured sparsity: matrices for wgmma.mma_async.sp. PTX ISA 9.7.15.6. Functions are thread-safe.
//
// A chunk is 4 consecutive elements of a row, of which 2 are kept (tf32: 2, of which 1 is kept). Matrices are
// row-major, m x k, of f16, bf16, tf32, e4m3, e5m2, s8 or u8; other types throw ArgumentError.
#pragma once

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun::sparse {

/// Elements of K that one instruction takes: 32 for 16-bit types, 16 for tf32, 64 for 8-bit types. Throws
/// ArgumentError for types without sparse instructions.
int instruction_k(Dtype dtype);

/// A copy in which each chunk keeps the elements of largest magnitude (of equal ones the first; NaN is the
/// largest) and has +0 elsewhere. Throws ArgumentError unless the matrix is m x k with whole chunks.
Tensor prune(const Tensor& matrix);

/// The operands of a sparse wgmma.
struct Compressed {
    Tensor values;  ///< m x k/2, of the matrix's type
    /// u32 {m / 64, k / instruction_k, 128}: the metadata register of each thread of a warpgroup, for each 64
    /// rows and each instruction along K. Both pairs of lanes hold the same, so either selector will do.
    Tensor metadata;
};

/// Throws ArgumentError, naming row and chunk, if a chunk has more non-zero elements than are kept (prune
/// first), or unless m is a multiple of 64 and k one of instruction_k.
Compressed compress(const Tensor& matrix);

/// The same for wg.gemm, whose metadata is half as large for types of 16 and 32 bits: the first two lanes of
/// four hold the words of one instruction, for selector 0, the other two those of the next, for selector 1.
/// Metadata is u32 {ceil(m / 64), w, 128}, where w words of 256 bytes of k follow each other, filled up with
/// legal codes. Throws ArgumentError as compress does, or unless rows of the matrix are a multiple of 32
/// bytes.
Compressed compress_for_gemm(const Tensor& matrix);

/// The inverse of compress. Throws ArgumentError for shapes that do not match, and what validate throws.
Tensor decompress(const Tensor& values, const Tensor& metadata);

/// Throws ArgumentError, naming row and chunk, for the first code without a meaning: two equal indices
/// (0b0000, 0b0101, 0b1010, 0b1111), and for tf32 all but 0b0100 and 0b1110; or unless `metadata` is a u32
/// tensor {blocks, steps, 128}. With 16-bit types and tf32 the lanes of both selectors must agree.
void validate(const Tensor& metadata, Dtype dtype);

}  // namespace wgrun::sparse

#pragma GCC visibility pop
