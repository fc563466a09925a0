// st.async and red.async: an mbarrier counts their bytes, as it does those of a bulk copy, but they are
// written through the generic proxy.
#include <fmt/format.h>

#include "rules/mbarrier_words.hpp"
#include "sim/access.hpp"

namespace wgrun::sim {

using isa::lanes;

void Cluster::store_async(const isa::AsyncStore& store, const isa::Addresses& to,
                          const isa::Addresses& mbarriers, const void* data, int stride) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto l = static_cast<std::size_t>(lane);
        std::uint64_t at = to[l];
        report_.at(pc_, current_ * lanes + lane);
        if (at % static_cast<std::uint64_t>(store.bytes) != 0) {
            report_.misaligned(true, store.bytes, at);
            continue;
        }
        Cta* cta = peer(at, lane, false);
        if (cta == nullptr) continue;
        const auto bytes = static_cast<std::uint32_t>(store.bytes);
        if (!check_shared_side(*cta, at, bytes, bytes)) continue;
        const Found found = find_mbarrier(mbarriers[l], User::async_store, lane);
        if (found.mbarrier == nullptr) continue;
        if (found.cta != cta) {
            report_.fault(rules::mbarrier_apart_from_bytes());
            continue;
        }
        Copy copy{};
        copy.direction = isa::BulkCopy::Direction::to_cluster;
        copy.reduction = store.reduction;
        copy.type = store.type;
        copy.pc = pc_;
        copy.issuer = current_ * lanes + lane;
        copy.bytes = copy.span = bytes;
        copy.shared = static_cast<std::uint32_t>(at);
        const auto* value = static_cast<const std::byte*>(data) + lane * stride;
        copy.read.assign(value, value + bytes);
        check_phase_known(*found.mbarrier, lane, "stores for");
        if (launch_.detect_races) {
            const std::uint32_t offset = copy.shared - SharedMemory::base;
            const Epoch epoch(found.mbarrier->next(), pc_, generic_actor(*cta, *found.mbarrier), lane, true);
            const Actor actor = this->actor(lane);
            if (store.reduction != isa::BulkCopy::Reduction::none)
                cta->shadow.load(actor, lane, offset, store.bytes);
            cta->shadow.write_later(actor, epoch, offset, bytes);
            cta->owe(epoch);
        }
        count_for(found, std::move(copy));
    }
}

}  // namespace wgrun::sim
