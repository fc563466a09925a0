// Kernels written step by step: each step stands on a line of its own, from line 2 of k.lua on. Tests that
// need more words (unit/check/kit.hpp, unit/sim/script.hpp) have them on top of these.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::test {

inline isa::Form typed(isa::Type type) { return isa::Form().set(isa::Field::type, type); }
/// The form with a field as PTX spells it.
inline isa::Form with(isa::Form form, isa::Field field, std::string_view text) {
    return form.set(field, isa::parse_value(field, text).value());
}
inline Operand imm(std::int64_t value) { return Operand::immediate(value); }
/// An address in a shared buffer.
inline Operand in_buffer(int buffer, std::int64_t offset = 0) {
    Operand operand = Operand::address({}, offset);
    operand.index = buffer;
    return operand;
}

class Script {
  public:
    explicit Script(int threads = 128, Dim3 cluster = {}, std::string name = "kernel",
                    const char* file = "k.lua")
        : builder(std::move(name), threads, cluster, Where::at(file, 1)), file_(file) {}

    Builder builder;

    /// Of the last step.
    int line() const { return line_; }
    /// What comes now stands on the next line.
    int next_line() {
        builder.at(Where::at(file_, ++line_));
        return line_;
    }

    /// On the next line.
    const Step& step(const isa::Instruction& op, const isa::Form& form, std::vector<Operand> operands,
                     Reg guard = {}, bool negated = false) {
        next_line();
        return builder.add(op, form, std::move(operands), guard, negated);
    }
    /// The same, for the first destination.
    Reg add(std::string_view op, const isa::Form& form, std::vector<Operand> operands, Reg guard = {},
            bool negated = false) {
        const Step& made = step(*isa::find(op), form, std::move(operands), guard, negated);
        return made.operands.empty() ? Reg{} : made.operands[0].reg;
    }
    /// while (!try_wait(mbarrier, parity)) {}, on two lines; the number of the first.
    int wait_for(const Operand& mbarrier, const Operand& parity, Reg guard = {}) {
        builder.begin_loop();
        const Reg done = add("mbarrier.try_wait.parity", {}, {{}, mbarrier, parity}, guard);
        const int out = line_;
        builder.loop_condition(add("not", typed(isa::Type::pred), {{}, Operand::of(done)}));
        builder.end_loop();
        return out;
    }
    Program finish() { return builder.finish(); }

  private:
    const char* file_;
    int line_ = 1;
};

}  // namespace wgrun::test
