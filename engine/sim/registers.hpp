// The registers of one warp, and the state of each: which lanes were written, and which asynchronous wgmma
// may still use it (PTX ISA 9.7.15.7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "isa/warp.hpp"
#include "machine/groups.hpp"
#include "memory/pages.hpp"
#include "sim/code.hpp"

namespace wgrun::sim {

/// The last accesses of a register. All zeros: there were none.
struct RegisterUse {
    /// Values that are no shape key: the register was accessed by a step, or read as a fragment of A.
    static constexpr int touched = 0, read_as_a = -1;

    isa::Mask written;       ///< lanes that have a value
    std::uint32_t fence;     ///< number of wgmma.fence that the warp had executed at the last access
    std::uint32_t accessed;  ///< pc + 1 of the last access by a step; 0: none
    int last;                ///< `touched`, or the shape key of the wgmma that accumulated into it
    std::uint32_t mma;       ///< serial of the last wgmma that uses it; 0: none
    std::uint32_t mma_pc;
    bool accumulator;  ///< whether that wgmma uses it as an accumulator
};

class Registers {
  public:
    /// Where a group comes from: its last wgmma, and the commit_group.
    struct Closed {
        std::uint32_t mma_pc, commit_pc;
    };

    /// They have no values before reset(). data: code.register_bytes.
    Registers(const Code& code, std::byte* data);

    /// Sets all registers to unwritten.
    void reset();
    /// Gives a register that nothing has written the value of such: every bit is 1, which is a NaN in all
    /// formats. It is done when the register is first accessed, since many never are.
    void poison(isa::Reg reg);

    /// Returns the 32 lanes of a register.
    std::byte* data(isa::Reg reg) { return data_ + offsets_[reg.id]; }
    std::span<const std::byte> all() const { return {data_, bytes_}; }
    RegisterUse& state(isa::Reg reg) { return states_[reg.id]; }

    /// Returns whether the last wgmma that uses the register may still run.
    bool in_flight(const RegisterUse& state) const { return state.mma > finished_; }

    void order() { ++fences_; }
    std::uint32_t fences() const { return fences_; }

    /// The groups of the warp: issue counts a wgmma and returns its serial, commit closes a group, and wait
    /// leaves `pending` groups running.
    std::uint32_t issue(std::uint32_t pc) {
        last_issued_pc_ = pc;
        return groups_.issue();
    }
    void commit(std::uint32_t pc);
    void wait(int pending, std::uint32_t pc);
    /// Continues as if the wgmma of this serial had been waited for, so that one fault gives one finding.
    void assume_waited(std::uint32_t serial);
    /// Returns the last wait_group after the wgmma that uses the register, if no commit_group closes that
    /// wgmma; else no_pc.
    std::uint32_t wait_without_commit(const RegisterUse& state) const {
        return state.mma > committed_ && state.mma <= waited_ ? wait_pc_ : no_pc;
    }
    /// Returns the serial up to which wgmma are complete.
    std::uint32_t finished() const { return finished_; }
    /// Returns the step of the last wgmma that no commit_group has closed, or no_pc.
    std::uint32_t uncommitted() const { return groups_.issued() > committed_ ? last_issued_pc_ : no_pc; }
    /// Calls f(where it comes from) for each committed group that still runs and is not empty.
    template <class F>
    void for_each_running(F f) const {
        std::uint32_t before = finished_;
        for (const auto& group : groups_.running())
            if (group.last > std::exchange(before, group.last)) f(group.note);
    }

  private:
    void finish(std::uint32_t last);

    /// A warp waits as a whole: one lane stands for all.
    static constexpr int whole = 0;

    const std::vector<std::uint32_t>& offsets_;
    std::size_t bytes_;
    std::byte* data_;
    /// Of a kernel whose warps have roles, a warp uses the registers of its own: pages of others are never
    /// touched.
    std::optional<memory::Pages> state_data_;
    RegisterUse* states_ = nullptr;  ///< in them
    machine::Groups<Closed> groups_;
    std::uint32_t fences_ = 0, committed_ = 0, finished_ = 0;
    std::uint32_t waited_ = 0;  ///< serial of the last wgmma before the last wait_group
    std::uint32_t last_issued_pc_ = no_pc, wait_pc_ = no_pc;
};

}  // namespace wgrun::sim
