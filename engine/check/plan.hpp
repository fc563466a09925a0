// What the checker has to know of a program before it walks along its paths.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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

    /// What the register is to the wgmma, if it is anything.
    std::optional<Part> part(int slot) const {
        if (accumulators.has(slot)) return Part::accumulator;
        if (!sources.has(slot)) return {};
        return slot == metadata ? Part::metadata : Part::fragment;
    }
};

/// The blocks of a construct: those of a loop up to `condition` are its head.
struct Construct {
    BlockId condition = no_block, next = no_block, otherwise = no_block, after = no_block;
};

struct Plan {
    explicit Plan(const Program& program);

    /// Of every branch, by its block; of loops, by their first one's label; of guarded steps. The inputs are
    /// not known yet.
    std::unordered_map<const void*, Decision> decisions;
    std::vector<Construct> constructs;  ///< by number
    /// Registers that a wgmma accesses asynchronously: Reg::id -> 0, 1, ...; -1 for the others.
    std::vector<int> slots;
    int slot_count = 0;
    std::unordered_map<const Step*, MmaRegisters> mmas;
    std::int64_t step_count = 0;
    /// Register lists, as they stand in steps, that a wgmma accesses and not its threads.
    std::unordered_set<const std::vector<Reg>*> async_lists;
    std::unordered_set<const Operand*> async_registers;  ///< single ones likewise
    bool is_async(const Operand& operand) const {
        return async_lists.contains(&operand.list) || async_registers.contains(&operand);
    }

  private:
    void scan(const std::vector<BasicBlock>& blocks);
};

}  // namespace wgrun::check
