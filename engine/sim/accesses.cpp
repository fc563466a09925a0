#include "sim/accesses.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace wgrun::sim {

using isa::lanes;

namespace {

/// A digest of what some lanes found in memory.
class Digest {
  public:
    void add(int lane, std::uint64_t address, const std::byte* place, int bytes) {
        mix(address * isa::lanes + static_cast<std::uint64_t>(lane));
        for (int i = 0; i < bytes; i += 8) {
            std::uint64_t part = 0;
            std::memcpy(&part, place + i, static_cast<std::size_t>(std::min(bytes - i, 8)));
            mix(part);
        }
    }
    std::uint64_t value() const { return value_; }

  private:
    void mix(std::uint64_t part) {
        value_ = (value_ ^ part) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 29;
    }
    std::uint64_t value_ = 0;
};

/// Copies 1, 2, 4, 8 or 16 bytes as memcpy does, without a call.
void copy(std::byte* to, const std::byte* from, int bytes) {
    switch (bytes) {
        case 1: *to = *from; return;
        case 2: std::memcpy(to, from, 2); return;
        case 4: std::memcpy(to, from, 4); return;
        case 8: std::memcpy(to, from, 8); return;
        default: std::memcpy(to, from, 16);
    }
}

}  // namespace

void Accesses::reset() {
    release_acquire_.reset(scene_.index);
    scene_.global_shadow.follow(scene_.exchange, scene_.index, release_acquire_.learned(),
                                release_acquire_.known());
    // As shared memory: a NaN in all formats.
    local_.assign(scene_.warps.size() * lanes * static_cast<std::size_t>(scene_.program.local_bytes()),
                  std::byte{0xFF});
    local_written_.assign(local_.size(), false);
}

// Compilers copy structures with the gaps between their members: of what is read something must be written.
std::byte* Accesses::own_bytes(bool store, std::int64_t place, int bytes, std::int64_t offset) {
    const auto written = local_written_.begin() + place;
    if (store)
        std::fill_n(written, bytes, true);
    else if (std::find(written, written + bytes, true) == written + bytes)
        report_.local_unwritten(bytes, offset);
    return local_.data() + place;
}

template <class Access>
void Accesses::in_each_space(const isa::Addresses& generic, Access access) {
    const isa::Mask all = scene_.active;
    isa::for_each_space(generic, all, [&](isa::Space space, isa::Mask there, const isa::Addresses& within) {
        scene_.active = there;
        access(space, within);
    });
    scene_.active = all;
}

void Accesses::load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride) {
    if (space == isa::Space::generic)
        return in_each_space(address, [&](isa::Space found, const isa::Addresses& within) {
            load(found, within, bytes, data, stride);
        });
    const bool strong = scene_.code.ops[scene_.pc].order.strong;
    std::unique_lock lock(scene_.turns.global_memory(), std::defer_lock);
    if (strong && space == isa::Space::global) lock.lock();
    if (strong) morally_strong(space);
    const Scene::Actors actors = scene_.actors();
    Digest seen;
    if (!scene_.cta->boxes.empty() && space != isa::Space::global) read_boxes(address);
    for_each_access(
        false, space, address, bytes, [&](const std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            copy(static_cast<std::byte*>(data) + lane * stride, place, bytes);
            if (strong) {
                seen.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
                beside_strong(actors, lane, cta, offset, address, bytes, false);
            }
            if (cta != nullptr && scene_.launch.detect_races)
                cta->shadow.load(actors.of(lane), lane, offset, bytes);
            else if (const std::uint64_t at = cta == nullptr ? scene_.global_shadow.watched(
                                                                   address[static_cast<std::size_t>(lane)])
                                                             : 0)
                scene_.code.ops[scene_.pc].constant
                    ? scene_.global_shadow.load_constant(actors.of(lane), lane, at, bytes)
                    : scene_.global_shadow.load(actors.of(lane), lane, at, bytes);
        });
    if (!strong) return;
    strong_read(space, address);
    poll(space, seen.value());
}

/// Lanes read shared memory in which there are boxes whose swizzle begins elsewhere.
void Accesses::read_boxes(const isa::Addresses& address) {
    std::array<std::uint32_t, lanes> offsets{};
    std::ranges::transform(address, offsets.begin(), [](std::uint64_t at) {
        return static_cast<std::uint32_t>(at) - SharedMemory::base;
    });
    if (const auto box = scene_.cta->boxes.misread(offsets, scene_.active))
        report_.misread_box(box->pc, box->begin, box->width);
}

void Accesses::store(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                     int stride) {
    if (put_off(space)) return;
    if (space != isa::Space::generic) return store_there(space, address, bytes, data, stride);
    in_each_space(address, [&](isa::Space found, const isa::Addresses& within) {
        store_there(found, within, bytes, data, stride);
    });
}

