// The registers of an abstract execution's warps: which lanes have a value that is known before a launch.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "check/abstract/execution_state.hpp"
#include "check/interned.hpp"

namespace wgrun::check::abstract {

class Values {
  public:
    explicit Values(const ExecutionState& execution);

    /// Returns the 32 lanes of a register of the current warp, and which of them are known.
    const void* read_some(Reg reg, isa::Mask& known) const;
    /// Returns the same; throws isa::Unknown unless all active lanes are known.
    const void* read(Reg reg) const;
    /// The active lanes get a known value, at the place that is returned.
    void* write(Reg reg);

    /// Returns the active lanes for which the guard or condition of `op` holds; nullopt unless it is known
    /// for all of them. The active lanes are those that run.
    std::optional<isa::Mask> condition(const Op& op) const;
    /// Returns whether everything that the step reads is known to the active lanes.
    bool sources_known(const Op& op) const;
    /// Marks the results of the step as unknown.
    void forget_results(const Op& op);
    /// Returns the addresses in shared memory that the operand gives to the active lanes; nothing unless all
    /// of them are known.
    std::optional<std::array<std::uint64_t, isa::lanes>> addresses(const Operand& operand) const;
    /// Returns the value of a register of 64 bits in the first active lane, if all active lanes are known.
    std::optional<std::uint64_t> first_of(Reg reg) const;

    /// The registers of a warp that are known, and by whom.
    const std::vector<isa::Mask>& known(int warp) const {
        return warps_[static_cast<std::size_t>(warp)].known;
    }
    /// The number that these lanes of a register have; nothing where they differ.
    std::optional<std::int64_t> of_all(int warp, std::size_t slot, isa::Mask lanes) const;
    const std::uint64_t* lanes_of(int warp, std::size_t slot) const {
        return warps_[static_cast<std::size_t>(warp)].at(slot);
    }
    /// These lanes of a register are greater by so much.
    void increase(int warp, std::size_t slot, isa::Mask lanes, std::int64_t by);

    /// Whether the register has more than 32 bits.
    bool is_wide(std::size_t slot) const { return wide_[slot]; }

    using Lanes = std::array<std::uint64_t, isa::lanes>;
    /// Of equal ones there is one, which lives as long as these values.
    struct Kept {
        Lanes lanes{};
        bool operator==(const Kept&) const = default;
        friend std::size_t hash_of(const Kept& kept) {
            Hash out;
            for (const std::uint64_t lane : kept.lanes) out.with(lane);
            return out.value();
        }
    };
    const Kept* keep(const Lanes& lanes) const { return kept_.the({lanes}); }
    /// What is known, which is a part of all registers.
    struct Known {
        std::vector<std::vector<isa::Mask>> lanes;  ///< by warp and slot
        std::vector<const Kept*> data;              ///< of the slots with such lanes
    };
    /// Of those lanes of a slot, by warp, for which there is a reader.
    Known save(const std::function<isa::Mask(std::size_t warp, std::size_t slot)>& readers) const;
    void restore(const Known& saved);

  private:
    struct Registers {
        explicit Registers(std::size_t registers) : data(registers), known(registers) {}
        std::uint64_t* at(std::size_t slot) { return data[slot].data(); }
        const std::uint64_t* at(std::size_t slot) const { return data[slot].data(); }
        std::vector<Lanes> data;       ///< of registers of which nothing is known: anything
        std::vector<isa::Mask> known;  ///< the lanes of each register whose value is known
    };
    int slot(Reg reg) const { return execution_.skeleton.slots[reg.id]; }
    const Registers& own() const { return warps_[static_cast<std::size_t>(execution_.warp->number)]; }
    Registers& own() { return warps_[static_cast<std::size_t>(execution_.warp->number)]; }

    const ExecutionState& execution_;
    std::vector<Registers> warps_;
    std::vector<bool> wide_;  ///< by slot
    const Lanes nothing_{};   ///< read where nothing is known
    mutable Interned<Kept> kept_;
};

}  // namespace wgrun::check::abstract
