#include <algorithm>
#include <array>

#include "number/number.hpp"
#include "tensor/chunk.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {
namespace {

void check_vector(const char* name, const Tensor& tensor, const StridedVector& v, std::int64_t count) {
    const std::int64_t items = tensor.items();
    // The last element is at first + (count - 1) * stride; both ends must lie inside, and nothing may
    // overflow.
    const bool inside = v.first >= 0 && v.first < items && v.stride >= 0 &&
                        (count < 2 || v.stride <= (items - 1 - v.first) / (count - 1));
    if (!inside)
        throw ArgumentError("dot: " + std::to_string(count) + " elements of " + name + " from " +
                            std::to_string(v.first) + " in steps of " + std::to_string(v.stride) + " leave " +
                            to_string(tensor));
}

/// The elements of `v` from its `from`-th one on.
void read(const Tensor& tensor, const StridedVector& v, std::int64_t from, std::span<double> values) {
    const std::int64_t first = v.first + from * v.stride;
    if (v.stride == 1 && tensor.dtype() != Dtype::b1)
        return decode(tensor.dtype(), chunk_bytes(tensor, first, values.size()), values);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = tensor.get(first + static_cast<std::int64_t>(i) * v.stride);
}

}  // namespace

double dot(const Tensor& a, const StridedVector& of_a, const Tensor& b, const StridedVector& of_b,
           std::int64_t count) {
    if (count < 0) throw ArgumentError("dot: " + std::to_string(count) + " elements");
    if (count == 0) return 0;
    check_vector("the first tensor", a, of_a, count);
    check_vector("the second tensor", b, of_b, count);
    double sum = 0;
    std::array<double, 256> values_a, values_b;
    for (std::int64_t from = 0; from < count; from += std::ssize(values_a)) {
        const auto size = static_cast<std::size_t>(std::min(std::ssize(values_a), count - from));
        const std::span some_a = std::span(values_a).first(size), some_b = std::span(values_b).first(size);
        read(a, of_a, from, some_a);
        read(b, of_b, from, some_b);
        for (std::size_t i = 0; i < size; ++i) sum += some_a[i] * some_b[i];
    }
    return sum;
}

}  // namespace wgrun
