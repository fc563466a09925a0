// What the checker has to know of a program before it walks along its paths.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/fact.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

struct Plan {
    explicit Plan(const Program& program);

    /// Of every branch, loop and guarded step, by address; the inputs are not known yet.
    std::unordered_map<const void*, Decision> decisions;
    /// Registers that a wgmma accesses asynchronously: Reg::id -> 0, 1, ...; -1 for the others.
    std::vector<int> slots;
    int slot_count = 0;
    std::int64_t step_count = 0;
    /// Register lists, as they stand in steps, that a wgmma accesses and not its threads.
    std::unordered_set<const std::vector<Reg>*> async_lists;
    std::unordered_set<const Operand*> async_registers;  ///< single ones likewise
    bool is_async(const Operand& operand) const {
        return async_lists.contains(&operand.list) || async_registers.contains(&operand);
    }

  private:
    void scan(const Block& block);
    int next_ = 1;
};

}  // namespace wgrun::check
