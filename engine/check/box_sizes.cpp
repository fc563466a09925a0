#include "check/box_sizes.hpp"

#include <algorithm>

#include "isa/bulk_copy.hpp"

namespace wgrun::check {

void BoxSizes::place(std::uint64_t map, To to, std::int64_t at, std::int64_t end) {
    places_[to][map].insert(at);
    ends_.insert(end);
}

void BoxSizes::phase(std::vector<std::uint64_t> maps, std::int64_t bytes, Where where) {
    std::ranges::sort(maps);
    if (maps.front() == maps.back()) {
        const auto count = static_cast<std::int64_t>(maps.size());
        if (bytes % count != 0) contradiction_ = where;
        maps.resize(1);
        bytes /= count;
    }
    const auto [same, is_new] = phases_.try_emplace(std::move(maps), Phase{bytes, where});
    if (!is_new && same->second.bytes != bytes) contradiction_ = where;
}

void BoxSizes::add(const BoxSizes& others) {
    for (const auto& [to, maps] : others.places_)
        for (const auto& [map, places] : maps) places_[to][map].insert(places.begin(), places.end());
    ends_.insert(others.ends_.begin(), others.ends_.end());
    if (others.contradiction_) contradiction_ = others.contradiction_;
    for (const auto& [maps, its] : others.phases_) phase(maps, its.bytes, its.where);
}

std::map<std::uint64_t, std::int64_t> BoxSizes::fitting() const {
    std::map<std::uint64_t, std::int64_t> out;
    for (const auto& [to, maps] : places_) {
        std::set<std::int64_t> ends = ends_;
        for (const auto& [map, places] : maps) ends.insert(places.begin(), places.end());
        for (const auto& [map, places] : maps)
            for (const std::int64_t at : places) {
                const std::int64_t room = *ends.upper_bound(at) - at;  // a buffer's end comes behind each
                const auto [size, first] = out.try_emplace(map, room);
                size->second = std::min(size->second, room);
            }
    }
    // Copies by one map alone say how large its boxes are.
    for (const auto& [maps, its] : phases_)
        if (const auto size = out.find(maps.front()); maps.size() == 1 && size != out.end())
            size->second = std::min(size->second, its.bytes);
    for (const auto& [maps, its] : phases_) {
        std::int64_t sum = 0;
        for (const std::uint64_t map : maps) {
            const auto size = out.find(map);
            sum += size == out.end() ? 0 : size->second;
        }
        if (sum != its.bytes)
            for (const std::uint64_t map : maps) out.erase(map);
    }
    // A line of a box has a multiple of 16 bytes.
    std::erase_if(out, [](const auto& one) { return one.second % isa::BulkCopy::unit != 0; });
    return out;
}

}  // namespace wgrun::check
