// What the registers of a program hold where all that is not known is zero: in the first thread, of the first
// iteration. The address of a ring is that of its first stage there, and the address of a matrix that of its
// first part.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/value.hpp"
#include "isa/registers.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

class FirstValues {
  public:
    explicit FirstValues(const Program& program);

    /// Returns the first value that is written to the register. Shared memory begins at 0.
    std::int64_t of(Reg reg) const { return *known_[reg.id].exact.uniform(); }
    /// Returns that of an operand with one value or address; nothing for any other one.
    std::optional<std::int64_t> of(const Operand& operand) const;
    /// Returns whether it is computed from an address in shared memory.
    bool points(Reg reg) const { return written_[reg.id].points; }
    bool points(const Operand& operand) const {
        return operand.reg ? points(operand.reg) : operand.index >= 0;
    }
    /// Returns whether the register always holds that value.
    bool fixed(Reg reg) const { return written_[reg.id].fixed && written_[reg.id].steps.size() == 1; }
    /// Returns the steps that write the register.
    const std::vector<const Step*>& writers(Reg reg) const { return written_[reg.id].steps; }
    /// Returns the only one; null: there is none, or several.
    const Step* writer(Reg reg) const { return writers(reg).size() == 1 ? writers(reg).front() : nullptr; }
    /// Returns what the step writes if `reg` holds `value`; nothing if that depends on more than its sources.
    std::optional<std::int64_t> result(const Step& step, Reg reg, std::int64_t value) const;

  private:
    struct Written {
        bool fixed = false, points = false;
        std::vector<const Step*> steps;
    };
    void follow(const Step& step);

    const Program& program_;
    std::vector<check::Known> known_;
    std::vector<Written> written_;
};

}  // namespace wgrun
