// Arrays of any element type, chosen at run time.
#include <fmt/format.h>

#include "number/element.hpp"
#include "number/number.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

void check_bytes(Dtype dtype, std::size_t items, std::size_t bytes) {
    const auto expected = static_cast<std::size_t>(bytes_of(dtype, static_cast<std::int64_t>(items)));
    if (bytes != expected)
        throw ArgumentError(fmt::format("{} of {} take {}, not {}", count_of(items, "element"),
                                        to_string(dtype), count_of(expected, "byte"), bytes));
}

}  // namespace

std::int64_t bytes_of(Dtype dtype, std::int64_t items) {
    if (items < 0)
        throw ArgumentError(fmt::format("{}: a count must not be negative", count_of(items, "element")));
    if (dtype == Dtype::b1) return items / 8 + (items % 8 != 0 ? 1 : 0);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(items, bits(dtype) / 8, &bytes))
        throw ArgumentError(
            fmt::format("{} of {} are more than 2^63 bytes", count_of(items, "element"), to_string(dtype)));
    return bytes;
}

void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes) {
    check_bytes(dtype, values.size(), bytes.size());
    element(dtype).coding.encode(values, bytes);
}
void encode(Dtype dtype, std::span<const float> values, std::span<std::byte> bytes) {
    check_bytes(dtype, values.size(), bytes.size());
    element(dtype).coding.encode_single(values, bytes);
}
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values) {
    check_bytes(dtype, values.size(), bytes.size());
    element(dtype).coding.decode(bytes, values);
}
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<float> values) {
    check_bytes(dtype, values.size(), bytes.size());
    element(dtype).coding.decode_single(bytes, values);
}

}  // namespace wgrun
