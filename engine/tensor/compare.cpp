#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "number/element.hpp"
#include "number/number.hpp"
#include "tensor/chunk.hpp"
#include "tensor/parallel.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The first place with the largest error.
struct Worst {
    double error = 0;
    std::int64_t position = 0;

    void consider(const Worst& other) {
        if (other.error > error) *this = other;
    }
};

/// The result for one part of the elements; parts are merged in order.
struct Part {
    std::int64_t mismatches = 0;
    Worst mismatching, passing;
    double worst_relative = 0;

    void add(std::int64_t position, double want, double error, const Tolerance& tolerance) {
        if (error == 0) return;
        const bool passes =
            std::isfinite(error) && error <= tolerance.absolute + tolerance.relative * std::fabs(want);
        (passes ? passing : mismatching).consider({error, position});
        mismatches += passes ? 0 : 1;
        if (want != 0)
            worst_relative =
                std::max(worst_relative, std::isfinite(want) ? error / std::fabs(want) : infinity);
    }

    void merge(const Part& next) {
        mismatches += next.mismatches;
        mismatching.consider(next.mismatching);
        passing.consider(next.passing);
        worst_relative = std::max(worst_relative, next.worst_relative);
    }
};

double error_of(double got, double want) {
    if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
    const double error = std::fabs(got - want);
    return std::isnan(error) ? infinity : error;
}

/// binary64 cannot represent all differences of 64-bit integers.
template <class Integer>
double error_of_integers(const std::byte* got, const std::byte* want) {
    Integer a = 0, b = 0;
    std::memcpy(&a, got, sizeof a);
    std::memcpy(&b, want, sizeof b);
    const auto wide_a = static_cast<std::uint64_t>(a), wide_b = static_cast<std::uint64_t>(b);
    return static_cast<double>(a > b ? wide_a - wide_b : wide_b - wide_a);
}

void compare_part(const Tensor& got, const Tensor& want, const Tolerance& tolerance, std::int64_t begin,
                  std::int64_t end, Part& part) {
    std::array<double, chunk_items> left, right;
    for_chunks(begin, end, [&](std::int64_t first, std::size_t count) {
        const auto left_bytes = chunk_bytes(got, first, count), right_bytes = chunk_bytes(want, first, count);
        // Equal bytes are equal values, and most chunks of a correct result are equal.
        if (std::memcmp(left_bytes.data(), right_bytes.data(), left_bytes.size()) == 0) return;
        decode(got.dtype(), left_bytes, std::span(left.data(), count));
        decode(want.dtype(), right_bytes, std::span(right.data(), count));
        for (std::size_t i = 0; i < count; ++i) {
            double error = error_of(left[i], right[i]);
            if (got.dtype() == Dtype::s64)
                error = error_of_integers<std::int64_t>(&left_bytes[i * 8], &right_bytes[i * 8]);
            if (got.dtype() == Dtype::u64)
                error = error_of_integers<std::uint64_t>(&left_bytes[i * 8], &right_bytes[i * 8]);
            part.add(first + static_cast<std::int64_t>(i), right[i], error, tolerance);
        }
    });
}

void check_comparable(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
    const bool dtypes = got.dtype() == want.dtype();
    if (!dtypes || got.shape() != want.shape())
        throw ArgumentError(fmt::format("compare: got {}, want {}: the {} differ", to_string(got),
                                        to_string(want), dtypes ? "shapes" : "dtypes"),
                            dtypes ? "" : fmt::format("convert one of them to {}", to_string(want.dtype())));
    if (!(tolerance.absolute >= 0 && tolerance.relative >= 0))
        throw ArgumentError(
            fmt::format("compare: tolerance {{absolute = {}, relative = {}}}: both must be at least 0",
                        tolerance.absolute, tolerance.relative));
}

}  // namespace

Tolerance default_tolerance(Dtype dtype) {
    const Element& it = element(dtype);
    return {it.absolute, it.relative};
}

Comparison compare(const Tensor& got, const Tensor& want, std::optional<Tolerance> tolerance) {
    const Tolerance allowed = tolerance.value_or(default_tolerance(want.dtype()));
    check_comparable(got, want, allowed);
    std::array<Part, max_parts> parts;
    for_parts(got.items(), [&](int part, std::int64_t begin, std::int64_t end) {
        compare_part(got, want, allowed, begin, end, parts[static_cast<std::size_t>(part)]);
    });
    Part all;
    for (const Part& part : parts) all.merge(part);

    Comparison result;
    if (got.items() == 0) return result;
    const Worst& worst = all.mismatches > 0 ? all.mismatching : all.passing;
    result.ok = all.mismatches == 0;
    result.mismatches = all.mismatches;
    result.worst = worst.error;
    result.worst_relative = all.worst_relative;
    result.index = got.index(worst.position);
    result.got = got.get(worst.position);
    result.want = want.get(worst.position);
    return result;
}

}  // namespace wgrun
