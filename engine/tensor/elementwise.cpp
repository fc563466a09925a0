// Arithmetic on host tensors: in binary64, rounded once to the dtype of the result.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "number/number.hpp"
#include "tensor/chunk.hpp"
#include "tensor/parallel.hpp"
#include "tensor/shaping.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor_ops.hpp"

namespace wgrun {
namespace {

struct BinaryOperation {
    std::string_view name;
    double (*apply)(double, double);
    enum class Result : std::uint8_t { common, fraction, truth } result;
};

constexpr auto common = BinaryOperation::Result::common;
constexpr auto fraction = BinaryOperation::Result::fraction;
constexpr auto truth = BinaryOperation::Result::truth;

/// As Lua's %: the sign of the divisor.
double modulo(double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

constexpr std::array binary_operations{
    BinaryOperation{"add", [](double a, double b) { return a + b; }, common},
    BinaryOperation{"sub", [](double a, double b) { return a - b; }, common},
    BinaryOperation{"mul", [](double a, double b) { return a * b; }, common},
    BinaryOperation{"div", [](double a, double b) { return a / b; }, fraction},
    BinaryOperation{"mod", modulo, common},
    BinaryOperation{"pow", [](double a, double b) { return std::pow(a, b); }, fraction},
    BinaryOperation{"min", [](double a, double b) { return std::isnan(b) || b < a ? b : a; }, common},
    BinaryOperation{"max", [](double a, double b) { return std::isnan(b) || b > a ? b : a; }, common},
    BinaryOperation{"lt", [](double a, double b) { return double(a < b); }, truth},
    BinaryOperation{"le", [](double a, double b) { return double(a <= b); }, truth},
    BinaryOperation{"gt", [](double a, double b) { return double(a > b); }, truth},
    BinaryOperation{"ge", [](double a, double b) { return double(a >= b); }, truth},
    BinaryOperation{"eq", [](double a, double b) { return double(a == b); }, truth},
    BinaryOperation{"ne", [](double a, double b) { return double(a != b); }, truth}};

struct UnaryOperation {
    std::string_view name;
    double (*apply)(double);
    bool fraction = true;  ///< makes floats of integers
};
constexpr std::array unary_operations{UnaryOperation{"neg", [](double a) { return -a; }, false},
                                      UnaryOperation{"abs", [](double a) { return std::fabs(a); }, false},
                                      UnaryOperation{"exp", [](double a) { return std::exp(a); }},
                                      UnaryOperation{"log", [](double a) { return std::log(a); }},
                                      UnaryOperation{"sqrt", [](double a) { return std::sqrt(a); }},
                                      UnaryOperation{"tanh", [](double a) { return std::tanh(a); }},
                                      UnaryOperation{"floor", [](double a) { return std::floor(a); }, false}};

template <class Operation, std::size_t n>
const Operation& named(const std::array<Operation, n>& operations, std::string_view name) {
    const auto found =
        std::ranges::find_if(operations, [&](const Operation& operation) { return operation.name == name; });
    if (found == operations.end()) throw ArgumentError("there is no operation `" + std::string(name) + "`");
    return *found;
}

/// Fills `out` with f(values...), the elements of `tensors`, which have its shape.
template <class F, std::size_t n>
void compute(Tensor& out, const std::array<const Tensor*, n>& tensors, std::string_view what, const F& f) {
    for_parts(out.items(), [&](int, std::int64_t begin, std::int64_t end) {
        std::array<std::array<double, chunk_items>, n> values;
        for_chunks(begin, end, [&](std::int64_t first, std::size_t count) {
            for (std::size_t t = 0; t < n; ++t)
                decode(tensors[t]->dtype(), chunk_bytes(*tensors[t], first, count),
                       std::span(values[t].data(), count));
            for (std::size_t i = 0; i < count; ++i) values[0][i] = f(values, i);
            const std::span results(values[0].data(), count);
            encode(out.dtype(), results, chunk_bytes(out, first, count));
            if (is_float(out.dtype())) return;
            // Integers clamp and round, so the value must be the same when it is loaded again.
            std::array<double, chunk_items> stored;
            decode(out.dtype(), chunk_bytes(std::as_const(out), first, count),
                   std::span(stored.data(), count));
            for (std::size_t i = 0; i < count; ++i)
                if (stored[i] != results[i])
                    throw ArgumentError(
                        fmt::format("{}: {} is not a value of {}", what, results[i], to_string(out.dtype())),
                        "t:convert to a wider type first");
        });
    });
}

Dtype fraction_dtype(Dtype dtype) {
    if (is_float(dtype)) return dtype;
    return bits(dtype) == 64 ? Dtype::f64 : Dtype::f32;
}

}  // namespace

Dtype common_dtype(Dtype a, Dtype b) {
    if (a == b) return a;
    if (a == Dtype::f64 || b == Dtype::f64) return Dtype::f64;
    if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
    if (is_float(a)) return Dtype::f32;
    const bool wide = bits(a) == 64 || bits(b) == 64 || a == Dtype::u32 || b == Dtype::u32;
    return wide ? Dtype::s64 : Dtype::s32;
}

Tensor elementwise(std::string_view name, const Tensor& a, const Tensor& b, std::optional<Dtype> asked) {
    const BinaryOperation& operation = named(binary_operations, name);
    const TensorShape shape = broadcast_shape(a, b);
    Dtype dtype = asked.value_or(common_dtype(a.dtype(), b.dtype()));
    if (operation.result == truth) dtype = Dtype::u8;
    if (operation.result == fraction) dtype = fraction_dtype(dtype);
    Tensor out = Tensor::zeros(dtype, shape);
    const auto of_shape = [&](const Tensor& tensor, std::optional<Tensor>& copy) {
        return tensor.shape() == shape ? &tensor : &copy.emplace(broadcast(tensor, shape));
    };
    std::optional<Tensor> copy_a, copy_b;
    compute(out, std::array{of_shape(a, copy_a), of_shape(b, copy_b)}, name,
            [&](const auto& values, std::size_t i) { return operation.apply(values[0][i], values[1][i]); });
    return out;
}

Tensor elementwise(std::string_view name, const Tensor& a) {
    const UnaryOperation& operation = named(unary_operations, name);
    Tensor out = Tensor::zeros(operation.fraction ? fraction_dtype(a.dtype()) : a.dtype(), a.shape());
    compute(out, std::array{&a}, name,
            [&](const auto& values, std::size_t i) { return operation.apply(values[0][i]); });
    return out;
}

namespace {

const BinaryOperation& reduction(std::string_view name) {
    static constexpr std::array reductions{BinaryOperation{"sum", binary_operations[0].apply, common},
                                           BinaryOperation{"min", binary_operations[6].apply, common},
                                           BinaryOperation{"max", binary_operations[7].apply, common}};
    return named(reductions, name);
}

/// Of no elements.
double neutral(std::string_view name) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return name == "sum" ? 0 : name == "min" ? infinity : -infinity;
}

/// Sums do not fit narrow types.
Dtype dtype_of_sums(Dtype dtype) {
    if (is_float(dtype)) return dtype == Dtype::f64 ? dtype : Dtype::f32;
    return bits(dtype) > 32 || dtype == Dtype::u32 ? Dtype::s64 : Dtype::s32;
}

}  // namespace

Tensor reduce(std::string_view name, const Tensor& tensor, std::int64_t axis) {
    const std::int64_t rank = tensor.rank();
    if (axis < -rank || axis >= rank)
        throw ArgumentError(fmt::format("{} along axis {} of {}: it has axes 0 to {}", name, axis,
                                        to_string(tensor), rank - 1));
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    const BinaryOperation& operation = reduction(name);
    TensorShape shape = tensor.shape();
    const std::int64_t extent = shape[at];
    std::int64_t inner = 1;
    for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at));
    Tensor all = Tensor::zeros(Dtype::f64, shape);
    const std::span<double> results(reinterpret_cast<double*>(all.data()),
                                    static_cast<std::size_t>(all.items()));
    std::ranges::fill(results, neutral(name));
    std::array<double, chunk_items> values;
    for_chunks(0, tensor.items(), [&](std::int64_t first, std::size_t count) {
        decode(tensor.dtype(), chunk_bytes(tensor, first, count), std::span(values.data(), count));
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t place = first + static_cast<std::int64_t>(i);
            double& result =
                results[static_cast<std::size_t>(place / (inner * extent) * inner + place % inner)];
            result = operation.apply(result, values[i]);
        }
    });
    return all.convert(name == "sum" ? dtype_of_sums(tensor.dtype()) : tensor.dtype());
}

