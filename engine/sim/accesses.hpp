// Accesses of threads to memory through the generic proxy: bounds, races, the order that strong accesses make
// (PTX ISA 8), and warps that poll memory until it changes.
#pragma once

#include <functional>
#include <vector>

#include "isa/generic.hpp"
#include "sim/scene.hpp"

namespace wgrun::sim {

class Accesses {
  public:
    explicit Accesses(Scene& scene)
        : scene_(scene),
          report_(scene.report),
          clocks_(scene.clocks),
          release_acquire_(scene.release_acquire) {}

    void reset();

    void load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride);
    void store(isa::Space space, const isa::Addresses& address, int bytes, const void* data, int stride);
    void update(isa::Space space, const isa::Addresses& address, int bytes,
                const std::function<void(int, std::byte*)>& change);
    /// The bytes of global memory, a multiple of 16, have no value any more.
    void discard(const isa::Addresses& address, int bytes);
    void fence(const isa::MemoryOrder& order);
    /// fence.proxy.async. Mbarriers are announced elsewhere.
    void proxy_fence(std::optional<isa::Space> space);

    /// Calls move(pointer to the bytes, lane, CTA, offset) for each active lane whose access is legal. For
    /// global and local memory the CTA is null. align: of the addresses; 0: the number of bytes.
    template <class Move>
    void for_each_access(bool store, isa::Space space, const isa::Addresses& address, int bytes, Move move,
                         int align = 0);

    /// Returns whether a warp sleeps until global memory changes.
    bool polls_global() const;
    /// Returns what the last run did to global memory.
    GlobalTrace global_trace() const;

  private:
    /// Calls access(space, addresses within it) for each space that generic addresses of the active lanes
    /// point to, with these lanes active.
    template <class Access>
    void in_each_space(const isa::Addresses& generic, Access access);
    void read_boxes(const isa::Addresses& address);
    void check_overlap(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                       int stride);
    void store_there(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                     int stride);
    void update_there(isa::Space space, const isa::Addresses& address, int bytes,
                      const std::function<void(int, std::byte*)>& change);
    void beside_strong(const Scene::Actors& actors, int lane, Cta* cta, std::uint32_t offset,
                       const isa::Addresses& address, int bytes, bool writes);
    /// The step does not race with other strong steps of other clusters, if its scope includes these.
    void morally_strong(isa::Space space) {
        if (scene_.launch.detect_races && space == isa::Space::global &&
            scene_.code.ops[scene_.pc].order.scope >= isa::Scope::gpu)
            scene_.global_shadow.strong(scene_.pc, scene_.code.ops[scene_.pc].order.unit,
                                        scene_.code.ops[scene_.pc].order.scope == isa::Scope::sys);
    }
    std::uint64_t location(isa::Space space, std::uint64_t address) const;
    void strong_read(isa::Space space, const isa::Addresses& address);
    void strong_write(isa::Space space, const isa::Addresses& address, bool combines);
    bool put_off(isa::Space space);
    void poll(isa::Space space, std::uint64_t digest);

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    ReleaseAcquire& release_acquire_;
    /// Returns the bytes of local memory that start at `place`, at `offset` of a thread's own, which are read
    /// or written.
    std::byte* own_bytes(bool store, std::int64_t place, int bytes, std::int64_t offset);

    std::vector<std::byte> local_;     ///< the local memory of all threads
    std::vector<bool> local_written_;  ///< of each byte
};

template <class Move>
void Accesses::for_each_access(bool store, isa::Space space, const isa::Addresses& address, int bytes,
                               Move move, int align) {
    if (align == 0) align = bytes;
    for (isa::Mask left = scene_.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::uint64_t at = address[static_cast<std::size_t>(lane)];
        report_.lane(scene_.thread(lane));
        if ((at & static_cast<std::uint64_t>(align - 1)) != 0) {
            report_.misaligned(store, bytes, at, align);
        } else if (space == isa::Space::local) {
            const std::int64_t size = scene_.program.local_bytes();
            const auto offset = static_cast<std::int64_t>(at - isa::local_base);
            if (offset < 0 || offset > size - bytes)
                report_.local_out_of_bounds(store, bytes, offset);
            else
                move(own_bytes(store, scene_.thread(lane) * size + offset, bytes, offset), lane, nullptr, 0);
        } else if (space == isa::Space::param) {
            const std::byte* place = store ? nullptr : scene_.parameters().find(at, bytes);
            if (place == nullptr)
                report_.param_out_of_bounds(store, bytes, static_cast<std::int64_t>(at - isa::param_base),
                                            scene_.parameters().bytes());
            else  // only loads get here
                move(const_cast<std::byte*>(place), lane, nullptr, 0);
        } else if (space == isa::Space::global) {
            std::byte* place = scene_.global.find(at, bytes);
            if (std::byte* nowhere = place == nullptr ? scene_.nowhere(bytes) : nullptr)
                move(nowhere, lane, nullptr, 0);
            else if (place == nullptr)
                report_.global_out_of_bounds(store, bytes, scene_.global.describe(at, bytes));
            else if (store && scene_.global.constant(at))
                report_.constant_store(bytes, scene_.global.place(at));
            else {
                if (scene_.dependents.watches())
                    scene_.dependents.access(store, lane, place, at, static_cast<std::uint64_t>(bytes));
                move(place, lane, nullptr, 0);
            }
        } else {
            Cta* cta = space == isa::Space::shared_cluster ? scene_.peer(at, lane, true) : scene_.cta;
            if (cta == nullptr) continue;
            const std::uint32_t offset = static_cast<std::uint32_t>(at) - SharedMemory::base;
            const bool declared = cta->shared.declared(at, bytes);
            const Mbarrier* hit =
                at > UINT32_MAX ? nullptr : cta->mbarriers.touched(offset, static_cast<std::uint32_t>(bytes));
            if (hit != nullptr && (declared || offset >= hit->offset())) {
                report_.mbarrier_touched(offset, *hit, store ? "stores to" : "loads");
                continue;
            }
            if (!declared) {
                report_.shared_out_of_bounds(store, bytes, at, hit);
                continue;
            }
            move(cta->shared.at(static_cast<std::uint32_t>(at)), lane, cta, offset);
            if (cta != scene_.cta) scene_.expect_begun(*cta, lane);
        }
    }
}

}  // namespace wgrun::sim
