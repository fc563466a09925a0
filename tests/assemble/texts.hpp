// Instructions as text, legal or not, and what ptxas says of them.
#pragma once

#include <string>
#include <vector>

#include "tests/assemble/batch.hpp"
#include "tests/ptx_lines.hpp"

namespace wgrun::test {

/// The text of an illegal form of any record, with registers of the types that its rules ask for.
inline std::string any_text_of(const Instruction& op, const Form& form) {
    const auto name = [](Type type, std::size_t i) {
        const Type declared = isa::register_type(type);
        const std::string_view prefix = declared == Type::pred      ? "%p"
                                        : declared == Type::f32     ? "%f"
                                        : declared == Type::f64     ? "%d"
                                        : declared == Type::b128    ? "%q"
                                        : isa::bits(declared) == 64 ? "%rd"
                                        : isa::bits(declared) == 32 ? "%r"
                                                                    : "%h";
        return fmt::format("{}{}", prefix, i);
    };
    isa::Step step;
    step.op = &op;
    step.form = form;
    step.operands.resize(op.operands.size());
    for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (!Batch::left_out(op.operands[i], form)) step.operands[i].kind = Operand::Kind::reg;
    std::size_t next = 0;
    return isa::expand(op.ptx, step, [&](const Operand&, const OperandRule& rule) -> std::string {
        const Type type = rule.type ? rule.type(form) : Type::u32;
        const int count = rule.count ? rule.count(form) : 1;
        if ((rule.kinds & OperandRule::list) && (count > 1 || !(rule.kinds & OperandRule::reg))) {
            std::string list;
            for (int i = 0; i < std::max(count, 1); ++i) list += (i ? "," : "") + name(type, next++);
            return "{" + list + "}";
        }
        const bool number = !(rule.kinds & (OperandRule::reg | OperandRule::address));
        return number ? std::to_string(rule.imm_range ? rule.imm_range->hi : 1) : name(type, next++);
    });
}

/// Which of the texts ptxas refuses. After what is no PTX it reads no further.
inline std::set<std::string> refused_texts(const std::vector<std::string>& all) {
    constexpr std::string_view begin =
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.maxntid 128, 1, 1\n{\n";
    constexpr int lines = 8;
    std::set<std::string> out;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = std::min<std::size_t>(first + 1000, all.size());
        std::string text = std::string(begin) + line_registers;
        for (std::size_t i = first; i < end; ++i) text += all[i] + ";\n";
        try {
            gpu::ptxas_assemble(text + "ret;\n}\n");
        } catch (const gpu::CompileError& error) {
            for (const gpu::AssemblerNote& note : error.log().notes) {
                if (note.severity != Severity::error || note.line <= lines) continue;
                const std::size_t at = first + static_cast<std::size_t>(note.line - lines - 1);
                if (at >= end) continue;
                out.insert(all[at]);
                if (note.message.find("arsing error") != std::string::npos) end = at + 1;
            }
        }
        first = end;
    }
    return out;
}

}  // namespace wgrun::test
