// The registers of a simulation's warps, as steps and as wgmma use them: what is unwritten, in flight or
// unordered (PTX ISA 9.7.15.7). What wgmma reads of shared memory, and its groups.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "isa/effects.hpp"
#include "rules/wgmma_words.hpp"
#include "sim/descriptors.hpp"
#include "sim/scene.hpp"

namespace wgrun::sim {

class WgmmaUnit {
  public:
    explicit WgmmaUnit(Scene& scene)
        : scene_(scene), report_(scene.report), clocks_(scene.clocks), descriptors_(scene.program) {}

    // Registers of the current warp.
    const void* read(isa::Reg reg) {
        Registers& registers = scene_.warp().registers;
        RegisterUse& state = registers.state(reg);
        touch(registers, state, false);
        if (const isa::Mask missing = scene_.active & ~state.written) unwritten(reg, missing);
        return registers.data(reg);
    }
    void* write(isa::Reg reg) {
        Registers& registers = scene_.warp().registers;
        RegisterUse& state = registers.state(reg);
        touch(registers, state, true);
        if (state.written == 0) registers.poison(reg);
        state.written |= scene_.active;
        return registers.data(reg);
    }

    /// Runs a step that copies a register, which a compiler has done: the copy is not an access, and has been
    /// through what the register has (check/copies.hpp).
    void copy(const isa::Step& step, isa::Machine& machine);

    // wgmma
    void order_registers() { scene_.warp().registers.order(); }
    /// Makes a warp of the current warpgroup the current one, 0 to 3.
    void select(int warp_of_group) {
        scene_.current = leader() + warp_of_group;
        scene_.active = scene_.warp().active;
    }
    void begin(const isa::AsyncMma& mma);
    bool describe(const isa::AsyncMma& mma, char name, std::uint64_t descriptor) {
        return descriptors_.judge(report_, scene_.pc, mma, name, descriptor);
    }
    const std::byte* read_shared(std::uint32_t address, int bytes, unsigned warps);
    const void* read_async(isa::Reg reg, isa::Mask read);
    void* write_async(isa::Reg reg);
    void commit() { scene_.warp().registers.commit(scene_.pc); }
    void wait(int pending);

  private:
    void touch(Registers& registers, RegisterUse& state, bool write) {
        if (registers.in_flight(state)) in_flight(registers, state, write);
        state.fence = registers.fences();
        state.accessed = scene_.pc + 1;
        state.last = RegisterUse::touched;
    }
    void unwritten(isa::Reg reg, isa::Mask missing);
    void in_flight(Registers& registers, const RegisterUse& state, bool write);
    void use(Registers& registers, RegisterUse& state, const isa::AsyncMma& mma, rules::MmaOperand part);
    /// The first warp of the current warpgroup, in the cluster.
    int leader() const { return scene_.cta->first + scene_.local() / 4 * 4; }

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    Descriptors descriptors_;
    std::uint32_t serial_ = 0;        ///< of the current wgmma
    std::vector<std::byte> outside_;  ///< the bytes that a read outside every buffer returns
};

}  // namespace wgrun::sim
