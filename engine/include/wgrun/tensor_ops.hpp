// Host tensors computed with: shapes, parts, elementwise arithmetic with broadcasting, comparisons,
// reductions.
//
// For references and for data to try a kernel on: clear and parallel, no library of linear algebra. A view
// shares its memory with the tensor that it is of; whatever else returns a tensor has made a copy.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wgrun/tensor.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// `items` consecutive elements of `of`, from row-major position `first`, as a tensor of `shape`: the same
/// memory, which lives as long as either. Of a read-only tensor a read-only one.
/// Throws ArgumentError where the elements lie outside, and for b1, whose elements share bytes.
Tensor view(const std::shared_ptr<Tensor>& of, std::int64_t first, TensorShape shape);

/// The same elements in the same row-major order under another shape, as a view. One extent may be -1: what
/// is left. Throws ArgumentError if the number of elements differs.
Tensor reshape(const std::shared_ptr<Tensor>& of, TensorShape shape);

/// Dimension d of the result is dimension order[d] of `tensor`. A copy. Throws ArgumentError unless `order`
/// is a permutation of the dimensions.
Tensor permute(const Tensor& tensor, std::span<const int> order);

/// Indices first, first + step, ... along one dimension, `count` of them.
struct IndexRange {
    std::int64_t first = 0, count = 0, step = 1;
    bool drop = false;  ///< the dimension goes, as with a single index; count is 1
};

/// The elements at the product of the ranges, one a dimension (fewer: the last dimensions whole). A copy.
/// Throws ArgumentError for a range that leaves its dimension.
Tensor slice(const Tensor& tensor, std::span<const IndexRange> ranges);

/// Writes `value`, broadcast and converted to the dtype of `into`, to the elements that slice would give.
/// Throws ArgumentError as slice does, and if the shapes do not fit or an integer dtype lacks a value.
void assign(Tensor& into, std::span<const IndexRange> ranges, const Tensor& value);

/// The shape of a and b together, as numpy broadcasts: aligned at the last dimension, extents equal or 1.
/// Throws ArgumentError if they do not fit.
TensorShape broadcast_shape(const Tensor& a, const Tensor& b);

/// The dtype of a and b together: the same one stays; f64 with anything is f64; a float and an integer give
/// the float; other floats f32; integers s32 up to 32 bits where u32 is not among them, else s64.
Dtype common_dtype(Dtype a, Dtype b);

/// The element by element result of "add", "sub", "mul", "div", "mod", "pow", "min", "max" in common_dtype
/// (div, and pow of integers: f32, or f64 for 64-bit integers), or of "lt", "le", "gt", "ge", "eq", "ne" as
/// u8, 1 where it holds. Computed in binary64 and rounded once; s64 and u64 therefore lose what lies beyond
/// 2^53. Throws ArgumentError for an unknown name, shapes that do not fit, and integers that the dtype lacks.
/// `dtype` overrides the one of the result (but that of comparisons).
Tensor elementwise(std::string_view operation, const Tensor& a, const Tensor& b,
                   std::optional<Dtype> dtype = std::nullopt);

/// "neg", "abs", "floor" of each element, in its dtype; "exp", "log", "sqrt", "tanh", of integers in f32, or
/// f64 for those of 64 bits.
Tensor elementwise(std::string_view operation, const Tensor& a);

/// "sum", "min", "max" of all elements, in binary64 and in the order of the elements. Of none: 0, inf, -inf.
double reduce(std::string_view operation, const Tensor& tensor);

/// A * B of {m, k} and {k, n}: f64 for f64, s32 for 8-bit integers, else f32. Sums in binary64, rounded once.
/// Throws ArgumentError unless both are matrices that fit.
Tensor matmul(const Tensor& a, const Tensor& b);

/// All elements `value`.
Tensor full(Dtype dtype, TensorShape shape, double value);
/// first, first + step, ... : `count` values. Throws ArgumentError if an integer dtype lacks one.
Tensor arange(Dtype dtype, std::int64_t count, double first, double step);
/// rows x columns, ones on the diagonal.
Tensor eye(Dtype dtype, std::int64_t rows, std::int64_t columns);

}  // namespace wgrun

#pragma GCC visibility pop
