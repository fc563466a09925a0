#include "program/spoken.hpp"

#include <fmt/format.h>

#include "isa/say.hpp"
#include "program/messages.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Type;

/// Copies a program, messages spelled out.
class Speaking final : Rewriting {
  public:
    explicit Speaking(const Program& program)
        : Rewriting(program), messages_(parameter("messages", Type::u64)) {}

    Program run() {
        copy(from().body(), body());
        return take();
    }

  private:
    using Rewriting::copy;

    /// The value as a register that say.word can store.
    std::pair<Reg, Type> storable(Reg value, Where where, Block& to) {
        const Type type = type_of(value);
        if (type == Type::pred) {
            const Reg number = reg(Type::b32);
            to.emplace_back(
                made(*isa::find("selp"), isa::Form().set(isa::Field::type, Type::b32),
                     {Operand::of(number), Operand::immediate(1), Operand::immediate(0), Operand::of(value)},
                     where));
            return {number, Type::b32};
        }
        if (type == Type::f32 || type == Type::f64) return {value, type};
        const int bits = isa::bits(type);
        return {value, bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64};
    }

    void say(const Step& step, Block& to) {
        const std::int64_t index = step.operand("message").imm;
        const Where where = step.where;
        const Operand slot = Operand::of(reg(Type::u64)), there = Operand::of(reg(Type::pred));
        const auto add = [&](const isa::Instruction& op, const isa::Form& form,
                             std::vector<Operand> operands) {
            to.emplace_back(made(op, form, std::move(operands), where));
        };
        const Operand control = Operand::of(loaded(messages_, to));
        add(isa::say::slot(), {},
            {slot, there, control, Operand::immediate(static_cast<std::int64_t>(message_bytes(from())))});
        std::int64_t offset = isa::say::header_bytes;
        for (Reg value : step.operand("values").list) {
            const auto [stored, type] = storable(value, where, to);
            add(isa::say::word(), isa::Form().set(isa::Field::type, type),
                {slot, there, Operand::of(stored), Operand::immediate(offset)});
            offset += isa::say::value_bytes;
        }
        add(isa::say::publish(), {}, {slot, there, Operand::immediate(index + 1)});
        if (step.op != &isa::say::print()) add(isa::say::end(), {}, {});
    }

    void copy(const Step& step, Block& to) override {
        if (!isa::say::speaks(*step.op)) {
            to.emplace_back(step);
            return;
        }
        Block* inside = &to;
        if (step.guard) inside = &where_it_holds(step.guard, step.guard_negated, step.where, *inside);
        if (step.op == &isa::say::assertion()) {
            const Operand& condition = step.operand("condition");
            inside = &where_it_holds(condition.reg, !condition.negated, step.where, *inside);
        }
        say(step, *inside);
    }

    const int messages_;  ///< parameter
};

Program spoken(const Program& program) { return Speaking(program).run(); }

void refuse_messages(const Program& program, std::string_view where) {
    if (!speaks(program)) return;
    Diagnostic finding;
    finding.where = program.messages().front().where;
    finding.message =
        fmt::format("kernel {} has k:print, k:assert or k:trap here: {} has no host that hears them",
                    program.name(), where);
    finding.fix = "leave them out, or run the kernel with kernel:run";
    throw ArgumentError(std::move(finding));
}

}  // namespace wgrun
