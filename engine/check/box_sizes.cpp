#include "check/box_sizes.hpp"

#include <algorithm>

namespace wgrun::check {

void BoxSizes::place(std::uint64_t map, To to, std::int64_t at, std::int64_t end) {
    places_[to][map].insert(at);
    ends_.insert(end);
}

void BoxSizes::phase(std::vector<std::uint64_t> maps, std::int64_t bytes) {
    std::ranges::sort(maps);
    phases_.emplace(std::move(maps), bytes);
}

void BoxSizes::add(const BoxSizes& others) {
    for (const auto& [to, maps] : others.places_)
        for (const auto& [map, places] : maps) places_[to][map].insert(places.begin(), places.end());
    ends_.insert(others.ends_.begin(), others.ends_.end());
    phases_.insert(others.phases_.begin(), others.phases_.end());
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
    for (const auto& [maps, bytes] : phases_) {
        const auto count = static_cast<std::int64_t>(maps.size());
        const auto size = out.find(maps.front());
        if (maps.front() == maps.back() && size != out.end() && bytes % count == 0)
            size->second = std::min(size->second, bytes / count);
    }
    for (const auto& [maps, bytes] : phases_) {
        std::int64_t sum = 0;
        for (const std::uint64_t map : maps) {
            const auto size = out.find(map);
            sum += size == out.end() ? 0 : size->second;
        }
        if (sum != bytes)
            for (const std::uint64_t map : maps) out.erase(map);
    }
    return out;
}

}  // namespace wgrun::check
