// The registers that a thread needs: an estimate of what the assembler will report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/outline.hpp"

namespace wgrun::check {

/// A set of registers in which time goes by the number of its members, not by that of all registers.
class LiveSet {
  public:
    explicit LiveSet(std::size_t registers) : place_(registers) {}

    const std::vector<Reg>& members() const { return members_; }  ///< in no order
    bool has(Reg reg) const { return place_[reg.id] < members_.size() && members_[place_[reg.id]] == reg; }
    /// Each returns whether that changes the set.
    bool add(Reg reg) {
        if (has(reg)) return false;
        place_[reg.id] = static_cast<std::uint32_t>(members_.size());
        members_.push_back(reg);
        return true;
    }
    bool remove(Reg reg) {
        if (!has(reg)) return false;
        const Reg last = members_.back();
        members_[place_[reg.id]] = last;
        place_[last.id] = place_[reg.id];
        members_.pop_back();
        return true;
    }

    void clear() { members_.clear(); }
    /// Returns the members, and has none then.
    std::vector<Reg> take() { return std::exchange(members_, {}); }
    /// Compares with a list in which each register stands once.
    bool operator==(const std::vector<Reg>& list) const {
        return list.size() == members_.size() &&
               std::all_of(list.begin(), list.end(), [&](Reg reg) { return has(reg); });
    }

  private:
    std::vector<Reg> members_;
    std::vector<std::uint32_t> place_;  ///< by register: where it is among the members, if it is one
};

/// Registers without which no ptxas takes a wgmma, whatever else is alive (C7602, C7600): its own and 26
/// (docs/ptxas.md). 0: the step is none.
int least_registers(const Step& step);

/// The values that are live at each step, in 32-bit registers: those that are read later or accessed by a
/// wgmma in flight, and that have been written on some path to the step. What the assembler can avoid does
/// not count: predicates have their own registers, values equal in all threads of the grid are kept in
/// uniform registers or the constant bank, and a value that depends on one other value alone is recomputed on
/// demand. The estimate is therefore a lower one; docs/ptxas.md compares it with ptxas.
class Pressure {
  public:
    explicit Pressure(const Outline& outline);

    /// Returns the registers live at a wgmma step; 0 for others.
    int at(const Step* step) const {
        const auto found = needs_.find(step);
        return found != needs_.end() ? found->second : 0;
    }
    /// Returns the most registers that are live anywhere.
    int most() const { return most_; }

  private:
    using Set = std::vector<Reg>;  ///< each once, in no order
    /// What a step does to the values that are live. It is gone over several times: this is found once.
    struct Turn {
        std::uint32_t first = 0;                 ///< of its registers, in turned_, which are:
        std::uint32_t gets = 0;                  ///< those that it gives new values,
        std::uint32_t reads = 0;                 ///< those whose values it needs,
        std::uint32_t born = 0;                  ///< those that have no value above it
        bool guarded = false;                    ///< it may leave the old values
        int operands = 0;                        ///< of a wgmma: its registers
        const std::vector<Reg>* held = nullptr;  ///< of a wait: registers of wgmma in flight
    };
    void weigh();
    void forward(BlockId block);
    void forward(const Step& step, const flow::Loop* loop);
    void backward();
    void backward(BlockId block);
    void backward(const Step& step, const Turn& turn);
    /// Returns the outermost loop around the block; null: none.
    const flow::Loop* loop_around(BlockId block) const;
    void begin(Reg reg);  ///< it is live above this point
    void end(Reg reg);    ///< it is not live above this point
    void end_born(const flow::Loop* loop);
    void meet(const Set& other);
    void become(const Set& other);

    const Outline outline_;
    std::vector<std::uint8_t> weights_;  ///< by register: 0, 1 or 2
    std::vector<Reg> sources_;           ///< the register needed while this one is, to recompute it
    LiveSet live_;
    LiveSet kept_;               ///< of become() alone
    std::vector<Set> alive_;     ///< by block: at its beginning
    std::vector<Set> entering_;  ///< by block: on paths into the outermost loop that begins there
    int count_ = 0;              ///< 32-bit registers of live_
    int most_ = 0;
    std::unordered_map<const Step*, int> needs_;
    std::vector<Turn> turns_;  ///< by number of the step
    std::vector<Reg> turned_;
    std::vector<bool> born_anywhere_;  ///< by register: the place is known above which it has no value
    std::unordered_map<const flow::Loop*, std::vector<Reg>> born_;
    /// The registers that wgmma in flight access, by the wait that they are in flight at.
    std::unordered_map<const Step*, std::vector<Reg>> read_until_;

    // State of forward(): the registers accessed by wgmma in flight, by group; the last group is uncommitted.
    std::vector<std::vector<Reg>> groups_{1};
};

}  // namespace wgrun::check
