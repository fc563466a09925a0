#include "program/printing.hpp"

#include <fmt/format.h>

#include "isa/device_print.hpp"
#include "program/messages.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

using isa::Type;

/// Copies a program and spells out its messages.
class Printing final : Rewriting {
  public:
    explicit Printing(const Program& program)
        : Rewriting(program), messages_(parameter("messages", Type::u64)) {}

    Program run() {
        copy_blocks();
        return take();
    }

  private:
    /// Returns the value in a register that say.word can store, and its type.
    std::pair<Reg, Type> storable(Reg value, Where where) {
        const Type type = type_of(value);
        if (type == Type::pred) {
            const Reg number = reg(Type::b32);
            add(made(*isa::find("selp"), isa::Form().set(isa::Field::type, Type::b32),
                     {Operand::of(number), Operand::immediate(1), Operand::immediate(0), Operand::of(value)},
                     where));
            return {number, Type::b32};
        }
        if (type == Type::f32 || type == Type::f64) return {value, type};
        const int bits = isa::bits(type);
        return {value, bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64};
    }

    void spell(const Step& step) {
        const std::int64_t index = isa::device_print::message_of(step).imm;
        const Where where = step.where;
        const Operand slot = Operand::of(reg(Type::u64)), there = Operand::of(reg(Type::pred));
        const auto say = [&](const isa::Instruction& op, const isa::Form& form,
                             std::vector<Operand> operands) {
            add(made(op, form, std::move(operands), where));
        };
        const Operand control = Operand::of(loaded(messages_));
        say(isa::device_print::slot(), {},
            {slot, there, control, Operand::immediate(static_cast<std::int64_t>(message_bytes(from())))});
        std::int64_t offset = isa::device_print::header_bytes;
        for (Reg value : isa::device_print::values_of(step).list) {
            const auto [stored, type] = storable(value, where);
            say(isa::device_print::word(), isa::Form().set(isa::Field::type, type),
                {slot, there, Operand::of(stored), Operand::immediate(offset)});
            offset += isa::device_print::value_bytes;
        }
        say(isa::device_print::publish(), {}, {slot, there, Operand::immediate(index + 1)});
        if (step.op != &isa::device_print::print()) say(isa::device_print::end(), {}, {});
    }

    void copy(const Step& step) override {
        if (!isa::device_print::prints(*step.op)) {
            add(step);
            return;
        }
        if (step.guard) begin_if(step.guard, step.guard_negated, step.where);
        const bool asserts = step.op == &isa::device_print::assertion();
        if (asserts) {
            const Operand& condition = isa::device_print::condition_of(step);
            begin_if(condition.reg, !condition.negated, step.where);
        }
        spell(step);
        if (asserts) end_if();
        if (step.guard) end_if();
    }

    const int messages_;  ///< index of the parameter
};

Program printing(const Program& program) { return Printing(program).run(); }

void refuse_messages(const Program& program, std::string_view where) {
    if (!prints(program)) return;
    throw ArgumentError(plain_error(
        fmt::format("kernel {} has k:print, k:assert or k:trap here: {} has no host that hears them",
                    program.name(), where),
        "leave them out, or run the kernel with kernel:run", program.messages().front().where));
}

}  // namespace wgrun
