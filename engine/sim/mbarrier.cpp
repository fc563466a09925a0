#include "sim/mbarrier.hpp"

#include <algorithm>

namespace wgrun::sim {

namespace {
std::uint32_t offset_of(const Mbarrier& mbarrier) { return mbarrier.offset(); }
}  // namespace

Mbarrier* MbarrierTable::find(std::uint32_t offset) {
    const auto found = std::ranges::lower_bound(objects_, offset, {}, offset_of);
    return found != objects_.end() && found->offset() == offset ? &*found : nullptr;
}

Mbarrier& MbarrierTable::add(std::uint32_t offset, int actor) {
    const auto place = std::ranges::lower_bound(objects_, offset, {}, offset_of);
    begin_ = objects_.empty() ? offset : std::min(begin_, offset);
    end_ = std::max(end_, offset + Mbarrier::bytes);
    return *objects_.emplace(place, offset, actor);
}

const Mbarrier* MbarrierTable::search(std::uint32_t offset, std::uint32_t size) const {
    const auto first = std::ranges::lower_bound(
        objects_, offset + 1, {}, [](const Mbarrier& m) { return m.offset() + Mbarrier::bytes; });
    for (auto m = first; m != objects_.end() && m->offset() < offset + size; ++m)
        if (m->live()) return &*m;
    return nullptr;
}

}  // namespace wgrun::sim
