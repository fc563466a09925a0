#include "isa/library.hpp"

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/value.hpp"

namespace wgrun::isa::library {
namespace {

using enum Type;

OperandRule taken(std::string_view name, Type (*type)(const Form&)) {
    return in(name, type, OperandRule::reg);
}

Instruction record(std::string_view name, std::vector<OperandRule> operands,
                   void (*run)(const Step&, Machine&)) {
    Instruction op{};
    op.name = name;
    op.rows = {{{}, {8, 0}}};
    op.operands = std::move(operands);
    op.effects = [](const Step&, Effects& e) { e.unknown(); };
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = run;
    return op;
}

Addresses address(Machine& m, const Step& step, std::string_view name) {
    return addresses_of<std::uint64_t>(m, step.operand(name));
}

}  // namespace

const Instruction& print() {
    static const Instruction it =
        record("vprintf", {out("d", fixed<u32>), taken("format", fixed<u64>), taken("values", fixed<u64>)},
               [](const Step& s, Machine& m) {
                   Lanes<std::uint32_t> values{};
                   m.print(address(m, s, "format"), address(m, s, "values"), values);
                   write_reg(m, s.operand("d").reg, values);
               });
    return it;
}

const Instruction& fail() {
    static const Instruction it =
        record("__assertfail",
               {taken("message", fixed<u64>), taken("file", fixed<u64>), taken("line", fixed<u32>),
                taken("function", fixed<u64>)},
               [](const Step& s, Machine& m) {
                   m.fail(address(m, s, "message"), address(m, s, "file"),
                          read<std::uint32_t>(m, s.operand("line")), address(m, s, "function"));
               });
    return it;
}

}  // namespace wgrun::isa::library
