// PTX: each step is its record's text with the operands filled in.
#include <map>
#include <set>

#include <fmt/format.h>

#include "diag/escape.hpp"
#include "emit/writer.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::emit {
namespace {

using isa::OperandRule;
using isa::Type;
using Kind = Operand::Kind;

/// The class of a register: PTX names registers by class.
struct RegisterClass {
    std::string_view prefix, declaration;
};

RegisterClass class_of(Type type) {
    if (type == Type::pred) return {"%p", ".pred"};
    if (type == Type::f32) return {"%f", ".f32"};
    if (type == Type::f64) return {"%fd", ".f64"};
    switch (isa::bits(type)) {
        case 16: return {"%rs", ".b16"};
        case 32: return {"%r", ".b32"};
        case 128: return {"%rq", ".b128"};
        default: return {"%rd", ".b64"};
    }
}

class PtxEmitter {
  public:
    PtxEmitter(const Program& program, bool lines) : program_(program) {
        if (lines) out_.name_lines(Writer::Naming::loc);
        for (const BasicBlock& block : program.blocks())
            if (!block.label.name.empty()) own_names_.insert(block.label.name);
        std::map<std::string_view, int> counts;
        for (const RegisterInfo& info : program.registers()) {
            const RegisterClass c = class_of(info.type);
            names_.push_back(fmt::format("{}{}", c.prefix, counts[c.prefix]++));
        }
    }

    Text run() {
        const isa::PtxVersion version = program_.min_ptx();
        out_.line(fmt::format("// {}", program_.name()));
        out_.line(fmt::format(".version {}.{}", version.major, version.minor));
        out_.line(fmt::format(".target {}", isa::to_string(program_.arch())));
        out_.line(".address_size 64");
        out_.line("");
        if (!program_.shared().empty())
            out_.line(
                fmt::format(".extern .shared .align {} .b8 {}[];", program_.shared_align(), shared_name));
        signature();
        out_.line("{");
        out_.indent(1);
        declare_registers();
        if (program_.local_bytes() > 0)
            out_.line(fmt::format(".local .align {} .b8 {}[{}];", program_.local_align(), local_name,
                                  program_.local_bytes()));
        describe_shared();
        for (BlockId id = 0; id < program_.blocks().size(); ++id) block(id);
        out_.indent(-1);
        out_.line("}");
        out_.list_files();
        return out_.take();
    }

  private:
    void signature() {
        out_.line(fmt::format(".visible .entry {}(", program_.name()));
        for (std::size_t i = 0; i < program_.params().size(); ++i) {
            const bool last = i + 1 == program_.params().size();
            const Param& param = program_.params()[i];
            const bool bytes = param.structure > 0 || param.type == Type::tensormap;
            const std::string type =
                bytes ? fmt::format("align {} .b8", param.align()) : std::string(isa::to_string(param.type));
            out_.line(fmt::format("    .param .{} {}{}{}", type, param_name(program_, static_cast<int>(i)),
                                  bytes ? fmt::format("[{}]", param.bytes()) : "", last ? "" : ","));
        }
        out_.line(")");
        const Dim3 block = program_.block();
        out_.line(fmt::format(".maxntid {}, {}, {}", block.x, block.y, block.z));
        // Without this, ptxas cannot know the registers at entry, and ignores setmaxnreg (C7508).
        out_.line(".minnctapersm 1");
        if (program_.cluster().volume() > 1)
            out_.line(fmt::format(".reqnctapercluster {}, {}, {}", program_.cluster().x, program_.cluster().y,
                                  program_.cluster().z));
    }

    void declare_registers() {
        std::map<std::string_view, std::pair<std::string_view, int>> files;
        for (const RegisterInfo& info : program_.registers()) {
            const RegisterClass c = class_of(info.type);
            auto& [prefix, count] = files[c.declaration];
            prefix = c.prefix;
            ++count;
        }
        for (const auto& [declaration, file] : files)
            out_.line(fmt::format(".reg {} {}<{}>;", declaration, file.first, file.second));
    }

    void describe_shared() {
        for (const SharedBuffer& buffer : program_.shared())
            out_.line(fmt::format("// {}+{}: {}, {}", shared_name, buffer.offset,
                                  escape::comment(buffer.name), count_of(buffer.bytes, "byte")));
    }

    const std::string& name(Reg reg) const { return names_[reg.id]; }

