// Small programs, written step by step, each on a line of k.lua.
#pragma once

#include "emit/emit.hpp"
#include "tests/catch.hpp"

namespace kit {

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

class Script {
  public:
    explicit Script(int threads = 128, Dim3 cluster = {})
        : b("kernel", threads, cluster, Where::at("dir/k.lua", 1)) {}

    Builder b;

    /// The next line: one step; its first destination.
    Reg add(std::string_view name, const Form& form, std::vector<Operand> operands, Reg guard = {},
            bool negated = false) {
        b.at(Where::at("dir/k.lua", ++line_));
        const Step& step = b.add(*isa::find(name), form, std::move(operands), guard, negated);
        return step.operands.empty() ? Reg{} : step.operands[0].reg;
    }
    Program finish() { return b.finish(); }

  private:
    int line_ = 1;
};

inline Form typed(Type type) { return Form().set(Field::type, type); }
inline Form with(Form form, Field field, std::string_view text) {
    return form.set(field, *isa::parse_value(field, text));
}
inline Operand reg(Reg r) { return Operand::of(r); }
inline Operand imm(std::int64_t value) { return Operand::immediate(value); }
inline Operand num(double value) { return Operand::number(value); }
inline Operand negated(Reg r) {
    Operand o = Operand::of(r);
    o.negated = true;
    return o;
}

/// The statements between the declarations and the end, without comments and indentation.
inline std::string body(const emit::Text& text, std::string_view first) {
    std::string out;
    std::size_t at = text.text.find(first);
    for (std::size_t end; at < text.text.size(); at = end + 1) {
        end = text.text.find('\n', at);
        std::string line = text.text.substr(at, end - at);
        line.erase(0, line.find_first_not_of(' '));
        if (!line.starts_with("//")) out += line + "\n";
    }
    return out;
}

}  // namespace kit
