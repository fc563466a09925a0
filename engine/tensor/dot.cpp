#include <vector>

#include "number/number.hpp"
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

}  // namespace

double dot(const Tensor& a, const StridedVector& of_a, const Tensor& b, const StridedVector& of_b,
           std::int64_t count) {
    if (count < 0) throw ArgumentError("dot: " + std::to_string(count) + " elements");
    if (count == 0) return 0;
    check_vector("the first tensor", a, of_a, count);
    check_vector("the second tensor", b, of_b, count);
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
        sum += a.get(of_a.first + i * of_a.stride) * b.get(of_b.first + i * of_b.stride);
    return sum;
}

}  // namespace wgrun
