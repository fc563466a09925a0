#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {
namespace {

constexpr std::int64_t max_table = 1 << 24;

IntTuple compact_strides(const IntTuple& shape, std::int64_t& stride) {
    if (shape.is_leaf()) {
        const std::int64_t extent = shape.value();
        // CuTe gives extent 1 the stride 0.
        IntTuple out = extent == 1 ? 0 : stride;
        stride = checked_mul(stride, extent);
        return out;
    }
    std::vector<IntTuple> modes;
    modes.reserve(shape.modes().size());
    for (const IntTuple& mode : shape.modes()) modes.push_back(compact_strides(mode, stride));
    return modes;
}

IntTuple compact_strides(const IntTuple& shape) {
    std::int64_t stride = 1;
    return compact_strides(shape, stride);
}

/// False if shape and stride are nested differently.
bool pair_leaves(const IntTuple& shape, const IntTuple& stride, Modes& out, int nesting = 0) {
    if (shape.is_leaf() != stride.is_leaf() || shape.modes().size() != stride.modes().size()) return false;
    if (!shape.is_leaf() && nesting == max_nesting)
        throw ArgumentError(fmt::format("layout: more than {} levels of nesting", max_nesting),
                            "flatten or coalesce intermediate layouts");
    if (shape.is_leaf()) out.push_back({shape.value(), stride.value()});
    for (std::size_t i = 0; i < shape.modes().size(); ++i)
        if (!pair_leaves(shape.modes()[i], stride.modes()[i], out, nesting + 1)) return false;
    return true;
}

std::int64_t offset_at(std::span<const Layout::Mode> leaves, std::int64_t index) {
    if (leaves.empty()) return 0;
    std::int64_t offset = 0;
    for (const auto& [shape, stride] : leaves.first(leaves.size() - 1)) {
        offset += index % shape * stride;
        index /= shape;
    }
    return checked_add(offset, checked_mul(index, leaves.back().stride));
}

void refuse_negative(std::int64_t index) {
    if (index < 0)
        throw ArgumentError(fmt::format("layout: index {} is negative", index), "indices count from 0");
}

/// Consumes the leaves below `shape`.
std::int64_t offset_at(const IntTuple& coordinate, const IntTuple& shape,
                       std::span<const Layout::Mode>& leaves) {
    if (coordinate.is_leaf()) {
        refuse_negative(coordinate.value());
        const auto count = static_cast<std::size_t>(shape.leaf_count());
        const auto mine = leaves.first(count);
        leaves = leaves.subspan(count);
        return offset_at(mine, coordinate.value());
    }
    if (shape.is_leaf() || shape.rank() != coordinate.rank())
        throw ArgumentError(
            fmt::format("coordinate {} does not fit the shape {}", coordinate.to_string(), shape.to_string()),
            "an index, or one coordinate a mode");
    std::int64_t offset = 0;
    for (int i = 0; i < shape.rank(); ++i)
        offset = checked_add(offset, offset_at(coordinate[i], shape[i], leaves));
    return offset;
}

IntTuple coordinate_at(const IntTuple& shape, std::int64_t& index, bool last) {
    if (shape.is_leaf()) {
        const std::int64_t here = last ? index : index % shape.value();
        index /= shape.value();
        return here;
    }
    std::vector<IntTuple> modes;
    for (std::size_t i = 0; i < shape.modes().size(); ++i)
        modes.push_back(coordinate_at(shape.modes()[i], index, last && i + 1 == shape.modes().size()));
    return modes;
}

}  // namespace

Layout::Layout() : shape_(1), stride_(0), leaves_{{1, 0}} {}

Layout::Layout(const IntTuple& shape) : Layout(shape, compact_strides(shape)) {}

Layout::Layout(IntTuple shape, IntTuple stride) : shape_(std::move(shape)), stride_(std::move(stride)) {
    if (!pair_leaves(shape_, stride_, leaves_))
        throw ArgumentError(fmt::format("layout {}:{}: shape and stride are nested differently",
                                        shape_.to_string(), stride_.to_string()),
                            "one stride for every extent, in the same parentheses");
    std::int64_t reach = 0;
    for (const auto& [extent, step] : leaves_) {
        if (extent < 1)
            throw ArgumentError(fmt::format("shape {}: extents must be at least 1", shape_.to_string()));
        size_ = checked_mul(size_, extent);
        reach = checked_add(reach, checked_mul(extent - 1, checked_abs(step)));
    }
    checked_add(reach, 1);
}

Layout::Layout(Swizzle swizzle, const Layout& layout, std::int64_t offset)
    : shape_(layout.shape_),
      stride_(layout.stride_),
      leaves_(layout.leaves_),
      size_(layout.size_),
      swizzle_(swizzle),
      offset_(offset) {
    if (layout.swizzle_)
        throw ArgumentError(
            fmt::format("{} o {}: the layout already has a swizzle", swizzle.to_string(), layout.to_string()),
            "compose the two swizzles first");
    checked_add(offset, layout.cosize());
}

