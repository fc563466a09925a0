#include "check/abstract/values.hpp"

#include <algorithm>
#include <bit>

#include "isa/machine.hpp"
#include "wgrun/target.hpp"

namespace wgrun::check::abstract {

using isa::lanes;

Values::Values(const ExecutionState& execution)
    : execution_(execution), wide_(static_cast<std::size_t>(execution.skeleton.slot_count)) {
    for (std::size_t id = 0; id < execution.skeleton.slots.size(); ++id)
        if (const int slot = execution.skeleton.slots[id]; slot >= 0)
            wide_[static_cast<std::size_t>(slot)] = isa::bits(execution.program.registers()[id].type) > 32;
    warps_.reserve(execution.warps.size());
    for (std::size_t i = 0; i < execution.warps.size(); ++i)
        warps_.emplace_back(static_cast<std::size_t>(execution.skeleton.slot_count));
}

void Values::increase(int warp, std::size_t slot, isa::Mask lanes, std::int64_t by) {
    std::uint64_t* data = warps_[static_cast<std::size_t>(warp)].at(slot);
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = std::countr_zero(lanes);
        if (wide_[slot])
            data[lane] += static_cast<std::uint64_t>(by);
        else
            reinterpret_cast<std::uint32_t*>(data)[lane] += static_cast<std::uint32_t>(by);
    }
}

std::optional<std::int64_t> Values::of_all(int warp, std::size_t slot, isa::Mask lanes) const {
    const std::uint64_t* data = lanes_of(warp, slot);
    std::optional<std::int64_t> out;
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = std::countr_zero(lanes);
        const std::int64_t its = wide_[slot] ? static_cast<std::int64_t>(data[lane])
                                             : reinterpret_cast<const std::int32_t*>(data)[lane];
        if (out.value_or(its) != its) return std::nullopt;
        out = its;
    }
    return out;
}

Values::Known Values::save(const std::function<isa::Mask(std::size_t, std::size_t)>& readers) const {
    Known out;
    for (std::size_t at = 0; at < warps_.size(); ++at) {
        const Registers& warp = warps_[at];
        std::vector<isa::Mask>& known = out.lanes.emplace_back(warp.known);
        for (std::size_t slot = 0; slot < known.size(); ++slot)
            if (known[slot] != 0 && (known[slot] &= readers(at, slot)) != 0)
                out.data.push_back(keep(warp.data[slot]));
    }
    return out;
}

void Values::restore(const Known& saved) {
    auto data = saved.data.begin();
    for (std::size_t at = 0; at < warps_.size(); ++at) {
        Registers& warp = warps_[at];
        warp.known = saved.lanes[at];
        for (std::size_t slot = 0; slot < warp.known.size(); ++slot)
            if (warp.known[slot] != 0) warp.data[slot] = (*data++)->lanes;
    }
}

const void* Values::read(Reg reg) const {
    isa::Mask known = 0;
    const void* data = read_some(reg, known);
    if ((execution_.active & ~known) != 0) throw isa::Unknown{};
    return data;
}

const void* Values::read_some(Reg reg, isa::Mask& known) const {
    const int at = slot(reg);
    known = at < 0 ? 0 : own().known[static_cast<std::size_t>(at)];
    return known == 0 ? nothing_.data() : own().at(static_cast<std::size_t>(at));
}

void* Values::write(Reg reg) {
    const auto at = static_cast<std::size_t>(slot(reg));
    if (own().known[at] == 0) std::fill_n(own().at(at), isa::lanes, 0);
    own().known[at] |= execution_.active;
    return own().at(at);
}

std::optional<isa::Mask> Values::condition(const Op& op) const {
    const auto at = static_cast<std::size_t>(slot(op.reg));
    const isa::Mask running = execution_.warp->running;
    if ((running & ~own().known[at]) != 0) return std::nullopt;
    const auto* bits = reinterpret_cast<const std::uint32_t*>(own().at(at));
    isa::Mask mask = 0;
    for (int l = 0; l < lanes; ++l) mask |= (bits[l] & 1U) << l;
    return (op.negated ? ~mask : mask) & running;
}

bool Values::sources_known(const Op& op) const {
    const auto known = [&](Reg reg) {
        return (execution_.active & ~own().known[static_cast<std::size_t>(slot(reg))]) == 0;
    };
    const Step& step = *op.step;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        // Nothing that is followed here comes of 128 bits.
        if (operand.reg && isa::bits(execution_.program.registers()[operand.reg.id].type) > 64) return false;
        if (step.op->operands[i].access == isa::Access::out) continue;
        if (operand.kind == Operand::Kind::list ? !std::ranges::all_of(operand.list, known)
                                                : operand.reg && !known(operand.reg))
            return false;
    }
    return true;
}

void Values::forget_results(const Op& op) {
    const Step& step = *op.step;
    const auto forget = [&](Reg reg) {
        if (const int at = slot(reg); at >= 0)
            own().known[static_cast<std::size_t>(at)] &= ~execution_.active;
    };
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::in) continue;
        if (step.operands[i].reg) forget(step.operands[i].reg);
        for (Reg reg : step.operands[i].list) forget(reg);
    }
}

std::optional<std::array<std::uint64_t, lanes>> Values::addresses(const Operand& operand) const {
    std::array<std::uint64_t, lanes> out{};
    if (operand.kind == Operand::Kind::shared || (!operand.reg && operand.index >= 0)) {
        out.fill(sm_90a.shared_base +
                 static_cast<std::uint64_t>(
                     execution_.program.shared()[static_cast<std::size_t>(operand.index)].offset));
    } else if (operand.reg) {
        isa::Mask known = 0;
        const void* data = read_some(operand.reg, known);
        if ((execution_.active & ~known) != 0) return std::nullopt;
        const bool wide = isa::bits(execution_.program.registers()[operand.reg.id].type) > 32;
        for (std::size_t lane = 0; lane < out.size(); ++lane)
            out[lane] = wide ? static_cast<const std::uint64_t*>(data)[lane]
                             : static_cast<const std::uint32_t*>(data)[lane];
    }
    for (std::uint64_t& address : out) address += static_cast<std::uint64_t>(operand.offset);
    return out;
}

std::optional<std::uint64_t> Values::first_of(Reg reg) const {
    const auto at = static_cast<std::size_t>(slot(reg));
    if ((execution_.active & ~own().known[at]) != 0) return std::nullopt;
    return own().at(at)[std::countr_zero(execution_.active)];
}

}  // namespace wgrun::check::abstract
