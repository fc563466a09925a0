#include <fmt/format.h>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {
namespace {

void cut(const Layout& a, const SliceCoordinate& coordinate, std::vector<Layout>& kept,
         std::int64_t& offset) {
    if (const auto* index = std::get_if<std::int64_t>(&coordinate.what)) {
        offset = checked_add(offset, a(*index));
        return;
    }
    const auto* inner = std::get_if<std::vector<SliceCoordinate>>(&coordinate.what);
    if (inner == nullptr) {
        kept.push_back(a);
        return;
    }
    if (a.shape().is_leaf() || static_cast<int>(inner->size()) != a.rank())
        throw ArgumentError(fmt::format("slice: a coordinate of {} parts does not fit the shape {}",
                                        inner->size(), a.shape().to_string()),
                            "one part for each mode: an index, a nested coordinate, or _ to keep the mode");
    for (int i = 0; i < a.rank(); ++i) cut(a.mode(i), (*inner)[static_cast<std::size_t>(i)], kept, offset);
}

}  // namespace

Slice slice(const Layout& a, const SliceCoordinate& coordinate) {
    if (std::holds_alternative<std::monostate>(coordinate.what)) return {a, 0};
    std::vector<Layout> kept;
    std::int64_t offset = 0;
    cut(a.unswizzled(), coordinate, kept, offset);
    const Layout rest = Layout::join(std::move(kept));
    if (!a.swizzle()) return {rest, offset};
    // With a swizzle, the fixed part becomes an offset inside it.
    return {Layout(*a.swizzle(), rest, checked_add(a.offset(), offset)), 0};
}

}  // namespace wgrun
