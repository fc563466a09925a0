#include "check/pointees.hpp"

#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// Of a compiler's text any number of 64 bits may be a pointer.
bool may_point(const Param& param, Made made) {
    return param.pointee || param.any || param.type == isa::Type::tensormap ||
           (made == Made::by_compiler && param.type == isa::Type::u64);
}

}  // namespace

std::vector<int> pointees(const Program& program, Made made) {
    std::vector<int> out(program.registers().size(), from_none);
    for (bool grew = true; grew;) {
        grew = false;
        for_each_step(program, [&](const Step& step) {
            int from = from_none;
            const auto join = [&](int other) {
                from = from == from_none || from == other ? other : from_several;
            };
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                const isa::Operand& operand = step.operands[i];
                if (step.op->operands[i].access == isa::Access::out) continue;
                if (operand.kind == isa::Operand::Kind::param &&
                    may_point(program.params()[static_cast<std::size_t>(operand.index)], made))
                    join(operand.index);
                isa::for_each_register(operand, [&](Reg reg) {
                    if (out[reg.id] != from_none) join(out[reg.id]);
                });
            }
            if (from == from_none) return;
            if (step.op->effects != nullptr) from = from_several;
            isa::for_each_written(step, [&](Reg reg) {
                if (isa::bits(program.registers()[reg.id].type) < 64) return;
                int& to = out[reg.id];
                const int joined = to == from_none || to == from ? from : from_several;
                grew |= joined != to;
                to = joined;
            });
        });
    }
    return out;
}

}  // namespace wgrun::check
