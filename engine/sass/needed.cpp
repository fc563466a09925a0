#include "sass/needed.hpp"

#include <algorithm>
#include <vector>

#include "isa/opaque.hpp"
#include "sass/step_events.hpp"

namespace wgrun::sass {
namespace {

bool is_written(const Step& step, std::size_t operand) {
    if (operand == 0 && step.op->name.starts_with("wgmma.mma_async")) return true;
    return operand < step.op->operands.size() && step.op->operands[operand].access == isa::Access::out;
}

template <class Visit>
void for_each_register(const Step& step, bool written, Visit of_register) {
    const auto visit = [&](Reg reg) {
        if (reg) of_register(reg);
    };
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (operand.kind == Operand::Kind::address) {
            if (!written) visit(operand.reg);
            continue;
        }
        if (is_written(step, i) != written) continue;
        visit(operand.reg);
        for (const Reg reg : operand.list) visit(reg);
    }
    if (!written) visit(step.guard);
}

class Needed {
  public:
    Needed(const std::map<std::uint32_t, std::int64_t>& known, const ProgramValues& values,
           const std::set<int>& lost)
        : known_(known), values_(values), lost_(lost) {}

    std::set<std::uint32_t> of(const Program& program) {
        for_each_step(program, [&](const Step& step) {
            if (only_computes(step))
                computes_.push_back(&step);
            else if (!never_executes(step, known_) && !lost_.contains(step.where.line))
                for_each_register(step, false, [&](Reg reg) { needed_.insert(reg.id); });
        });
        for (const BasicBlock& block : program.blocks()) needed_.insert(block.condition.id);
        // Most results are needed behind the step that computes them.
        for (std::size_t before = 0; before != needed_.size();) {
            before = needed_.size();
            for (auto step = computes_.rbegin(); step != computes_.rend(); ++step)
                if (result_needed(**step))
                    for_each_register(**step, false, [&](Reg reg) { needed_.insert(reg.id); });
        }
        return needed_;
    }

  private:
    bool only_computes(const Step& step) const {
        const auto& operands = step.op->operands;
        if (isa::is_opaque(*step.op) || operands.empty() || operands[0].access != isa::Access::out)
            return false;
        const StepEvents does = events_of(step, known_, values_);
        return does.events.empty() && does.waits.empty() && does.orders.empty() &&
               std::ranges::all_of(does.accesses,
                                   [](const Access& access) { return access.does == Does::load; });
    }

    bool result_needed(const Step& step) const {
        bool out = false;
        for_each_register(step, true, [&](Reg reg) { out = out || needed_.contains(reg.id); });
        return out;
    }

    const std::map<std::uint32_t, std::int64_t>& known_;
    const ProgramValues& values_;
    const std::set<int>& lost_;
    std::vector<const Step*> computes_;
    std::set<std::uint32_t> needed_;
};

}  // namespace

std::set<std::uint32_t> needed_registers(const Program& program,
                                         const std::map<std::uint32_t, std::int64_t>& known,
                                         const ProgramValues& values, const std::set<int>& lost) {
    return Needed(known, values, lost).of(program);
}

}  // namespace wgrun::sass
