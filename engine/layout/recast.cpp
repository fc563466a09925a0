#include <fmt/format.h>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {
namespace {

void check_factor(std::int64_t factor, std::string_view operation) {
    if (factor < 1)
        throw ArgumentError(fmt::format("{} by {}: the factor must be at least 1", operation, factor));
}

/// Throws unless one of a, b divides the other.
std::int64_t shape_div(std::int64_t a, std::int64_t b, const Layout& layout, std::int64_t factor) {
    if (a % b != 0 && b % a != 0)
        throw ArgumentError(fmt::format("upcast of {} by {}: {} and {} do not divide each other",
                                        layout.to_string(), factor, a, b));
    return ceil_div(a, b);
}

/// The leaves of `a`, each replaced by the result of `change`.
template <typename Change>
Layout map_leaves(const Layout& a, const IntTuple& shape, const IntTuple& stride, const Change& change) {
    if (shape.is_leaf()) {
        const Layout::Mode mode = change(Layout::Mode{shape.value(), stride.value()});
        return {mode.shape, mode.stride};
    }
    std::vector<Layout> modes;
    modes.reserve(shape.modes().size());
    for (int i = 0; i < shape.rank(); ++i) modes.push_back(map_leaves(a, shape[i], stride[i], change));
    return Layout::join(std::move(modes));
}

}  // namespace

Layout upcast(const Layout& a, std::int64_t factor) {
    check_factor(factor, "upcast");
    refuse_swizzle(a, "upcast");
    return map_leaves(a, a.shape(), a.stride(), [&](Layout::Mode mode) -> Layout::Mode {
        if (mode.stride == 0) return mode;
        const std::int64_t distance = checked_abs(mode.stride);
        const std::int64_t merged = shape_div(factor, distance, a, factor);
        const std::int64_t step = shape_div(distance, factor, a, factor);
        return {ceil_div(mode.shape, merged), mode.stride < 0 ? -step : step};
    });
}

Layout downcast(const Layout& a, std::int64_t factor) {
    check_factor(factor, "downcast");
    refuse_swizzle(a, "downcast");
    return map_leaves(a, a.shape(), a.stride(), [&](Layout::Mode mode) -> Layout::Mode {
        if (mode.stride == 1) return {checked_mul(mode.shape, factor), 1};
        if (mode.stride == -1)
            throw ArgumentError(
                fmt::format("downcast of {} by {}: a stride is negative", a.to_string(), factor));
        return {mode.shape, checked_mul(mode.stride, factor)};
    });
}

}  // namespace wgrun
