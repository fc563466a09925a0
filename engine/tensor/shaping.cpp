// Shapes and parts of tensors: views where the elements stay contiguous, copies elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "number/number.hpp"
#include "tensor/parallel.hpp"
#include "tensor/shape.hpp"
#include "tensor/shaping.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor_ops.hpp"

namespace wgrun {
namespace {

void refuse_bits(const Tensor& tensor) {
    if (bits(tensor.dtype()) % 8 != 0)
        throw ArgumentError(
            fmt::format("{}: elements of less than a byte have no addresses of their own", to_string(tensor)),
            "t:convert \"u8\"");
}

std::int64_t bytes_an_element(const Tensor& tensor) { return bits(tensor.dtype()) / 8; }

/// Elements from one index to the next, in each dimension.
std::vector<std::int64_t> strides_of(const TensorShape& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

/// Elements of a tensor that are not contiguous: the position of the first, and the stride of each dimension.
struct Strided {
    TensorShape shape;
    std::vector<std::int64_t> strides;
    std::int64_t first = 0;

    std::int64_t items() const {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    }

    /// Calls f(position, element) for positions begin .. end of the shape in row-major order.
    template <class F>
    void visit(std::int64_t begin, std::int64_t end, const F& f) const {
        if (begin >= end) return;  // also where an extent is zero
        std::vector<std::int64_t> index(shape.size());
        std::int64_t rest = begin, element = first;
        for (std::size_t d = shape.size(); d-- > 0;) {
            index[d] = rest % shape[d];
            rest /= shape[d];
            element += index[d] * strides[d];
        }
        for (std::int64_t position = begin; position < end; ++position) {
            f(position, element);
            for (std::size_t d = shape.size(); d-- > 0;) {
                element += strides[d];
                if (++index[d] < shape[d]) break;
                element -= index[d] * strides[d];
                index[d] = 0;
            }
        }
    }
};

/// A contiguous copy of them, byte by byte.
Tensor gathered(const Tensor& tensor, const Strided& part) {
    Tensor out = Tensor::zeros(tensor.dtype(), part.shape);
    const auto size = static_cast<std::size_t>(bytes_an_element(tensor));
    const std::byte* from = tensor.data();
    std::byte* to = out.data();
    for_parts(part.items(), [&](int, std::int64_t begin, std::int64_t end) {
        part.visit(begin, end, [&](std::int64_t position, std::int64_t element) {
            std::memcpy(to + static_cast<std::size_t>(position) * size,
                        from + static_cast<std::size_t>(element) * size, size);
        });
    });
    return out;
}

/// Are all indices of the range within 0 .. extent - 1? For any numbers: nothing here overflows.
bool within(const IndexRange& range, std::int64_t extent) {
    if (range.step == 0 || range.count < 0 || (range.drop && range.count != 1)) return false;
    if (range.count == 0) return true;
    if (range.first < 0 || range.first >= extent) return false;
    const std::int64_t more =
        range.step > 0 ? (extent - 1 - range.first) / range.step : -(range.first / range.step);
    return range.count - 1 <= more;
}

Strided part_of(const Tensor& tensor, std::span<const IndexRange> ranges) {
    refuse_bits(tensor);
    const TensorShape& shape = tensor.shape();
    if (ranges.size() > shape.size())
        throw ArgumentError(fmt::format("{} ranges for the {} of {}", ranges.size(),
                                        count_of(shape.size(), "dimension"), to_string(tensor)));
    const std::vector<std::int64_t> strides = strides_of(shape);
    Strided part;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const IndexRange range = d < ranges.size() ? ranges[d] : IndexRange{0, shape[d], 1, false};
        if (!within(range, shape[d])) {
            const double last = static_cast<double>(range.first) +
                                (static_cast<double>(range.count) - 1) * static_cast<double>(range.step);
            throw ArgumentError(fmt::format("dimension {} of {} has indices 0 to {}, not {} to {:.0f}", d,
                                            to_string(tensor), shape[d] - 1, range.first, last));
        }
        if (range.count > 0) part.first += range.first * strides[d];
        if (range.drop) continue;
        part.shape.push_back(range.count);
        part.strides.push_back(range.count > 1 ? strides[d] * range.step : 0);
    }
    return part;
}

}  // namespace

Tensor view(const std::shared_ptr<Tensor>& of, std::int64_t first, TensorShape shape) {
    refuse_bits(*of);
    const std::int64_t items = count_items(of->dtype(), shape);
    if (first < 0 || first > of->items() || items > of->items() - first)
        throw ArgumentError(fmt::format("{} from position {} on exceed {}", count_of(items, "element"), first,
                                        to_string(*of)));
    const std::int64_t offset = first * bytes_an_element(*of);
    if (of->read_only())
        return Tensor::wrap_read_only(of->dtype(), std::move(shape), std::as_const(*of).data() + offset, of);
    return Tensor::wrap(of->dtype(), std::move(shape), of->data() + offset, of);
}

Tensor reshape(const std::shared_ptr<Tensor>& of, TensorShape shape) {
    const auto open = std::ranges::find(shape, -1);
    if (open != shape.end()) {
        *open = 1;
        const std::int64_t others = count_items(of->dtype(), shape);
        *open = others > 0 && of->items() % others == 0 ? of->items() / others : -1;
        if (*open < 0)
            throw ArgumentError(fmt::format("the {} of {} are not a multiple of {}",
                                            count_of(of->items(), "element"), to_string(*of), others));
    }
    if (count_items(of->dtype(), shape) != of->items())
        throw ArgumentError(fmt::format("{} has {}, but the shape {{{}}} has {}", to_string(*of),
                                        count_of(of->items(), "element"), fmt::join(shape, ", "),
                                        count_items(of->dtype(), shape)));
    return view(of, 0, std::move(shape));
}

Tensor permute(const Tensor& tensor, std::span<const int> order) {
    refuse_bits(tensor);
    const std::size_t rank = tensor.shape().size();
    std::vector<bool> seen(rank);
    bool good = order.size() == rank;
    for (const int d : order) {
        good = good && d >= 0 && static_cast<std::size_t>(d) < rank && !seen[static_cast<std::size_t>(d)];
        if (good) seen[static_cast<std::size_t>(d)] = true;
    }
    if (!good)
        throw ArgumentError(fmt::format("{{{}}} is not a permutation of the {} of {}, which count from 0",
                                        fmt::join(order, ", "), count_of(rank, "dimension"),
                                        to_string(tensor)));
    const std::vector<std::int64_t> strides = strides_of(tensor.shape());
    Strided part;
    for (const int d : order) {
        part.shape.push_back(tensor.shape()[static_cast<std::size_t>(d)]);
        part.strides.push_back(strides[static_cast<std::size_t>(d)]);
    }
    return gathered(tensor, part);
}

Tensor slice(const Tensor& tensor, std::span<const IndexRange> ranges) {
    return gathered(tensor, part_of(tensor, ranges));
}

TensorShape broadcast_shape(const Tensor& a, const Tensor& b) {
    const TensorShape &x = a.shape(), &y = b.shape();
    TensorShape out(std::max(x.size(), y.size()));
    for (std::size_t i = 1; i <= out.size(); ++i) {
        const std::int64_t of_x = i <= x.size() ? x[x.size() - i] : 1,
                           of_y = i <= y.size() ? y[y.size() - i] : 1;
        if (of_x != of_y && of_x != 1 && of_y != 1)
            throw ArgumentError(
                fmt::format("{} and {} do not fit each other: aligned at their last dimensions, extents are "
                            "equal or 1",
                            to_string(a), to_string(b)),
                "t:reshape or t:transpose one of them");
        out[out.size() - i] = of_x == 1 ? of_y : of_x;
    }
    return out;
}

Tensor broadcast(const Tensor& tensor, const TensorShape& shape) {
    refuse_bits(tensor);
    const std::vector<std::int64_t> strides = strides_of(tensor.shape());
    Strided part{shape, std::vector<std::int64_t>(shape.size()), 0};
    const std::size_t ahead = shape.size() - tensor.shape().size();
    for (std::size_t d = 0; d < tensor.shape().size(); ++d)
        part.strides[ahead + d] = tensor.shape()[d] == 1 ? 0 : strides[d];
    return gathered(tensor, part);
}

void assign(Tensor& into, std::span<const IndexRange> ranges, const Tensor& value) {
    const Strided part = part_of(into, ranges);
    const Tensor converted = value.convert(into.dtype());
    const auto fits = [&] {
        if (converted.shape().size() > part.shape.size()) return false;
        const std::size_t ahead = part.shape.size() - converted.shape().size();
        for (std::size_t d = 0; d < converted.shape().size(); ++d)
            if (converted.shape()[d] != 1 && converted.shape()[d] != part.shape[ahead + d]) return false;
        return true;
    };
    if (!fits())
        throw ArgumentError(fmt::format("{} does not fit the slice {{{}}} of {}", to_string(value),
                                        fmt::join(part.shape, ", "), to_string(into)));
    const Tensor whole = broadcast(converted, part.shape);
    const auto size = static_cast<std::size_t>(bytes_an_element(into));
    std::byte* to = into.data();
    const std::byte* from = whole.data();
    part.visit(0, part.items(), [&](std::int64_t position, std::int64_t element) {
        std::memcpy(to + static_cast<std::size_t>(element) * size,
                    from + static_cast<std::size_t>(position) * size, size);
    });
}

}  // namespace wgrun
