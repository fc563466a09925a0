#include "isa/device_print.hpp"

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/machine.hpp"

namespace wgrun::isa::device_print {
namespace {

using enum Type;
using Rule = OperandRule;

Rule immediate(std::string_view name) {
    return {name, Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, {}};
}

/// Returns the rule of a list of registers of any types.
Rule values() { return {"values", Access::in, Rule::list, nullptr, nullptr, false, {}, {}}; }

Rule in_register(std::string_view name, Type (*type)(const Form&)) { return in(name, type, Rule::reg); }

Mask lanes_that_fail(const Step& step, Machine& m) {
    const Operand& condition = step.operand("condition");
    const auto* holds = static_cast<const std::uint32_t*>(m.read(condition.reg));
    Mask fail = 0;
    for (int lane = 0; lane < lanes; ++lane)
        fail |= static_cast<Mask>((holds[lane] & 1U) == (condition.negated ? 1U : 0U)) << lane;
    return fail & m.active();
}

void say_by(Mask who, const Step& step, Machine& m) {
    if (who != 0)
        m.say(static_cast<std::size_t>(step.operand("message").imm), who, step.operand("values").list);
}

/// A record with a single form.
Instruction record(std::string_view name, std::vector<OperandRule> operands, std::string_view ptx) {
    Instruction op{};
    op.name = name;
    op.rows = {{{}, {8, 0}}};
    op.operands = std::move(operands);
    op.ptx = ptx;
    return op;
}

/// Returns a record of the build for the GPU.
Instruction build_record(std::string_view name, std::vector<OperandRule> operands, std::string_view ptx) {
    Instruction op = record(name, std::move(operands), ptx);
    op.effects = [](const Step&, Effects& e) { e.unknown(); };
    return op;
}

}  // namespace

const Instruction& print() {
    static const Instruction it = [] {
        Instruction op = record("print", {immediate("message"), values()}, "");
        op.run = [](const Step& s, Machine& m) { say_by(m.active(), s, m); };
        return op;
    }();
    return it;
}

const Instruction& assertion() {
    static const Instruction it = [] {
        Instruction op =
            record("assert", {in_register("condition", fixed<pred>), immediate("message"), values()}, "");
        op.run = [](const Step& s, Machine& m) { say_by(lanes_that_fail(s, m), s, m); };
        return op;
    }();
    return it;
}

const Instruction& trap() {
    static const Instruction it = [] {
        Instruction op = record("trap", {immediate("message"), values()}, "");
        op.effects = [](const Step&, Effects& e) { e.trap(); };
        op.run = [](const Step& s, Machine& m) { say_by(m.active(), s, m); };
        return op;
    }();
    return it;
}

const Instruction& breakpoint() {
    static const Instruction it = [] {
        Instruction op = record("breakpoint", {}, "");
        op.run = [](const Step&, Machine&) {};
        return op;
    }();
    return it;
}

bool prints(const Instruction& op) { return &op == &print() || &op == &assertion() || &op == &trap(); }

const Operand& message_of(const Step& step) { return step.operand("message"); }
const Operand& values_of(const Step& step) { return step.operand("values"); }
const Operand& condition_of(const Step& step) { return step.operand("condition"); }

const Instruction& slot() {
    static const Instruction it =
        build_record("say.slot",
                     {out("slot", fixed<u64>), out("there", fixed<pred>), in_register("control", fixed<u64>),
                      immediate("bytes")},
                     "{{\n"
                     "    .reg .b32 number, capacity;\n"
                     "    .reg .b64 first;\n"
                     "    atom.relaxed.gpu.global.add.u32 number, [{%control}], 1;\n"
                     "    ld.global.b32 capacity, [{%control}+4];\n"
                     "    ld.global.b64 first, [{%control}+8];\n"
                     "    setp.lt.u32 {%there}, number, capacity;\n"
                     "    mad.wide.u32 {%slot}, number, {%bytes}, first;\n"
                     "}}");
    return it;
}

const Instruction& word() {
    static const Instruction it = [] {
        Instruction op = build_record("say.word",
                                      {in_register("slot", fixed<u64>), in_register("there", fixed<pred>),
                                       in_register("value", typed<Field::type>), immediate("offset")},
                                      "@{%there} st.relaxed.sys.global{.type} [{%slot}+{%offset}], {%value}");
        op.rows = {{{types({b16, b32, b64, f32, f64})}, {8, 0}}};
        return op;
    }();
    return it;
}

const Instruction& publish() {
    static const Instruction it = build_record(
        "say.publish",
        {in_register("slot", fixed<u64>), in_register("there", fixed<pred>), immediate("message")},
        "{{\n"
        "    .reg .b32 message, cta_x, cta_yz, thread, by;\n"
        "    mov.u32 message, {%message};\n"
        "    mov.u32 cta_x, %ctaid.x;\n"
        "    mov.u32 cta_yz, %ctaid.z;\n"
        "    shl.b32 cta_yz, cta_yz, 16;\n"
        "    mov.u32 thread, %ctaid.y;\n"
        "    or.b32 cta_yz, cta_yz, thread;\n"
        "    mov.u32 thread, %tid.z;\n"
        "    mov.u32 by, %ntid.y;\n"
        "    mul.lo.u32 thread, thread, by;\n"
        "    mov.u32 by, %tid.y;\n"
        "    add.u32 thread, thread, by;\n"
        "    mov.u32 by, %ntid.x;\n"
        "    mul.lo.u32 thread, thread, by;\n"
        "    mov.u32 by, %tid.x;\n"
        "    add.u32 thread, thread, by;\n"
        "    @{%there} st.volatile.global.v4.b32 [{%slot}], {{message, cta_x, cta_yz, thread}};\n"
        "}}");
    return it;
}

const Instruction& end() {
    static const Instruction it = build_record("say.end", {},
                                               "fence.sc.sys;\n\t"
                                               "nanosleep.u32 200000;\n\t"
                                               "trap");
    return it;
}

}  // namespace wgrun::isa::device_print
