#include "wgrun/tensor_ops.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tests/fuzz/fields.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/difference.hpp"

namespace wgrun::fuzz {
namespace {

void expect(bool holds, const std::string& what) {
    if (!holds) throw Broken(what);
}

constexpr std::string_view operations[] = {"add", "sub", "mul", "div", "mod", "pow", "min",    "max",
                                           "lt",  "le",  "gt",  "ge",  "eq",  "ne",  "nothing"};
constexpr std::string_view functions[] = {"neg", "abs", "exp", "log", "sqrt", "tanh", "floor", "nothing"};

/// Runs it; what it refuses, it refuses with a message.
template <class Call>
void attempt(const Call& call) {
    try {
        call();
    } catch (const ArgumentError& error) {
        expect(*error.what() != '\0', "a refusal without a word");
    }
}

/// Up to four dimensions of up to six elements, of any bytes.
Tensor made(Fields& fields) {
    const Dtype dtype = all_dtypes()[fields.below(all_dtypes().size())];
    TensorShape shape(fields.below(5));
    for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(fields.below(7));
    Tensor out = Tensor::zeros(dtype, std::move(shape));
    for (std::byte& byte : out.bytes()) byte = fields.next<std::byte>();
    return out;
}

/// One element of the result is what the elements of the operands give.
void check_element(const Tensor& result, const Tensor& a, const Tensor& b, std::string_view operation) {
    if (result.items() == 0 || a.shape() != b.shape()) return;
    const double x = a.get(0), y = b.get(0), got = result.get(0);
    if (operation == "lt") expect(got == (x < y ? 1 : 0), "lt of the first elements");
    if (operation == "eq") expect(got == (x == y ? 1 : 0), "eq of the first elements");
    // The bits of a tf32 may be those of any f32, which the result rounds.
    if (operation == "max" && !std::isnan(x) && !std::isnan(y) && is_float(a.dtype()) &&
        a.dtype() != Dtype::tf32 && a.dtype() == b.dtype() && a.dtype() == result.dtype())
        expect(got == std::max(x, y), "max of the first elements");
}

void permute_and_back(const Tensor& tensor, Fields& fields) {
    std::vector<int> order(fields.below(2) == 0 ? static_cast<std::size_t>(tensor.rank()) : fields.below(6));
    for (int& dimension : order) dimension = static_cast<int>(fields.number());
    if (fields.below(2) == 0)
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(order.size() - 1 - d);
    const Tensor turned = permute(tensor, order);
    std::vector<int> back(order.size());
    for (std::size_t d = 0; d < order.size(); ++d)
        back[static_cast<std::size_t>(order[d])] = static_cast<int>(d);
    const Tensor again = permute(turned, back);
    expect(again.shape() == tensor.shape(), "permuted and back: the shape");
    for (std::int64_t i = 0; i < tensor.items(); ++i) {
        const double was = tensor.get(i), is = again.get(i);
        expect(was == is || (std::isnan(was) && std::isnan(is)), "permuted and back: the elements");
    }
}

void slice_and_assign(const Tensor& tensor, Fields& fields) {
    std::vector<IndexRange> ranges(fields.below(5));
    for (IndexRange& range : ranges)
        range = {fields.number(), fields.number(), fields.number(), fields.below(4) == 0};
    const Tensor part = slice(tensor, ranges);
    expect(part.items() <= tensor.items() || tensor.items() == 0, "a part is no larger");
    Tensor copy = tensor.copy();
    assign(copy, ranges, part);
    expect(compare(copy, tensor).ok, "a part written where it was read changes nothing");
}

}  // namespace

void tensor_ops(Bytes bytes) {
    Fields fields(bytes);
    const auto a = std::make_shared<Tensor>(made(fields));
    const Tensor b = made(fields);
    attempt([&] {
        const std::string_view operation = operations[fields.below(std::size(operations))];
        std::optional<Dtype> asked;
        if (fields.below(4) == 0) asked = all_dtypes()[fields.below(all_dtypes().size())];
        const Tensor result = elementwise(operation, *a, b, asked);
        expect(result.shape() == broadcast_shape(*a, b), "the shape of the result");
        check_element(result, *a, b, operation);
    });
    attempt([&] {
        const Tensor result = elementwise(functions[fields.below(std::size(functions))], *a);
        expect(result.shape() == a->shape(), "the shape of a function");
    });
    attempt([&] { permute_and_back(*a, fields); });
    attempt([&] { slice_and_assign(*a, fields); });
    attempt([&] {
        TensorShape shape(fields.below(5));
        for (std::int64_t& extent : shape) extent = fields.number();
        const Tensor other = reshape(a, shape);
        expect(other.items() == a->items(), "a shape of as many elements");
    });
    attempt([&] {
        const Tensor part = view(a, fields.number(), {fields.number(), fields.number()});
        expect(part.bytes().size() <= a->bytes().size(), "a view is no larger");
        std::size_t sum = 0;
        for (const std::byte byte : std::as_const(part).bytes()) sum += std::to_integer<std::size_t>(byte);
        expect(sum <= 255 * a->bytes().size(), "what a view shows");
    });
    attempt([&] { static_cast<void>(matmul(*a, b)); });
    attempt([&] { static_cast<void>(reduce(fields.below(2) == 0 ? "sum" : "max", *a)); });
    attempt([&] {
        const Dtype dtype = all_dtypes()[fields.below(all_dtypes().size())];
        static_cast<void>(
            arange(dtype, fields.number() % 1024, fields.next<double>(), fields.next<double>()));
    });
    attempt([&] {
        const Difference found = difference(*a, b);
        expect(found.comparison.ok == found.picture.empty(), "a picture where something differs");
        expect(!to_string(found, *a).empty(), "the difference in words");
    });
    attempt([&] { expect(difference(*a, *a).comparison.ok, "a tensor is equal to itself"); });
}

}  // namespace wgrun::fuzz
