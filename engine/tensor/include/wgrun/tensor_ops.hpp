// Computing with host tensors: shapes, slices, elementwise arithmetic with broadcasting, comparisons,
// reductions.
//
// For reference results and test data: simple and parallel, not a linear algebra library. A view shares the
// memory of its tensor; every other result is a copy. Thread-safe, unless a thread writes an operand.
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
/// memory, which lives as long as either. A view of a read-only tensor is read-only. Throws ArgumentError for
/// elements outside `of`, and for b1, whose elements share bytes.
Tensor view(const std::shared_ptr<Tensor>& of, std::int64_t first, TensorShape shape);

/// The same elements in the same row-major order under another shape, as a view. One extent may be -1, which
/// is then computed. Throws ArgumentError if the number of elements differs.
Tensor reshape(const std::shared_ptr<Tensor>& of, TensorShape shape);

/// Dimension d of the result is dimension order[d] of `tensor`. A copy. Throws ArgumentError unless `order`
/// is a permutation of the dimensions.
Tensor permute(const Tensor& tensor, std::span<const int> order);

/// Indices first, first + step, ... along one dimension, `count` of them.
struct IndexRange {
    std::int64_t first = 0, count = 0, step = 1;
    bool drop = false;  ///< removes the dimension, as a single index does; count is 1
};

/// The elements at the product of the ranges, one per dimension (missing ones: the whole dimension). A copy.
/// Throws ArgumentError for a range outside its dimension.
Tensor slice(const Tensor& tensor, std::span<const IndexRange> ranges);

/// Writes `value`, broadcast and converted to the dtype of `into`, to the elements that slice would give.
/// Throws as slice, and ArgumentError if shapes do not match or an integer dtype cannot hold a value.
void assign(Tensor& into, std::span<const IndexRange> ranges, const Tensor& value);

/// The broadcast shape of a and b, as in numpy: aligned at the last dimension, extents equal or 1. Throws
/// ArgumentError if they do not match.
TensorShape broadcast_shape(const Tensor& a, const Tensor& b);

/// The common dtype of a and b: equal ones stay; f64 with anything is f64; a float and an integer give the
/// float; other floats f32; integers s32 up to 32 bits where u32 is not among them, else s64.
Dtype common_dtype(Dtype a, Dtype b);

/// The element by element result of "add", "sub", "mul", "div", "mod", "pow", "min", "max" in common_dtype
/// (div, and pow of integers: f32, or f64 for 64-bit integers), or of "lt", "le", "gt", "ge", "eq", "ne" as
/// u8, 1 where it holds. Computed in binary64 and rounded once; s64 and u64 therefore lose what lies beyond
/// 2^53. Throws ArgumentError for an unknown name, shapes that do not match, and results that an integer
/// dtype cannot hold. `dtype` overrides the result's dtype, except for comparisons.
Tensor elementwise(std::string_view operation, const Tensor& a, const Tensor& b,
                   std::optional<Dtype> dtype = std::nullopt);

/// "neg", "abs", "floor" of each element, in its dtype; "exp", "log", "sqrt", "tanh": for integers in f32, or
/// f64 if they have 64 bits.
Tensor elementwise(std::string_view operation, const Tensor& a);

/// "sum", "min", "max" of all elements, in binary64 and their order. Without elements: 0, inf, -inf.
double reduce(std::string_view operation, const Tensor& tensor);
/// The same along dimension `axis`, from 0 or, if negative, from the end: a tensor without it, in the
/// tensor's dtype; sums of floats are f32 or f64, those of integers s32 or s64. Throws ArgumentError for an
/// axis that it does not have.
Tensor reduce(std::string_view operation, const Tensor& tensor, std::int64_t axis);

/// A * B of {m, k} and {k, n}: f64 for f64, s32 for 8-bit integers, else f32. Sums are in binary64, rounded
/// once. Throws ArgumentError unless both are matrices that match.
Tensor matmul(const Tensor& a, const Tensor& b);

/// A tensor with all elements equal to `value`.
Tensor full(Dtype dtype, const TensorShape& shape, double value);
/// first, first + step, ... : `count` values. Throws ArgumentError if an integer dtype cannot hold one.
Tensor arange(Dtype dtype, std::int64_t count, double first, double step);
/// rows x columns, ones on the diagonal.
Tensor eye(Dtype dtype, std::int64_t rows, std::int64_t columns);

}  // namespace wgrun

#pragma GCC visibility pop
