#include "sim/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/lanes.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::sim {

using machine::for_each_lane;

namespace {

constexpr int chunk = 16;  // bytes that the shadows take at once

MapBytes bytes_at(const std::byte* place) {
    MapBytes out;
    std::memcpy(out.data(), place, out.size());
    return out;
}

}  // namespace

void Maps::reset() {
    changes_.clear();
    released_.clear();
    acquired_.clear();
}

void Maps::released(std::uint64_t address, std::byte* map) {
    const isa::Scope scope = scene_.code.ops[scene_.pc].order.scope;
    set_unreleased(map, scope < isa::Scope::gpu ? scene_.exchange.launch : 0);
    released_.insert_or_assign(address, Released{scope, scene_.rank(*scene_.cta), scene_.pc});
}

/// Reports a map that nothing has released to the CTA that acquires it.
void Maps::check_released(std::uint64_t address, const std::byte* place) {
    if (!is_map(place)) return;
    const auto release = released_.find(address);
    const bool unreleased = sim::unreleased(place) == scene_.exchange.launch;
    if (release == released_.end()) {
        if (!unreleased) return;
        const auto change = std::ranges::find(changes_, address, &Change::address);
        const std::uint32_t by = change == changes_.end() ? no_pc : change->by.pc();
        return report_.fault(rules::map_not_released(), by, "changed here");
    }
    const bool own = release->second.cta == scene_.rank(*scene_.cta),
               acquires_near = scene_.code.ops[scene_.pc].order.scope == isa::Scope::cta;
    if (!own && (release->second.scope == isa::Scope::cta || acquires_near))
        report_.fault(rules::map_released_apart(), release->second.pc, "released here");
}

/// The lane writes a map to global memory.
void Maps::write(int lane, std::byte* place, std::uint64_t address, const MapBytes& map) {
    if (const std::uint64_t at = scene_.global_shadow.watched(address))
        for (int i = 0; i < isa::map_bytes; i += chunk)
            scene_.global_shadow.store(scene_.actor(lane), lane, at + static_cast<std::uint64_t>(i), chunk,
                                       map.data() + i, place + i);
    std::memcpy(place, map.data(), map.size());
}

void Maps::replace(isa::Space space, const isa::Addresses& at, isa::MapField field, int dimension,
                   const isa::Counts& value) {
    const bool global = space == isa::Space::global;
    const auto change = [&](std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
        const auto l = static_cast<std::size_t>(lane);
        const Actor actor = scene_.actor(lane);
        if (cta != nullptr && scene_.launch.detect_races)
            for (std::uint32_t i = 0; i < isa::map_bytes; i += chunk) {
                cta->shadow.load(actor, lane, offset + i, chunk);
                cta->shadow.store(actor, lane, offset + i, chunk);
            }
        MapBytes map = bytes_at(place);
        // Zeros that are made up may stand for any map.
        const bool known = scene_.launch.made_up == nullptr;
        if (!is_map(map.data()) && !(known && make_of_zeros(map.data()))) {
            if (known && !report_.said(rules::WG_MEM_04)) report_.fault(rules::no_tensor_map(at[l]));
            return;
        }
        const auto word = static_cast<std::uint64_t>(value[l]);
        const bool points = field == isa::MapField::global_address;
        sim::replace(map.data(), field, dimension, word, points ? scene_.global.find(word, 1) : nullptr);
        if (cta != nullptr) {
            std::memcpy(place, map.data(), map.size());
            return;
        }
        set_unreleased(map.data(), scene_.exchange.launch);
        released_.erase(at[l]);
        write(lane, place, at[l], map);
        changes_.push_back({at[l], place, now(lane)});
    };
    accesses_.for_each_access(true, global ? space : isa::Space::shared, at, isa::map_bytes, change,
                              isa::map_align);
    scene_.acted();
    scene_.wrote |= global;
}

