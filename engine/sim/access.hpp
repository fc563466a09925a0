// The places in memory that the lanes of a step access.
#pragma once

#include <bit>

#include "isa/warp.hpp"
#include "sim/cluster.hpp"

namespace wgrun::sim {

/// Calls move(pointer to the bytes, lane, CTA, offset) for each active lane whose access is legal. For global
/// memory the CTA is null.
template <class Move>
void Cluster::for_each_access(bool store, isa::Space space, const isa::Addresses& address, int bytes,
                              Move move) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::uint64_t at = address[static_cast<std::size_t>(lane)];
        report_.lane(current_ * isa::lanes + lane);
        if ((at & static_cast<std::uint64_t>(bytes - 1)) != 0) {
            report_.misaligned(store, bytes, at);
        } else if (space == isa::Space::global) {
            std::byte* place = global_.find(at, bytes);
            if (place == nullptr)
                report_.global_out_of_bounds(store, bytes, global_.describe(at, bytes));
            else if (store && global_.constant(at))
                report_.constant_store(bytes, global_.place(at));
            else
                move(place, lane, nullptr, 0);
        } else {
            Cta* cta = space == isa::Space::shared_cluster ? peer(at, lane, true) : cta_;
            if (cta == nullptr) continue;
            if (!cta->shared.declared(at, bytes)) {
                report_.shared_out_of_bounds(store, bytes, at);
                continue;
            }
            const std::uint32_t offset = static_cast<std::uint32_t>(at) - SharedMemory::base;
            if (cta->mbarriers.touched(offset, static_cast<std::uint32_t>(bytes)) != nullptr) {
                report_.mbarrier_touched(offset, store ? "stores to" : "loads");
                continue;
            }
            move(cta->shared.at(static_cast<std::uint32_t>(at)), lane, cta, offset);
        }
    }
}

}  // namespace wgrun::sim
