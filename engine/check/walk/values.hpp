// What is known of the values of registers: WG-REG-01, and what each step makes of them.
#pragma once

#include <functional>

#include "check/walk/scene.hpp"

namespace wgrun::check::walk {

class Values {
  public:
    explicit Values(Scene& scene);
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    isa::Value value_of(const Operand& operand) const;
    /// Reads the register as a guard or the condition of a branch.
    Known condition(Reg reg, bool negated, Where where);
    /// Reports a register that nothing has written.
    void read(Reg reg, Where where);
    /// Sets the destinations of the step.
    void write(const Step& step);

  private:
    Known result(const Step& step);

    Scene& scene_;
    int fold_budget_ = 1 << 13;  ///< warps that may still be executed to fold values
    isa::ValueOf value_of_;
    std::function<const Known&(Reg)> known_;
};

}  // namespace wgrun::check::walk
