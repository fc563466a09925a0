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

void Maps::reset() { acquired_.clear(); }

void Maps::release(isa::Mask lanes, std::uint64_t watched) {
    const FenceLog::Reach reach{scene_.code.ops[scene_.pc].order.scope, scene_.rank(*scene_.cta), watched};
    scene_.global_shadow.release_maps(scene_.clocks, scene_.pc, scene_.current, scene_.lanes(lanes), reach);
}

/// Returns the last writes of the map in this launch.
std::vector<LaunchHistory::Write> Maps::writes(std::uint64_t address) const {
    LaunchHistory* history = scene_.global_shadow.history();
    const std::uint64_t watched = scene_.global_shadow.watched(address);
    return history == nullptr || watched == 0 ? std::vector<LaunchHistory::Write>()
                                              : history->last_writes(watched, isa::map_bytes);
}

bool Maps::learns(int lane, std::uint64_t address, const std::vector<LaunchHistory::Write>& writes) {
    if (writes.empty()) return true;
    const Actor actor = scene_.actor(lane);
    const Knower knower = scene_.global_shadow.knower(actor, lane);
    if (!std::ranges::all_of(writes, [&](const auto& one) { return knower.knows(one.cluster, one.by); }))
        return false;
    const FenceLog& releases = scene_.global_shadow.history()->map_releases;
    const isa::Scope scope = scene_.code.ops[scene_.pc].order.scope;
    const std::uint64_t watched = scene_.global_shadow.watched(address);
    const Devices& devices = scene_.launch.devices;
    for (const LaunchHistory::Write& one : writes) {
        const auto is_of_map = [&](const FenceLog::Fence& fence) {
            return fence.reach.place == 0 || fence.reach.place == watched;
        };
        const auto reaches = [&](const FenceLog::Fence& fence) {
            const bool apart = devices.of(fence.cluster) != devices.of(knower.cluster);
            const isa::Scope needed = apart                                         ? isa::Scope::sys
                                      : fence.cluster != knower.cluster             ? isa::Scope::gpu
                                      : fence.reach.cta != scene_.rank(*scene_.cta) ? isa::Scope::cluster
                                                                                    : isa::Scope::cta;
            return is_of_map(fence) && std::min(scope, fence.reach.scope) >= needed;
        };
        if (releases.between(one.cluster, one.by, knower, reaches) != nullptr) continue;
        if (const auto* apart = releases.between(one.cluster, one.by, knower, is_of_map))
            report_.fault(rules::map_released_apart(), apart->by.pc(), "released here");
        else
            report_.fault(rules::map_not_released(), one.by.pc(), "changed here");
        break;
    }
    return true;
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
        // Zeros that are synthetic may stand for any map.
        const bool known = scene_.launch.synthetic == nullptr;
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
        write(lane, place, at[l], map);
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
                                  write(lane, place, address, map);
                                  release(all, scene_.global_shadow.watched(address));
                              });
    scene_.active = all;
    scene_.clocks.meet(scene_.current, scene_.active_lanes());
    scene_.acted();
    scene_.wrote = true;
}

void Maps::release() { release(scene_.active, 0); }

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
        std::vector<LaunchHistory::Write> writes = this->writes(address);
        if (!learns(lane, address, writes)) return;
        Acquired& last = acquired_[{scene_.rank(*scene_.cta), address}][scene_.current];
        const Actor actor = scene_.actor(lane);
        const Epoch now(actor.clock, actor.pc, actor.warp, lane);
        if (!last.by.same_step(now)) last = {0, now, std::move(writes)};
        last.lanes |= isa::Mask{1} << lane;
    });
}

/// Returns whether a thread of the CTA has acquired the map, as it is now, before the lane copies.
bool Maps::acquired(std::uint64_t address, int lane) const {
    const auto found = acquired_.find({scene_.rank(*scene_.cta), address});
    if (found == acquired_.end()) return false;
    const std::vector<LaunchHistory::Write> now = writes(address);
    const Actor actor = scene_.actor(lane);
    return std::ranges::any_of(found->second, [&](const auto& of_warp) {
        const Acquired& one = of_warp.second;
        if (one.writes != now) return false;
        if (of_warp.first == scene_.current && (one.lanes >> lane & 1U) != 0) return true;
        const Knower knower = scene_.global_shadow.knower(actor, lane);
        return knower.knows(knower.cluster, one.by);
    });
}

MappedTensor Maps::find(std::uint64_t address, int lane) {
    if (isa::space_of(address) != isa::Space::global || address % isa::map_align != 0) return {};
    const std::byte* place = scene_.global.find(address, isa::map_bytes);
    if (place == nullptr || !is_map(place)) return {};
    if (const std::uint64_t at = scene_.global_shadow.watched(address))
        for (int i = 0; i < isa::map_bytes; i += chunk)
            scene_.global_shadow.load(scene_.actor(lane), lane, at + static_cast<std::uint64_t>(i), chunk);
    if (scene_.launch.detect_races && !acquired(address, lane)) report_.fault(rules::map_not_acquired());
    std::unique_ptr<DecodedMap>& kept = decoded_[bytes_at(place)];
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