double reduce(std::string_view name, const Tensor& tensor) {
    const BinaryOperation& operation = reduction(name);
    double result = neutral(name);
    std::array<double, chunk_items> values;
    for_chunks(0, tensor.items(), [&](std::int64_t first, std::size_t count) {
        decode(tensor.dtype(), chunk_bytes(tensor, first, count), std::span(values.data(), count));
        for (std::size_t i = 0; i < count; ++i) result = operation.apply(result, values[i]);
    });
    return result;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
    if (a.rank() != 2 || b.rank() != 2 || a.shape()[1] != b.shape()[0])
        throw ArgumentError(
            fmt::format("matmul of {} and {}: expected {{m, k}} and {{k, n}}", to_string(a), to_string(b)),
            "t:transpose()");
    const std::int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
    const Dtype joint = common_dtype(a.dtype(), b.dtype());
    const Dtype dtype = joint == Dtype::f64 ? Dtype::f64
                        : is_float(joint)   ? Dtype::f32
                        : bits(joint) > 32  ? Dtype::s64
                                            : Dtype::s32;
    const Tensor x = a.convert(Dtype::f64), y = b.convert(Dtype::f64);
    const auto* of_x = reinterpret_cast<const double*>(x.data());
    const auto* of_y = reinterpret_cast<const double*>(y.data());
    Tensor sums = Tensor::zeros(Dtype::f64, {m, n});
    auto* out = reinterpret_cast<double*>(sums.data());
    for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t i = 0; i < k; ++i) {
            const double factor = of_x[row * k + i];
            for (std::int64_t column = 0; column < n; ++column)
                out[row * n + column] += factor * of_y[i * n + column];
        }
    return sums.convert(dtype);
}

Tensor full(Dtype dtype, const TensorShape& shape, double value) {
    const Tensor one = Tensor::from_values(dtype, {}, std::span(&value, 1));
    return broadcast(one, shape);
}

Tensor arange(Dtype dtype, std::int64_t count, double first, double step) {
    Tensor out = Tensor::zeros(dtype, {count});
    for (std::int64_t i = 0; i < count; ++i) out.set(i, first + static_cast<double>(i) * step);
    return out;
}

Tensor eye(Dtype dtype, std::int64_t rows, std::int64_t columns) {
    Tensor out = Tensor::zeros(dtype, {rows, columns});
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out.set(i * columns + i, 1);
    return out;
}

}  // namespace wgrun
