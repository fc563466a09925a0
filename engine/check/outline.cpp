#include "check/outline.hpp"

#include "isa/registers.hpp"

namespace wgrun::check {

Outline::Outline(const Program& program) {
    const auto data = std::make_shared<Data>(program);
    for (const BasicBlock& block : program.blocks()) {
        data->first_steps.push_back(data->steps.size());
        for (const Step& step : block.steps) {
            const auto first = static_cast<std::uint32_t>(data->used.size());
            Roots params = 0;
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                const Operand& operand = step.operands[i];
                if (operand.kind == Operand::Kind::param) params |= roots::param(operand.index);
                isa::for_each_register(operand, [&](Reg reg) {
                    data->used.push_back({reg, step.op->operands[i].access});
                });
            }
            data->steps.push_back({first, static_cast<std::uint32_t>(data->used.size()) - first, params});
        }
    }
    data_ = data;
}

}  // namespace wgrun::check