Layout Layout::join(std::vector<Layout> modes) {
    std::vector<IntTuple> shape;
    std::vector<IntTuple> stride;
    shape.reserve(modes.size());
    stride.reserve(modes.size());
    for (Layout& mode : modes) {
        if (mode.swizzle_)
            throw ArgumentError(fmt::format("join: mode {} has a swizzle", mode.to_string()),
                                "join the layouts below the swizzles, then compose with one");
        shape.push_back(std::move(mode.shape_));
        stride.push_back(std::move(mode.stride_));
    }
    return {std::move(shape), std::move(stride)};
}

Layout Layout::unswizzled() const {
    Layout out = *this;
    out.swizzle_.reset();
    out.offset_ = 0;
    return out;
}

std::int64_t Layout::cosize() const {
    std::int64_t reach = 1;
    for (const auto& [extent, step] : leaves_) reach += (extent - 1) * (step < 0 ? -step : step);
    return reach;
}

Layout Layout::mode(int i) const { return {shape_[i], stride_[i]}; }

std::int64_t Layout::operator()(std::int64_t index) const {
    refuse_negative(index);
    const std::int64_t offset = offset_at(leaves_, index);
    return swizzle_ ? (*swizzle_)(checked_add(offset, offset_)) : offset;
}

std::int64_t Layout::operator()(const IntTuple& coordinate) const {
    std::span<const Mode> rest = leaves_;
    const std::int64_t offset = offset_at(coordinate, shape_, rest);
    return swizzle_ ? (*swizzle_)(checked_add(offset, offset_)) : offset;
}

std::int64_t Layout::operator()(std::int64_t row, std::int64_t column) const {
    if (shape_.is_leaf() || shape_.rank() != 2) return (*this)(IntTuple{row, column});
    refuse_negative(std::min(row, column));
    const auto rows = static_cast<std::size_t>(shape_[0].leaf_count());
    const std::span<const Mode> leaves = leaves_;
    const std::int64_t offset =
        checked_add(offset_at(leaves.first(rows), row), offset_at(leaves.subspan(rows), column));
    return swizzle_ ? (*swizzle_)(checked_add(offset, offset_)) : offset;
}

IntTuple Layout::coordinate(std::int64_t index) const {
    refuse_negative(index);
    return coordinate_at(shape_, index, true);
}

std::vector<std::int64_t> Layout::offsets() const {
    if (size_ > max_table)
        throw ArgumentError(fmt::format("layout {}: a table of {} offsets is too large", to_string(), size_),
                            fmt::format("at most {}", max_table));
    // Each mode repeats what the modes before it have written.
    std::vector<std::int64_t> out;
    out.reserve(static_cast<std::size_t>(size_));
    out.push_back(offset_);
    for (const auto& [extent, step] : leaves_) {
        const std::size_t block = out.size();
        for (std::int64_t i = 1; i < extent; ++i)
            for (std::size_t j = 0; j < block; ++j) out.push_back(out[j] + i * step);
    }
    if (swizzle_)
        for (std::int64_t& offset : out) offset = (*swizzle_)(offset);
    return out;
}

std::string Layout::to_string() const {
    std::string out = swizzle_ ? swizzle_->to_string() + " o " : "";
    if (offset_ != 0) out += std::to_string(offset_) + " o ";
    return out + shape_.to_string() + ":" + stride_.to_string();
}

bool same_function(const Layout& a, const Layout& b) {
    if (a.size() != b.size()) return false;
    if (a.swizzle() == b.swizzle() && a.offset() == b.offset())
        return coalesced(a.leaves()) == coalesced(b.leaves());
    return a.offsets() == b.offsets();
}

Layout from_modes(std::span<const Layout::Mode> modes) {
    if (modes.empty()) return {};
    if (modes.size() == 1) return {modes[0].shape, modes[0].stride};
    std::vector<IntTuple> shape;
    std::vector<IntTuple> stride;
    shape.reserve(modes.size());
    stride.reserve(modes.size());
    for (const auto& [extent, step] : modes) {
        shape.emplace_back(extent);
        stride.emplace_back(step);
    }
    return {std::move(shape), std::move(stride)};
}

Layout join(Layout a, Layout b) {
    std::vector<Layout> both;
    both.reserve(2);
    both.push_back(std::move(a));
    both.push_back(std::move(b));
    return Layout::join(std::move(both));
}

std::vector<Layout> top_modes(const Layout& a) {
    std::vector<Layout> out;
    out.reserve(static_cast<std::size_t>(a.rank()));
    for (int i = 0; i < a.rank(); ++i) out.push_back(a.mode(i));
    return out;
}

Layout swizzled_like(const Layout& a, Layout result) {
    if (!a.swizzle()) return result;
    return {*a.swizzle(), result, a.offset()};
}

void refuse_swizzle(const Layout& a, std::string_view operation) {
    if (a.swizzle())
        throw ArgumentError(fmt::format("{} of {}: for a swizzled layout, the result is not a layout",
                                        operation, a.to_string()),
                            "apply it to the layout without its swizzle");
}

}  // namespace wgrun
