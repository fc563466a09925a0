#include "wgrun/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "memory/shared_block.hpp"
#include "number/element.hpp"
#include "number/number.hpp"
#include "tensor/chunk.hpp"
#include "tensor/parallel.hpp"
#include "tensor/shape.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor_budget.hpp"

namespace wgrun {
std::string describe(Dtype dtype, const TensorShape& shape) {
    return fmt::format("{} {{{}}}", to_string(dtype), fmt::join(shape, ", "));
}

std::int64_t count_items(Dtype dtype, const TensorShape& shape) {
    if (shape.size() > Tensor::max_rank)
        throw ArgumentError(fmt::format("{}: {}, but a tensor has at most {}", describe(dtype, shape),
                                        count_of(shape.size(), "dimension"), Tensor::max_rank));
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
        throw ArgumentError(fmt::format("{}: extents must not be negative", describe(dtype, shape)));
    if (std::ranges::find(shape, 0) != shape.end()) return 0;
    const std::int64_t max_items = Tensor::max_bytes / bits(dtype) * 8;
    std::int64_t items = 1;
    for (const std::int64_t extent : shape) {
        if (extent > max_items / items)
            throw ArgumentError(fmt::format("{}: a tensor can take at most 1 TiB", describe(dtype, shape)));
        items *= extent;
    }
    return items;
}

namespace {

struct Range {
    double lowest, highest;
};

/// The range of an integer dtype; ends that binary64 cannot represent are replaced by the nearest values
/// inside.
Range range_of(Dtype dtype) {
    const int width = bits(dtype);
    const bool is_signed = element(dtype).kind == Element::Kind::signed_integer;
    const double beyond = std::ldexp(1.0, is_signed ? width - 1 : width);
    return {is_signed ? -beyond : 0, width == 64 ? std::nextafter(beyond, 0) : beyond - 1};
}

void check_values(Dtype dtype, std::span<const double> values) {
    if (is_float(dtype)) return;
    const Range range = range_of(dtype);
    for (const double value : values) {
        if (!(value >= range.lowest && value <= range.highest) && !std::isnan(value))
            throw ArgumentError(fmt::format("{} is not in the range of {}, {:.0f} to {:.0f}", value,
                                            to_string(dtype), range.lowest, range.highest));
        if (value != std::nearbyint(value))
            throw ArgumentError(fmt::format("{} is not an integer, which {} needs", value, to_string(dtype)));
    }
}

void check_position(const Tensor& tensor, std::int64_t position) {
    if (position < 0 || position >= tensor.items())
        throw ArgumentError(fmt::format("position {} is outside {}, which has {}", position,
                                        to_string(tensor), count_of(tensor.items(), "element")));
}

}  // namespace

Tensor::Tensor(Uninitialised, Dtype dtype, TensorShape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      items_(count_items(dtype_, shape_)),
      bytes_(static_cast<std::size_t>(bytes_of(dtype_, items_))) {}

Tensor::Tensor(Dtype dtype, TensorShape shape) : Tensor(Uninitialised{}, dtype, std::move(shape)) {
    const std::shared_ptr<void> charge = TensorBudget::charge(*this);
    if (bytes_ >= memory::SharedBlock::worthwhile) {
        if (std::optional<memory::SharedBlock> shared = memory::SharedBlock::make(bytes_)) {
            const auto owner = std::make_shared<memory::SharedBlock>(std::move(*shared));
            data_ = {std::shared_ptr<void>(nullptr, [owner, charge](void*) {}), owner->data()};
            return;
        }
    }
    // calloc takes large blocks from the kernel, which zeroes their pages on first use.
    void* block = std::calloc(bytes_ + alignment, 1);
    if (block == nullptr)
        throw EnvironmentError("ENOMEM",
                               fmt::format("{}: not enough memory for {:.1f} GiB", describe(dtype_, shape_),
                                           static_cast<double>(bytes_) / 0x1p30));
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(block) % alignment;
    data_ = {static_cast<std::byte*>(block) + (alignment - misaligned) % alignment,
             [block, charge](std::byte*) { std::free(block); }};
}

Tensor Tensor::wrap(Dtype dtype, TensorShape shape, void* data, std::shared_ptr<void> owner) {
    Tensor tensor(Uninitialised{}, dtype, std::move(shape));
    const auto where = reinterpret_cast<std::uintptr_t>(data);
    const auto element = static_cast<std::uintptr_t>(std::max(bits(dtype) / 8, 1));
    if (data == nullptr && tensor.bytes_ > 0)
        throw ArgumentError(fmt::format("{}: the memory to wrap is null", to_string(tensor)));
    if (where % element != 0)
        throw ArgumentError(fmt::format("{}: memory at {:#x} is not aligned to the {} of an element",
                                        to_string(tensor), where, count_of(element, "byte")),
                            "copy it to aligned memory first");
    // A count of its own: tensors that share an owner, as those of a file do, are still told apart. The owner
    // goes with the last tensor, and not with the last weak_ptr, which keeps the deleter.
    tensor.data_ = {static_cast<std::byte*>(data),
                    [owner = std::move(owner)](std::byte*) mutable { owner.reset(); }};
    return tensor;
}

Tensor Tensor::wrap_read_only(Dtype dtype, TensorShape shape, const void* data,
                              std::shared_ptr<const void> owner) {
    Tensor tensor = wrap(dtype, std::move(shape), const_cast<void*>(data),
                         std::const_pointer_cast<void>(std::move(owner)));
    tensor.read_only_ = true;
    return tensor;
}

std::byte* Tensor::data() {
    if (read_only_)
        throw ArgumentError(fmt::format("{}: the tensor is read-only", to_string(*this)),
                            "write to a copy: t:copy()");
    return data_.get();
}

Tensor::Tensor(Tensor&& other) noexcept
    : dtype_(other.dtype_),
      shape_(std::move(other.shape_)),
      items_(std::exchange(other.items_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      read_only_(std::exchange(other.read_only_, false)),
      data_(std::move(other.data_)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
    if (this == &other) return *this;
    dtype_ = other.dtype_;
    shape_ = std::move(other.shape_);
    other.shape_.clear();
    items_ = std::exchange(other.items_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    read_only_ = std::exchange(other.read_only_, false);
    data_ = std::move(other.data_);
    return *this;
}

Tensor Tensor::zeros(Dtype dtype, TensorShape shape) { return {dtype, std::move(shape)}; }

Tensor Tensor::from_values(Dtype dtype, TensorShape shape, std::span<const double> values) {
    Tensor tensor(dtype, std::move(shape));
    if (values.size() != static_cast<std::size_t>(tensor.items_))
        throw ArgumentError(fmt::format("{} has {}, but {} given", to_string(tensor),
                                        count_of(tensor.items_, "element"),
                                        count_of(values.size(), "value is", "values are")));
    check_values(dtype, values);
    encode(dtype, values, tensor.bytes());
    return tensor;
}

Tensor Tensor::copy() const {
    Tensor result(dtype_, shape_);
    if (bytes_ > 0) std::memcpy(result.data(), data(), bytes_);
    return result;
}

Tensor Tensor::convert(Dtype dtype) const {
    if (dtype == dtype_) return copy();
    Tensor result(dtype, shape_);
    for_parts(items_, [&](int, std::int64_t begin, std::int64_t end) {
        std::array<double, chunk_items> values;
        for_chunks(begin, end, [&](std::int64_t first, std::size_t count) {
            const std::span chunk(values.data(), count);
            decode(dtype_, chunk_bytes(*this, first, count), chunk);
            check_values(dtype, chunk);
            encode(dtype, chunk, chunk_bytes(result, first, count));
        });
    });
    return result;
}

std::int64_t Tensor::position(std::span<const std::int64_t> index) const {
    const auto outside = [&](std::string_view why, std::string fix = {}) {
        return ArgumentError(fmt::format("index {{{}}} {} {}", fmt::join(index, ", "), why, to_string(*this)),
                             std::move(fix));
    };
    if (index.size() != shape_.size())
        throw outside("does not have as many coordinates as",
                      "an index has one coordinate for each dimension, as in t[{ i, j }]");
    std::int64_t position = 0;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
        if (index[d] < 0 || index[d] >= shape_[d]) throw outside("is outside");
        position = position * shape_[d] + index[d];
    }
    return position;
}

std::vector<std::int64_t> Tensor::index(std::int64_t position) const {
    check_position(*this, position);
    std::vector<std::int64_t> index(shape_.size());
    for (std::size_t d = shape_.size(); d-- > 0;) {
        index[d] = position % shape_[d];
        position /= shape_[d];
    }
    return index;
}

double Tensor::get(std::int64_t position) const {
    check_position(*this, position);
    if (dtype_ == Dtype::b1)
        return std::to_integer<int>(data_[static_cast<std::size_t>(position / 8)] >> (position % 8)) & 1;
    double value = 0;
    decode(dtype_, chunk_bytes(*this, position, 1), std::span(&value, 1));
    return value;
}

void Tensor::set(std::int64_t position, double value) {
    check_position(*this, position);
    check_values(dtype_, std::span(&value, 1));
    if (dtype_ == Dtype::b1) {
        std::byte& byte = data()[position / 8];
        const std::byte bit = std::byte{1} << (position % 8);
        byte = value != 0 ? byte | bit : byte & ~bit;
        return;
    }
    encode(dtype_, std::span<const double>(&value, 1), chunk_bytes(*this, position, 1));
}

double Tensor::get(std::span<const std::int64_t> index) const { return get(position(index)); }
void Tensor::set(std::span<const std::int64_t> index, double value) { set(position(index), value); }

std::string to_string(const Tensor& tensor) { return describe(tensor.dtype(), tensor.shape()); }

}  // namespace wgrun
