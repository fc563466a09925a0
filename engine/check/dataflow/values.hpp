// What is known of the values of registers: WG-REG-01, and what each step makes of them.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "check/dataflow/analysis.hpp"

namespace wgrun::check::dataflow {

class Values {
  public:
    explicit Values(Analysis& analysis);
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    isa::Value value_of(const Operand& operand) const;
    /// Reads the register as a guard or the condition of a branch.
    const Known& condition(Reg reg, bool negated, Where where);
    /// Reports a register that nothing has written.
    void read(Reg reg, Where where) {
        if (!of(reg)->written) unwritten(reg, where);
    }
    /// Reports the registers that the step reads and nothing has written.
    void read(const Step& step);
    /// Sets the destinations of the step, which read() has been called for.
    void write(const Step& step);
    const Known* of(Reg reg) const { return &analysis_.state.values[reg.id]; }

  private:
    void unwritten(Reg reg, Where where);
    Known result(const Step& step);
    bool is_zero(const Operand& operand) const;

    Analysis& analysis_;
    int fold_budget_ = 1 << 13;  ///< warps that may still be executed to fold values
    isa::ValueOf value_of_;
    std::function<const Known&(Reg)> known_;
    /// What steps made of their sources before. A loop is followed several times, and most of what its steps
    /// read is the same each time; of an inner loop, in every second turn.
    struct Before {
        std::vector<const Known*> sources;  ///< as Plan::sources()
        std::vector<const Known*> results;  ///< by number of the step; null: its sources are new
    };
    std::array<Before, 2> before_;
    std::vector<std::uint8_t> latest_;  ///< by number of the step: which of the two is of its last sources
};

}  // namespace wgrun::check::dataflow
