// st.async and red.async: an mbarrier counts their bytes, as it does those of a bulk copy, but they are
// written through the generic proxy.
#include <fmt/format.h>

#include "rules/mbarrier_words.hpp"
#include "sim/bulk_engine.hpp"

namespace wgrun::sim {

void BulkEngine::store_async(const isa::AsyncStore& store, const isa::Addresses& to,
                             const isa::Addresses& mbarriers, const void* data, int stride) {
    sends();
    for (isa::Mask left = scene_.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto l = static_cast<std::size_t>(lane);
        std::uint64_t at = to[l];
        report_.at(scene_.pc, scene_.thread(lane));
        if (at % static_cast<std::uint64_t>(store.bytes) != 0) {
            report_.misaligned(true, store.bytes, at);
            continue;
        }
        Cta* cta = scene_.peer(at, lane, false);
        if (cta == nullptr) continue;
        const auto bytes = static_cast<std::uint32_t>(store.bytes);
        if (!check_shared_side(*cta, at, bytes, bytes)) continue;
        const Mbarriers::Found found =
            mbarriers_.count(*cta, mbarriers[l], Mbarriers::User::async_store, lane);
        if (found.object == nullptr) continue;
        Copy copy{};
        copy.direction = isa::BulkCopy::Direction::to_cluster;
        copy.reduction = store.reduction;
        copy.type = store.type;
        copy.pc = scene_.pc;
        copy.issuer = scene_.thread(lane);
        copy.bytes = copy.span = bytes;
        copy.shared = static_cast<std::uint32_t>(at);
        const auto* value = static_cast<const std::byte*>(data) + lane * stride;
        copy.read.assign(value, value + bytes);
        if (scene_.launch.detect_races) {
            const std::uint32_t offset = copy.shared - SharedMemory::base;
            const Epoch epoch(found.object->next(), scene_.pc, mbarriers_.generic_actor(*cta, *found.object),
                              lane, true);
            const Actor actor = scene_.actor(lane);
            if (store.reduction != isa::BulkCopy::Reduction::none)
                cta->shadow.load(actor, lane, offset, store.bytes);
            cta->shadow.write_later(actor, epoch, offset, bytes);
            cta->owe(epoch);
        }
        count_for(found, std::move(copy));
    }
}

}  // namespace wgrun::sim