void Accesses::store_there(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                           int stride) {
    const bool strong = scene_.code.ops[scene_.pc].order.strong;
    if (strong) morally_strong(space);
    std::unique_lock lock(scene_.turns.global_memory(), std::defer_lock);
    if (strong && space == isa::Space::global) lock.lock();
    const Scene::Actors actors = scene_.actors();
    bool overlap = false;
    for_each_access(
        true, space, address, bytes, [&](std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            const std::byte* from = static_cast<const std::byte*>(data) + lane * stride;
            if (strong) beside_strong(actors, lane, cta, offset, address, bytes, true);
            if (cta != nullptr && scene_.launch.detect_races &&
                std::memcmp(place, from, static_cast<std::size_t>(bytes)) == 0 &&
                cta->shadow.store_again(actors.of(lane), lane, offset, bytes))
                return;
            if (cta != nullptr && scene_.launch.detect_races)
                overlap |= cta->shadow.store(actors.of(lane), lane, offset, bytes);
            else if (const std::uint64_t at = cta == nullptr ? scene_.global_shadow.watched(
                                                                   address[static_cast<std::size_t>(lane)])
                                                             : 0)
                overlap |= scene_.global_shadow.store(actors.of(lane), lane, at, bytes, from, place);
            copy(place, from, bytes);
        });
    scene_.acted();
    scene_.wrote |= space == isa::Space::global;
    if (strong) {
        strong_write(space, address, false);
        scene_.tell();
    } else if (overlap) {
        check_overlap(space, address, bytes, data, stride);
    }
}

void Accesses::update(isa::Space space, const isa::Addresses& address, int bytes,
                      const std::function<void(int, std::byte*)>& change) {
    if (put_off(space)) return;
    if (space != isa::Space::generic) return update_there(space, address, bytes, change);
    in_each_space(address, [&](isa::Space found, const isa::Addresses& within) {
        update_there(found, within, bytes, change);
    });
}

void Accesses::update_there(isa::Space space, const isa::Addresses& address, int bytes,
                            const std::function<void(int, std::byte*)>& change) {
    morally_strong(space);
    std::unique_lock lock(scene_.turns.global_memory(), std::defer_lock);
    if (space == isa::Space::global) lock.lock();
    strong_read(space, address);
    const Scene::Actors actors = scene_.actors();
    Digest before, after;
    for_each_access(
        true, space, address, bytes, [&](std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            before.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
            beside_strong(actors, lane, cta, offset, address, bytes, true);
            change(lane, place);
            after.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
            if (const std::uint64_t at =
                    cta == nullptr ? scene_.global_shadow.watched(address[static_cast<std::size_t>(lane)])
                                   : 0)
                scene_.global_shadow.update(actors.of(lane), lane, at, bytes);
            if (cta == nullptr || !scene_.launch.detect_races) return;
            cta->shadow.load(actors.of(lane), lane, offset, bytes);
            cta->shadow.store(actors.of(lane), lane, offset, bytes);
        });
    strong_write(space, address, true);
    // An operation that changes nothing only reads.
    if (before.value() == after.value()) return poll(space, before.value());
    scene_.acted();
    scene_.wrote |= space == isa::Space::global;
    scene_.tell();
}

void Accesses::discard(const isa::Addresses& address, int bytes) {
    // As shared memory that nothing has written: a NaN in all formats.
    constexpr std::size_t most = 16;
    std::array<std::byte, most> nothing;
    nothing.fill(std::byte{0xFF});
    const Scene::Actors actors = scene_.actors();
    for_each_access(
        true, isa::Space::global, address, bytes, [&](std::byte* place, int lane, Cta*, std::uint32_t) {
            const std::uint64_t at = scene_.global_shadow.watched(address[static_cast<std::size_t>(lane)]);
            for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); i += most) {
                if (at != 0)
                    scene_.global_shadow.store(actors.of(lane), lane, at + i, most, nothing.data(),
                                               place + i);
                std::memcpy(place + i, nothing.data(), most);
            }
            if (at != 0) scene_.global_shadow.discard(actors.of(lane), lane, at, bytes);
        });
    scene_.acted();
    scene_.wrote = true;
}

// Tells the shadow of the memory that a strong step is about to access it.
void Accesses::beside_strong(const Scene::Actors& actors, int lane, Cta* cta, std::uint32_t offset,
                             const isa::Addresses& address, int bytes, bool writes) {
    if (cta != nullptr) {
        if (scene_.launch.detect_races) cta->shadow.strong(actors.of(lane), lane, offset, bytes, writes);
    } else if (const std::uint64_t at =
                   scene_.global_shadow.watched(address[static_cast<std::size_t>(lane)])) {
        scene_.global_shadow.strong(actors.of(lane), lane, at, bytes, writes);
    }
}

// Lanes of one step may write the same byte only if they write the same value. Sizes are equal and addresses
// aligned, so accesses overlap completely or not at all.
void Accesses::check_overlap(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                             int stride) {
    const auto* values = static_cast<const std::byte*>(data);
    for (int later = 1; later < lanes; ++later)
        for (int lane = 0; lane < later; ++lane) {
            const std::uint64_t at = address[static_cast<std::size_t>(lane)];
            if ((scene_.active >> lane & scene_.active >> later & 1U) == 0 ||
                at != address[static_cast<std::size_t>(later)])
                continue;
            if (std::memcmp(values + lane * stride, values + later * stride,
                            static_cast<std::size_t>(bytes)) == 0)
                continue;
            report_.lane(scene_.thread(later));
            const bool global = space == isa::Space::global;
            return report_.overlapping_store(
                global ? rules::WG_RACE_04 : rules::WG_RACE_01,
                global ? scene_.global.place(at)
                       : report_.place(static_cast<std::uint32_t>(at) - SharedMemory::base),
                scene_.thread(lane));
        }
}

void Accesses::proxy_fence(std::optional<isa::Space> space) {
    const machine::ProxyFence fence(space);
    if (fence.orders_global())
        scene_.global_shadow.proxy_fence(clocks_, scene_.pc, scene_.current, scene_.active_lanes());
    if (fence.orders_shared()) clocks_.proxy_fence(scene_.current, scene_.active_lanes(), fence);
}

}  // namespace wgrun::sim
