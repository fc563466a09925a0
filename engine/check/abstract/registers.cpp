#include "check/abstract/registers.hpp"

#include <bit>

namespace wgrun::check::abstract {

isa::Mask readers(const Live& live, const Warp& warp, std::size_t slot) {
    if (warp.state == Warp::State::ended) return 0;
    isa::Mask out = live(warp.pc, slot) ? warp.running : 0;
    for (const flow::Divergence::Group& group : warp.parted.groups())
        if (live(group.next, slot)) out |= group.lanes;
    return out & warp.all;
}

std::vector<Register> live_registers(const ExecutionState& execution, const Values& values, const Live& live,
                                     const Mbarriers& mbarriers, Forms& forms) {
    std::vector<Register> out;
    const std::vector<int>& slots = execution.skeleton.slots;
    for (std::uint32_t warp = 0; warp < execution.warps.size(); ++warp) {
        const std::vector<isa::Mask>& known = values.known(static_cast<int>(warp));
        for (std::size_t id = 0; id < slots.size(); ++id) {
            if (slots[id] < 0) continue;
            const auto slot = static_cast<std::size_t>(slots[id]);
            const isa::Mask lanes = known[slot] & readers(live, execution.warps[warp], slot);
            if (lanes == 0) continue;
            const std::uint64_t* data = values.lanes_of(static_cast<int>(warp), slot);
            const bool wide = values.is_wide(slot);
            Values::Lanes numbers{};
            for (std::size_t lane = 0; lane < numbers.size(); ++lane)
                numbers[lane] = wide ? mbarriers.aged(data[lane], execution.warps[warp].cta)
                                     : static_cast<std::uint64_t>(
                                           std::int64_t{reinterpret_cast<const std::int32_t*>(data)[lane]});
            Register& at = out.emplace_back(Register{warp, static_cast<std::uint32_t>(slot), lanes,
                                                     Numbers(values.keep(numbers)),
                                                     forms.slot(static_cast<int>(warp), slot)});
            at.form.lanes &= lanes;
            if (at.form.lanes == 0 || (at.form.form.empty() && !at.form.cyclic)) at.form = {};
        }
    }
    for (const auto& [place, number] : forms.shown()) {
        Register& at = out.emplace_back(Register{
            static_cast<std::uint32_t>(execution.warps.size()) + static_cast<std::uint32_t>(place.first),
            place.second,
            1,
            Numbers(values.keep({static_cast<std::uint64_t>(number.value)})),
            {}});
        if (!number.form.empty()) at.form = {number.form, 1};
    }
    return out;
}

}  // namespace wgrun::check::abstract