    std::string print(const Operand& operand, const OperandRule& rule, const isa::Form& form) const {
        switch (operand.kind) {
            case Kind::reg: return (operand.negated ? "!" : "") + name(operand.reg);
            case Kind::list: {
                std::string out = "{";
                for (Reg reg : operand.list) out += (out.size() > 1 ? ", " : "") + name(reg);
                return out + "}";
            }
            case Kind::imm: return literal(operand.imm, rule.type ? rule.type(form) : Type::u32);
            case Kind::address: return address(operand);
            case Kind::param:
                return param_name(program_, operand.index) +
                       (operand.offset != 0 ? fmt::format("+{}", operand.offset) : "");
            case Kind::shared: return shared(operand);
            case Kind::number:
            case Kind::none: break;
        }
        return "_";
    }

    std::string shared(const Operand& operand) const {
        const SharedBuffer& buffer = program_.shared()[static_cast<std::size_t>(operand.index)];
        return fmt::format("{}+{}", shared_name, buffer.offset + operand.offset);
    }

    std::string address(const Operand& operand) const {
        if (!operand.reg) return operand.index >= 0 ? shared(operand) : fmt::format("{}", operand.offset);
        return operand.offset == 0 ? name(operand.reg)
                                   : fmt::format("{}+{}", name(operand.reg), operand.offset);
    }

    void step(const Step& s) {
        if (s.op->ptx.empty()) return;  // a breakpoint
        std::string text = isa::expand(
            s.op->ptx, s, [&](const Operand& o, const OperandRule& rule) { return print(o, rule, s.form); });
        std::string guard;
        if (s.guard) guard = fmt::format("@{}{} ", s.guard_negated ? "!" : "", name(s.guard));
        // In a record of several instructions, each instruction is guarded.
        for (std::size_t at = 0; (at = text.find("\n\t", at)) != std::string::npos; at += 1 + guard.size())
            text.replace(at + 1, 1, guard);
        out_.line(ended(guard + text), s.where);
    }

    /// Returns the label's own name, or else one that no other label has as its own.
    std::string label(BlockId id) const {
        const Label& label = program_.blocks()[id].label;
        if (!label.name.empty()) return label.name;
        std::string name = fmt::format("${}_{}", word(label.kind), label.number);
        while (own_names_.contains(name)) name += '_';
        return name;
    }

    static std::string_view word(Label::Kind kind) {
        switch (kind) {
            case Label::Kind::loop: return "loop";
            case Label::Kind::next: return "next";
            case Label::Kind::after: return "end";
            case Label::Kind::otherwise: return "else";
            case Label::Kind::joined: return "endif";
            case Label::Kind::place: return "place";
            case Label::Kind::none: break;
        }
        return {};
    }

    void block(BlockId id) {
        const BasicBlock& block = program_.blocks()[id];
        if (block.label.kind != Label::Kind::none) {
            if (ends_inner(block.label.kind)) out_.indent(-1);
            out_.line(label(id) + ":", block.label.where);
            if (begins_inner(block.label.kind)) out_.indent(1);
        }
        for (const Step& s : block.steps) step(s);
        end(id);
    }

    void end(BlockId id) {
        const BasicBlock& block = program_.blocks()[id];
        const BlockId next = id + 1;
        const auto go = [&](BlockId to) { out_.line(fmt::format("bra {};", label(to)), block.where); };
        switch (block.end) {
            case BasicBlock::End::exit:
                if (next < program_.blocks().size()) return out_.line("exit;", block.where);
                return out_.line("ret;");
            case BasicBlock::End::jump:
                if (block.taken != next) go(block.taken);
                return;
            case BasicBlock::End::branch: break;
        }
        // Branches to the other side if the next block is the taken one.
        const bool around = block.taken == next && block.otherwise != next;
        out_.line(fmt::format("@{}{} bra {};", block.negated != around ? "!" : "", name(block.condition),
                              label(around ? block.otherwise : block.taken)),
                  block.where);
        if (!around && block.otherwise != next) go(block.otherwise);
        if (begins_if(program_, block)) out_.indent(1);
    }

    const Program& program_;
    Writer out_;
    std::vector<std::string> names_;
    std::set<std::string> own_names_;  ///< of labels in the program
};

}  // namespace

Text ptx(const Program& program) { return PtxEmitter(program, false).run(); }

Text ptx_with_lines(const Program& program) { return PtxEmitter(program, true).run(); }

}  // namespace wgrun::emit
