// What the checker must know of a program before it follows its paths.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/check.hpp"
#include "check/outline.hpp"
#include "check/state.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// A set of registers that wgmma access, by slot.
class Slots {
  public:
    void add(int slot) {
        const auto word = static_cast<std::size_t>(slot) / 64;
        if (word >= words_.size()) words_.resize(word + 1);
        words_[word] |= std::uint64_t{1} << slot % 64;
    }
    bool has(int slot) const {
        const auto word = static_cast<std::size_t>(slot) / 64;
        return word < words_.size() && (words_[word] >> slot % 64 & 1) != 0;
    }
    bool meets(const Slots& other) const {
        const std::size_t words = std::min(words_.size(), other.words_.size());
        for (std::size_t i = 0; i < words; ++i)
            if ((words_[i] & other.words_[i]) != 0) return true;
        return false;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// The registers of a wgmma.
struct MmaRegisters {
    Slots accumulators, sources;  ///< sources: the A fragment and the metadata
    int metadata = -1;            ///< slot
    /// The slots as the wgmma names them: accumulators, the fragment, metadata.
    std::vector<int> in_order;
    std::size_t first_of_fragment = 0, end_of_fragment = 0;
    std::span<const int> accumulator_slots() const { return {in_order.data(), first_of_fragment}; }
    std::span<const int> fragment_slots() const {
        return {in_order.data() + first_of_fragment, end_of_fragment - first_of_fragment};
    }
    std::span<const int> source_slots() const { return std::span(in_order).subspan(first_of_fragment); }

    /// Returns the register's part in the wgmma, if it has one.
    std::optional<MmaOperand> part(int slot) const {
        if (accumulators.has(slot)) return MmaOperand::accumulator;
        if (!sources.has(slot)) return {};
        return slot == metadata ? MmaOperand::metadata : MmaOperand::fragment;
    }
};

/// What a step accesses. A step is followed many times: this is found once.
struct StepUses {
    std::uint32_t first_source = 0, sources = 0;  ///< registers that its threads read, besides the guard
    std::uint32_t first_result = 0, results = 0;  ///< registers that it writes
    std::uint32_t first_touch = 0, touches = 0;   ///< registers of some wgmma that its threads access
    bool later = false;                           ///< a wgmma writes its results, after the step
    bool pinned = false;                          ///< isa::pinned()
    bool plain = false;  ///< all that it does is to write its results, in each thread by itself
    Roots params = 0;    ///< those that it reads
    const Operand* membermask = nullptr;
};

/// An access of a thread to a register that a wgmma accesses somewhere in the program.
struct Touch {
    int slot;
    bool writes;
    bool waits = true;   ///< wgmma that access it must have been waited for
    bool counts = true;  ///< a wgmma.fence must come between it and a wgmma
    int from = -1;       ///< a copy of what this slot holds: what that has been through counts instead
    std::size_t index() const { return static_cast<std::size_t>(slot); }
};

struct Plan {
    Plan(const Outline& outline, Made made);

    const Outline outline;
    const flow::Graph& graph;
    const flow::Loop& loop(int index) const { return graph.loops()[static_cast<std::size_t>(index)]; }
    /// A block, or a whole loop.
    struct Place {
        BlockId block;
        int loop = flow::no_loop;
    };
    /// The blocks and inner loops directly in a loop, or (no_loop) in the kernel; each after all its
    /// predecessors, except along back edges to the loop's header.
    const std::vector<Place>& region(int loop) const { return regions_[static_cast<std::size_t>(loop + 1)]; }
    /// Returns the block at whose end every iteration of the loop decides whether there is another; no_block:
    /// there is none.
    BlockId decides(int loop) const { return decides_[static_cast<std::size_t>(loop)]; }
    /// Returns the block at which the decision at the end of `block` is over.
    BlockId joins(BlockId block) const { return joins_[block]; }

    /// Decisions of branches, by block; of loops, by the label of the header; of guarded steps. Their inputs
    /// are not known yet.
    std::unordered_map<const void*, Decision> decisions;
    /// Registers that a wgmma accesses asynchronously, and those that are copied into them (find_copies):
    /// Reg::id -> 0, 1, ...; -1 for the others.
    std::vector<int> slots;
    int slot_count = 0;
    std::unordered_map<const Step*, MmaRegisters> mmas;
    const StepUses& uses(std::size_t number) const { return uses_[number]; }
    std::span<const Reg> sources(const StepUses& of) const { return {&used_[of.first_source], of.sources}; }
    std::span<const Reg> results(const StepUses& of) const { return {&used_[of.first_result], of.results}; }
    std::span<const Touch> touches(const StepUses& of) const {
        return {touched_.data() + of.first_touch, of.touches};
    }
    /// The registers that are read after the beginning of the block, before anything else is written there.
    const RegisterSet& live(BlockId block) const { return live_[block]; }
    std::size_t used_count() const { return used_.size(); }
    /// Register lists of steps that are accessed by a wgmma and not by its threads.
    std::unordered_set<const std::vector<Reg>*> async_lists;
    std::unordered_set<const Operand*> async_registers;  ///< single registers, likewise
    bool is_async(const Operand& operand) const {
        if (operand.kind == Operand::Kind::list) return async_lists.contains(&operand.list);
        return operand.kind == Operand::Kind::reg && async_registers.contains(&operand);
    }

  private:
    void find_regions();
    void find_deciders();
    void find_joins(const std::vector<BasicBlock>& blocks);
    void number(const std::vector<BasicBlock>& blocks);
    void find_uses(const Step& step, std::size_t number);
    void find_live(std::size_t registers);
    void find_copies();

    std::vector<std::vector<Place>> regions_;
    std::vector<BlockId> decides_;   ///< by loop
    std::vector<BlockId> joins_;     ///< by block
    std::vector<StepUses> uses_;     ///< by number
    std::vector<Reg> used_;          ///< the registers of all steps
    std::vector<Touch> touched_;     ///< likewise
    std::vector<RegisterSet> live_;  ///< by block
    bool copies_count_ = true;       ///< as accesses
    std::vector<bool> copied_only_;  ///< by slot: no wgmma accesses it, but one accesses a copy of it
    /// Registers that stand for an accumulator, whose copy they are: Reg::id -> its slot.
    std::unordered_map<std::uint32_t, int> other_names_;
};

}  // namespace wgrun::check
