#include "sim/fixed_values.hpp"

#include <algorithm>

#include "isa/effects.hpp"
#include "isa/parameter_read.hpp"
#include "isa/registers.hpp"
#include "isa/value.hpp"

namespace wgrun::sim {

using isa::Operand;
using isa::Step;

namespace {

/// The one access to memory that a step makes; null: it makes none, or does something else besides.
class Stores final : public isa::Effects {
  public:
    explicit Stores(const Step& step) {
        isa::visit_effects(step, *this);
        if (step.op->atomic || changes_) address_ = nullptr;
    }
    const Operand* address() const { return address_; }

  private:
    void memory(const isa::MemoryAccess& access) override {
        if (access.write) address_ = access.address;
    }
    void change_map() override { changes_ = true; }

    const Operand* address_ = nullptr;
    bool changes_ = false;  // a part of what is there
};

}  // namespace

// A register that several steps write holds what the way has decided, which data may have.
FixedValues::FixedValues(const Program& program) : fixed_(program.registers().size()) {
    std::vector<int> writers(fixed_.size());
    for_each_step(program, [&](const Step& step) {
        isa::for_each_written(step, [&](isa::Reg reg) { ++writers[reg.id]; });
    });
    for (bool grew = true; grew;) {
        grew = false;
        for_each_step(program, [&](const Step& step) {
            if (!computes(step)) return;
            isa::for_each_written(step, [&](isa::Reg reg) {
                if (fixed_[reg.id] || writers[reg.id] != 1) return;
                fixed_[reg.id] = grew = true;
            });
        });
    }
}

bool FixedValues::fixed(const Operand& operand) const {
    bool all = true;
    isa::for_each_register(operand, [&](isa::Reg reg) { all &= fixed_[reg.id]; });
    return all;
}

/// Are the results of the step the same in all executions, as far as is known of its sources?
bool FixedValues::computes(const Step& step) const {
    if (step.guard || step.op->convergent) return false;
    if (isa::parameter_read(step)) return true;
    if (step.op->effects != nullptr) return false;
    const auto of = [&](const Operand& operand) {
        isa::Value value;
        value.uniform = fixed(operand) ? isa::Uniform::grid : isa::Uniform::thread;
        return value;
    };
    if (step.op->value != nullptr) return step.op->value(step, of).uniform == isa::Uniform::grid;
    bool all = true;
    isa::for_each_read(step, [&](isa::Reg reg) { all &= fixed_[reg.id]; });
    return all;
}

bool FixedValues::stored_by(const Step& step) const {
    const Operand* address = Stores(step).address();
    return address != nullptr && std::ranges::all_of(step.operands, [&](const Operand& operand) {
               return &operand == address || fixed(operand);
           });
}

}  // namespace wgrun::sim
