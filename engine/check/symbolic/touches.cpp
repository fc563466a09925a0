#include "check/symbolic/touches.hpp"

#include <algorithm>

#include "isa/registers.hpp"

namespace wgrun::check::symbolic {
namespace {

class Needed {
  public:
    explicit Needed(const Program& program) : writers_(program.registers().size()) {
        slots_.of.assign(program.registers().size(), -1);
        for (const BasicBlock& block : program.blocks())
            for (const Step& step : block.steps)
                isa::for_each_written(step, [&](Reg reg) { writers_[reg.id].push_back(&step); });
        for (const BasicBlock& block : program.blocks()) {
            if (block.end == BasicBlock::End::branch) need(block.condition);
            for (const Step& step : block.steps) look(step);
        }
    }

    Indexed run() {
        while (!open_.empty()) {
            const Reg reg = open_.back();
            open_.pop_back();
            for (const Step* step : writers_[reg.id]) {
                need(step->guard);
                isa::for_each_read(*step, [&](Reg source) { need(source); });
            }
        }
        return std::move(slots_);
    }

  private:
    void need(Reg reg) {
        if (!reg || slots_.of[reg.id] >= 0) return;
        slots_.of[reg.id] = static_cast<int>(slots_.registers.size());
        slots_.registers.push_back(reg);
        open_.push_back(reg);
    }

    void look(const Step& step) {
        const Touches touches(step);
        if (!touches.any()) return;
        need(step.guard);
        const auto all = [&](const Operand& operand) {
            isa::for_each_register(operand, [&](Reg reg) { need(reg); });
        };
        if (touches.access) all(*touches.access->address);
        if (!touches.copy) return;
        all(*touches.copy->global);
        all(touches.copy->coordinates != nullptr ? *touches.copy->coordinates : step.operand("size"));
    }

    std::vector<std::vector<const Step*>> writers_;  ///< by register
    std::vector<Reg> open_;
    Indexed slots_;
};

}  // namespace

Indexed needed(const Outline& outline) { return Needed(outline.program()).run(); }

}  // namespace wgrun::check::symbolic
