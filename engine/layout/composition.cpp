#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "layout/modes.hpp"
#include "layout/unzip.hpp"

namespace wgrun {
namespace {

/// A o B, one leaf mode of B after the other. A is read as mixed-radix digits, one a mode, the last without
/// bound. A mode of B stays a layout where its multiples move through the digits evenly; modes of B add up
/// where no sum of theirs carries from one digit into the next.
class Composer {
  public:
    Composer(const Layout& a, const Layout& b) : a_(a), b_(b) {
        // A last mode of extent 1 still determines how A continues beyond its domain.
        Modes modes(a.leaves().begin(), a.leaves().end());
        if (!modes.empty() && modes.back().shape == 1) modes.back().shape = 2;
        digits_ = coalesced(modes);
        if (digits_.empty()) digits_.push_back({1, 0});
        used_.resize(digits_.size());
    }

    Layout run() {
        auto [shape, stride] = compose(b_.shape(), b_.stride());
        for (std::size_t i = 0; i + 1 < digits_.size(); ++i)
            if (used_[i] >= digits_[i].shape)
                refuse(
                    fmt::format("sums of the right layout's modes carry out of mode {}:{} of the left layout",
                                digits_[i].shape, digits_[i].stride));
        if (positive_ && negative_ && digits_.size() > 1)
            refuse("strides of both signs carry between the modes of the left layout");
        return {std::move(shape), std::move(stride)};
    }

  private:
    struct Pair {
        IntTuple shape;
        IntTuple stride;
    };

    [[noreturn]] void refuse(const std::string& why) const {
        throw ArgumentError(fmt::format("composition of {} with {}: {}", a_.to_string(), b_.to_string(), why),
                            "extents and strides that divide each other");
    }

    Pair compose(const IntTuple& shape, const IntTuple& stride) {
        if (shape.is_leaf()) return compose(shape.value(), stride.value());
        std::vector<IntTuple> shapes;
        std::vector<IntTuple> strides;
        shapes.reserve(shape.modes().size());
        strides.reserve(shape.modes().size());
        for (int i = 0; i < shape.rank(); ++i) {
            Pair mode = compose(shape[i], stride[i]);
            shapes.push_back(std::move(mode.shape));
            strides.push_back(std::move(mode.stride));
        }
        return {std::move(shapes), std::move(strides)};
    }

    Pair compose(std::int64_t extent, std::int64_t step) {
        if (step == 0) return {extent, 0};
        const std::int64_t sign = step < 0 ? -1 : 1;
        if (extent > 1) (step < 0 ? negative_ : positive_) = true;
        const std::int64_t whole_extent = extent;
        std::int64_t distance = checked_abs(step);
        Modes out;
        for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
            const auto [c, stride] = digits_[i];
            if (extent == 1) {
                distance = ceil_div(distance, c);
            } else if (distance % c == 0) {
                distance /= c;
            } else if (distance > c) {
                refuse(
                    fmt::format("stride {} of mode {}:{} is not a multiple of the extent {} below it (stride "
                                "divisibility)",
                                distance, whole_extent, step, c));
            } else if (extent - 1 <= (c - 1) / distance) {
                take(i, extent, distance, sign * stride, out);
                extent = 1;
                distance = 1;
            } else if (c % distance != 0 || extent % (c / distance) != 0) {
                refuse(
                    fmt::format("mode {}:{} cuts mode {}:{} of the left layout unevenly (shape divisibility)",
                                whole_extent, step, c, stride));
            } else {
                take(i, c / distance, distance, sign * stride, out);
                extent /= c / distance;
                distance = 1;
            }
        }
        if (extent > 1 || out.empty())
            take(digits_.size() - 1, extent, distance, sign * digits_.back().stride, out);
        if (out.size() == 1) return {out[0].shape, out[0].stride};
        std::vector<IntTuple> shapes;
        std::vector<IntTuple> strides;
        for (const auto& [s, d] : out) {
            shapes.emplace_back(s);
            strides.emplace_back(d);
        }
        return {std::move(shapes), std::move(strides)};
    }

    /// `extent` steps of `distance` within digit `i`, whose unit is `stride` of A's codomain.
    void take(std::size_t i, std::int64_t extent, std::int64_t distance, std::int64_t stride, Modes& out) {
        used_[i] = checked_add(used_[i], checked_mul(extent - 1, distance));
        out.push_back({extent, checked_mul(distance, stride)});
    }

    const Layout& a_;
    const Layout& b_;
    Modes digits_;
    std::vector<std::int64_t> used_;  // largest value of each digit over all coordinates of B
    bool positive_ = false;
    bool negative_ = false;
};

}  // namespace

Layout composition(const Layout& a, const Layout& b) {
    if (b.swizzle())
        throw ArgumentError(fmt::format("composition of {} with {}: a swizzle can only be leftmost",
                                        a.to_string(), b.to_string()));
    return swizzled_like(a, Composer(a, b).run());
}

Layout composition(const Layout& a, const Tiler& b) {
    const auto compose = [](const Layout& mode, const Layout& tile) { return composition(mode, tile); };
    return by_mode(a, b, "composition", Beyond::dropped, compose);
}

Layout composition(const Swizzle& swizzle, const Layout& a) {
    if (!a.swizzle()) return {swizzle, a};
    if (a.offset() != 0)
        throw ArgumentError(
            fmt::format("{} o {}: an offset lies between the swizzles", swizzle.to_string(), a.to_string()));
    return {composition(swizzle, *a.swizzle()), a.unswizzled()};
}

Swizzle composition(const Swizzle& a, const Swizzle& b) {
    const auto refuse = [&](std::string_view why) {
        throw ArgumentError(fmt::format("{} o {} is not one swizzle: {}", a.to_string(), b.to_string(), why));
    };
    if (a.is_identity()) return b;
    if (b.is_identity()) return a;
    if (a.shift() != b.shift()) refuse("the shifts differ");
    const auto bits = [](const Swizzle& s) { return ((std::uint64_t{1} << s.bits()) - 1) << s.base(); };
    // Source and target bits, counted from the lower of the two.
    const std::uint64_t moved = bits(a) ^ bits(b);
    const int shift = std::abs(a.shift());
    if (((bits(a) | bits(b)) & (bits(a) | bits(b)) << shift) != 0) refuse("one changes what the other reads");
    if (moved == 0) return {0, 0, a.shift()};
    const int base = __builtin_ctzll(moved);
    const int count = __builtin_popcountll(moved);
    if (moved >> base != (std::uint64_t{1} << count) - 1) refuse("the remaining bits are not contiguous");
    return {count, base, a.shift()};
}

}  // namespace wgrun