void Maps::publish(const isa::Addresses& to, const isa::Addresses& from) {
    MapBytes map{};
    bool read = false;
    const isa::Mask all = scene_.active;
    accesses_.for_each_access(false, isa::Space::shared, from, isa::map_bytes,
                              [&](const std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
                                  if (scene_.launch.detect_races)
                                      for (std::uint32_t i = 0; i < isa::map_bytes; i += chunk)
                                          cta->shadow.load(scene_.actor(lane), lane, offset + i, chunk);
                                  if (!read) map = bytes_at(place);
                                  read = true;
                              });
    if (!read) return;
    // The warp copies once.
    scene_.active = all & (~all + 1);
    accesses_.for_each_access(true, isa::Space::global, to, isa::map_bytes,
                              [&](std::byte* place, int lane, Cta*, std::uint32_t) {
                                  const std::uint64_t address = to[static_cast<std::size_t>(lane)];
                                  if (is_map(map.data())) released(address, map.data());
                                  write(lane, place, address, map);
                              });
    scene_.active = all;
    scene_.clocks.meet(scene_.current, scene_.active_lanes());
    scene_.acted();
    scene_.wrote = true;
}

void Maps::release() {
    std::erase_if(changes_, [&](const Change& change) {
        bool mine = false;
        for_each_lane(scene_.active, [&](int lane) {
            mine = mine || scene_.global_shadow.ordered(scene_.actor(lane), lane, change.by);
        });
        if (mine && is_map(change.place)) released(change.address, change.place);
        return mine;
    });
}

void Maps::acquire(const isa::Addresses& at) {
    for_each_lane(scene_.active, [&](int lane) {
        const std::uint64_t address = at[static_cast<std::size_t>(lane)];
        if (isa::space_of(address) != isa::Space::global) return;  // parameters do not change
        const std::byte* place = scene_.global.find(address, isa::map_bytes);
        report_.at(scene_.pc, scene_.thread(lane));
        if (place == nullptr && scene_.makes_up_memory()) return;
        if (place == nullptr)
            return report_.global_out_of_bounds(false, isa::map_bytes,
                                                scene_.global.describe(address, isa::map_bytes));
        check_released(address, place);
        Acquired& last = acquired_[{scene_.rank(*scene_.cta), address}][scene_.current];
        const Epoch now = this->now(lane);
        if (!last.by.same_step(now)) last = {0, now, bytes_at(place)};
        last.lanes |= isa::Mask{1} << lane;
    });
}

/// Returns whether a thread of the CTA has acquired the map, as it is now, before the lane copies.
bool Maps::acquired(std::uint64_t address, const std::byte* place, int lane) const {
    const auto found = acquired_.find({scene_.rank(*scene_.cta), address});
    if (found == acquired_.end()) return false;
    return std::ranges::any_of(found->second, [&](const auto& of_warp) {
        const Acquired& one = of_warp.second;
        if (std::memcmp(one.map.data(), place, one.map.size()) != 0) return false;
        if (of_warp.first == scene_.current && (one.lanes >> lane & 1U) != 0) return true;
        return scene_.global_shadow.ordered(scene_.actor(lane), lane, one.by);
    });
}

MappedTensor Maps::find(std::uint64_t address, int lane) {
    if (isa::space_of(address) != isa::Space::global || address % isa::map_align != 0) return {};
    const std::byte* place = scene_.global.find(address, isa::map_bytes);
    if (place == nullptr || !is_map(place)) return {};
    if (const std::uint64_t at = scene_.global_shadow.watched(address))
        for (int i = 0; i < isa::map_bytes; i += chunk)
            scene_.global_shadow.load(scene_.actor(lane), lane, at + static_cast<std::uint64_t>(i), chunk);
    if (scene_.launch.detect_races && !acquired(address, place, lane))
        report_.fault(rules::map_not_acquired());
    MapBytes key = bytes_at(place);
    set_unreleased(key.data(), 0);
    std::unique_ptr<DecodedMap>& kept = decoded_[key];
    if (kept == nullptr) {
        std::optional<DecodedMap> map = decoded(place);
        if (!map)
            throw UnknownInstruction(plain_error(
                fmt::format(
                    "the simulator does not copy {}, which tensormap.replace has put into the tensor map",
                    beyond_launches(place)),
                {}, scene_.code.ops[scene_.pc].step->where));
        kept = std::make_unique<DecodedMap>(std::move(*map));
        kept->map.box = &kept->box;
        kept->map.handle = address;
        if (const auto at = scene_.global.address_of(kept->data)) kept->map.address = *at;
        check_map(kept->map);
    }
    return {&kept->map, scene_.global.find(kept->map.address, 1)};
}

}  // namespace wgrun::sim
