// Registers whose values all come from steps of one kind, whatever way the program takes.
#pragma once

#include <vector>

#include "isa/registers.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

class OnlyFrom {
  public:
    /// gives(step, elsewhere): whether the results of the step are of the kind, where those registers hold
    /// other values. It says so of fewer steps, the more there are.
    template <class Gives>
    OnlyFrom(const Program& program, Gives gives) : elsewhere_(program.registers().size()) {
        for (bool grew = true; grew;) {
            grew = false;
            for_each_step(program, [&](const Step& step) {
                if (gives(step, elsewhere_)) return;
                isa::for_each_written(step, [&](isa::Reg reg) {
                    grew |= !elsewhere_[reg.id];
                    elsewhere_[reg.id] = true;
                });
            });
        }
    }
    bool has(isa::Reg reg) const { return !elsewhere_[reg.id]; }

  private:
    std::vector<bool> elsewhere_;  ///< by register
};

}  // namespace wgrun::check
