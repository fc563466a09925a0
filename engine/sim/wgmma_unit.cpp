#include "sim/wgmma_unit.hpp"

#include <algorithm>

#include "isa/registers.hpp"

namespace wgrun::sim {

using isa::Reg;

void WgmmaUnit::unwritten(Reg reg, isa::Mask missing) {
    Registers& registers = scene_.warp().registers;
    if (registers.state(reg).written == 0) registers.poison(reg);
    report_.lane(scene_.thread(std::countr_zero(missing)));
    report_.unwritten_register(reg);
}

void WgmmaUnit::in_flight(Registers& registers, const RegisterUse& state, bool write) {
    if (const std::uint32_t wait = registers.wait_without_commit(state); wait != no_pc)
        report_.wait_without_commit(state, wait, write);
    else
        report_.register_in_flight(state, write);
    registers.assume_waited(state.mma);
}

void WgmmaUnit::copy(const isa::Step& step, isa::Machine& machine) {
    Registers& registers = scene_.warp().registers;
    RegisterUse& from = registers.state(isa::copied(step));
    RegisterUse& to = registers.state(step.operands.front().reg);
    const RegisterUse been_through = from;
    from.mma = 0;
    step.op->run(step, machine);
    from = been_through;
    const isa::Mask written = to.written;
    to = been_through;
    to.written = written;
}

void WgmmaUnit::begin(const isa::AsyncMma& mma) {
    for (int w = 0; w < isa::warps_of_group; ++w) {
        select(w);
        Registers& registers = scene_.warp().registers;
        serial_ = registers.issue(scene_.pc);
        const auto use = [&](Reg reg, rules::MmaOperand part) {
            this->use(registers, registers.state(reg), mma, part);
        };
        for (Reg reg : *mma.accumulators) use(reg, rules::MmaOperand::accumulator);
        if (mma.a_fragment != nullptr)
            for (Reg reg : *mma.a_fragment) use(reg, rules::MmaOperand::fragment);
        if (mma.metadata != nullptr) use(mma.metadata->reg, rules::MmaOperand::metadata);
    }
}

// A wgmma uses a register. The access is ordered by a wgmma.fence since the last access, or, for an
// accumulator, if the last access was a wgmma of the same shape. Two wgmma that read the same fragment do not
// conflict. Metadata need no fence (docs/silicon.md).
void WgmmaUnit::use(Registers& registers, RegisterUse& state, const isa::AsyncMma& mma,
                    rules::MmaOperand part) {
    const bool accumulator = part == rules::MmaOperand::accumulator;
    const int purpose = accumulator ? mma.same_shape_key : RegisterUse::read_as_a;
    if (!accumulator && state.accumulator && registers.in_flight(state)) in_flight(registers, state, false);
    if (part != rules::MmaOperand::metadata && state.fence >= registers.fences() && state.last != purpose)
        report_.missing_fence(state, accumulator);
    state.fence = registers.fences();
    state.last = purpose;
    state.mma = serial_;
    state.mma_pc = scene_.pc;
    state.accumulator = accumulator;
}

const std::byte* WgmmaUnit::read_shared(std::uint32_t address, int bytes, unsigned warps) {
    const std::uint32_t offset = address - SharedMemory::base;
    const Mbarrier* hit = scene_.cta->mbarriers.touched(offset, static_cast<std::uint32_t>(bytes));
    const bool declared = scene_.cta->shared.declared(address, bytes);
    if (hit != nullptr && (declared || offset >= hit->offset()))
        report_.mbarrier_touched(offset, *hit, "reads");
    else if (!declared)
        report_.operand_out_of_bounds(address);
    if (!declared) {
        outside_.resize(std::max(outside_.size(), static_cast<std::size_t>(bytes)), std::byte{0xFF});
        return outside_.data();
    }
    if (scene_.launch.detect_races)
        scene_.cta->shadow.async_read({leader(), scene_.pc, serial_}, warps, clocks_, offset, bytes);
    return scene_.cta->shared.at(address);
}

const void* WgmmaUnit::read_async(Reg reg, isa::Mask read) {
    Registers& registers = scene_.warp().registers;
    const isa::Mask written = registers.state(reg).written;
    if (written == 0) registers.poison(reg);
    if ((read & ~written) != 0) report_.unwritten_register(reg);
    return registers.data(reg);
}

void* WgmmaUnit::write_async(Reg reg) {
    Registers& registers = scene_.warp().registers;
    registers.state(reg).written = UINT32_MAX;
    return registers.data(reg);
}

void WgmmaUnit::wait(int pending) {
    Registers& registers = scene_.warp().registers;
    registers.wait(pending, scene_.pc);
    clocks_.finish(scene_.current, leader(), registers.finished());
}

}  // namespace wgrun::sim
