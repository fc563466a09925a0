// CUDA C++: plain statements where a record has an equivalent C++ form, inline assembly elsewhere.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "diag/escape.hpp"
#include "emit/writer.hpp"
#include "isa/effects.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/target.hpp"

namespace wgrun::emit {
namespace {

using isa::Access;
using isa::OperandRule;
using isa::Type;
using Kind = Operand::Kind;

/// The C++ type of a register, and its constraint letter in inline assembly. Predicates are ints, 0 or 1.
struct CudaType {
    std::string_view prefix, declaration, constraint;
};

CudaType cuda_type(Type type) {
    if (type == Type::pred) return {"p", "int", "r"};
    if (type == Type::f32) return {"f", "float", "f"};
    if (type == Type::f64) return {"d", "double", "d"};
    switch (isa::bits(type)) {
        case 16: return {"h", "unsigned short", "h"};
        case 32: return {"r", "unsigned", "r"};
        case 128: return {"q", "unsigned __int128", "q"};
        default: return {"l", "unsigned long long", "l"};
    }
}

std::string_view param_type(Type type) {
    switch (type) {
        case Type::f32: return "float";
        case Type::f64: return "double";
        case Type::s32: return "int";
        case Type::s64: return "long long";
        case Type::u16: return "unsigned short";
        case Type::s16: return "short";
        case Type::u8: return "unsigned char";
        case Type::s8: return "signed char";
        case Type::tensormap: return "const __grid_constant__ TensorMap";
        default: return isa::bits(type) == 64 ? "unsigned long long" : "unsigned";
    }
}

std::string shared_expression(const Program& program, const Operand& operand) {
    const std::int64_t start =
        operand.index < 0 ? 0 : program.shared()[static_cast<std::size_t>(operand.index)].offset;
    return fmt::format("shared_base + {}", start + operand.offset);
}

/// Returns the address in the parameter space, as C++ has it for __grid_constant__ parameters.
std::string param_address(const Program& program, const Operand& operand) {
    const std::string start =
        fmt::format("__cvta_generic_to_grid_constant(&{})", param_name(program, operand.index));
    return operand.offset == 0 ? start : fmt::format("({} + {})", start, operand.offset);
}

/// Returns whether the step takes the address of a parameter.
bool takes_param_address(const Step& step) {
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (step.operands[i].kind == Kind::param &&
            (step.op->operands[i].kinds & OperandRule::address || step.op->operands[i].type == nullptr))
            return true;
    return false;
}

constexpr char placeholder =
    '\x01';  // replaces the % of an operand until literal % signs are doubled: no text has it

/// An asm statement under construction. As in GCC, outputs are numbered first.
class Assembly {
  public:
    Assembly(const Step& s, const Program& program, const std::vector<std::string>& names)
        : step_(s), program_(program), names_(names) {
        for (bool outputs : {true, false})
            for (std::size_t i = 0; i < s.operands.size(); ++i)
                if ((s.op->operands[i].access != Access::in) == outputs)
                    bind(s.operands[i], s.op->operands[i]);
    }

    std::string statement() {
        std::string text = isa::expand(
            step_.op->ptx, step_, [&](const Operand& o, const OperandRule& rule) { return print(o, rule); });
        std::string doubled;
        for (const char c : prologue_ + ended(text) + epilogue_) {
            doubled += c == '\t' ? ' ' : c;
            if (c == '%') doubled += c;
        }
        std::string escaped;
        for (std::string_view rest = doubled;;) {
            const std::size_t at = rest.find(placeholder);
            escaped += escape::c_characters(rest.substr(0, at));
            if (at == std::string_view::npos) break;
            escaped += '%';
            rest.remove_prefix(at + 1);
        }
        if (predicates_ > 0) escaped = "{ " + escaped + " }";
        const bool memory = isa::pinned(*step_.op);
        return fmt::format("asm{}(\"{}\" : {} : {}{});", memory ? " volatile" : "", escaped, outputs_,
                           inputs_, memory ? " : \"memory\"" : "");
    }

  private:
    struct Bound {
        Reg reg;
        bool output;
        std::string text;
    };

    void bind(const Operand& operand, const OperandRule& rule) {
        switch (operand.kind) {
            case Kind::reg: return bind_register(operand.reg, rule.access);
            case Kind::list:
                for (Reg reg : operand.list) bind_register(reg, rule.access);
                return;
            case Kind::address:
                if (operand.reg) return bind_register(operand.reg, Access::in);
                return bind_expression(operand, shared_expression(program_, operand));
            case Kind::shared: return bind_expression(operand, shared_expression(program_, operand));
            case Kind::param: return bind_param(operand, rule);
            default: return;
        }
    }

    /// Binds what the step takes of a parameter: its address, or its value.
    void bind_param(const Operand& operand, const OperandRule& rule) {
        if (rule.kinds & OperandRule::address)
            return bind_expression(operand, param_address(program_, operand), true);
        if (rule.type == nullptr) {
            const bool wide = isa::bits(step_.form.type()) == 64;
            return bind_expression(operand, (wide ? "" : "(unsigned)") + param_address(program_, operand),
                                   wide);
        }
        bind_expression(operand, param_name(program_, operand.index),
                        isa::bits(program_.params()[static_cast<std::size_t>(operand.index)].type) == 64);
    }

    /// Binds an operand that is not a register: it is computed outside, with the width of its C++ type, 32
    /// or, if it is `wide`, 64 bits.
    void bind_expression(const Operand& operand, const std::string& expression, bool wide = false) {
        inputs_ += fmt::format("{}\"{}\"({})", inputs_.empty() ? "" : ", ", wide ? "l" : "r", expression);
        expressions_.emplace_back(&operand, fmt::format("{}{}", placeholder, count_++));
    }

    void bind_register(Reg reg, Access access) {
        // A register that is both source and destination is bound twice: the compiler may keep them apart.
        if (find(reg, access)) return;
        const Type type = program_.registers()[reg.id].type;
        std::string text = fmt::format("{}{}", placeholder, count_);
        if (type == Type::pred) {
            const std::string q = fmt::format("q{}", predicates_++);
            prologue_ += ".reg .pred " + q + "; ";
            if (access != Access::out) prologue_ += fmt::format("setp.ne.b32 {}, {}, 0; ", q, text);
            if (access != Access::in) epilogue_ += fmt::format(" selp.b32 {}, 1, 0, {};", text, q);
            text = q;
        }
        const CudaType c = cuda_type(type);
        const std::string_view mark = access == Access::out ? "=" : access == Access::inout ? "+" : "";
        std::string& list = access == Access::in ? inputs_ : outputs_;
        list += fmt::format("{}\"{}{}\"({})", list.empty() ? "" : ", ", mark, c.constraint, names_[reg.id]);
        bound_.push_back({reg, access != Access::in, std::move(text)});
        ++count_;
    }

    const Bound* find(Reg reg, Access access) const {
        const auto found = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& b) {
            return b.reg == reg && b.output == (access != Access::in);
        });
        return found == bound_.end() ? nullptr : &*found;
    }

    std::string print(const Operand& operand, const OperandRule& rule) const {
        for (const auto& [bound, text] : expressions_)
            if (bound == &operand) return text;
        switch (operand.kind) {
            case Kind::reg: return (operand.negated ? "!" : "") + find(operand.reg, rule.access)->text;
            case Kind::list: {
                std::string out = "{";
                for (Reg reg : operand.list)
                    out += (out.size() > 1 ? ", " : "") + find(reg, rule.access)->text;
                return out + "}";
            }
            case Kind::address:
                return operand.offset == 0
                           ? find(operand.reg, rule.access)->text
                           : fmt::format("{}+{}", find(operand.reg, rule.access)->text, operand.offset);
            case Kind::none: return "_";
            default: return literal(operand.imm, rule.type ? rule.type(step_.form) : Type::u32);
        }
    }

    const Step& step_;
    const Program& program_;
    const std::vector<std::string>& names_;
    std::vector<Bound> bound_;
    std::vector<std::pair<const Operand*, std::string>> expressions_;
    std::string prologue_, epilogue_, outputs_, inputs_;
    int count_ = 0;
    int predicates_ = 0;
};

class CudaEmitter {
  public:
    CudaEmitter(const Program& program, std::string_view entry, bool lines)
        : program_(program),
          entry_(entry.empty() ? program.name() : entry),
          nexts_(loops_with_next(program)) {
        if (lines) out_.name_lines(Writer::Naming::directives);
        for (std::size_t i = 0; i < program.registers().size(); ++i)
            names_.push_back(fmt::format("{}{}", cuda_type(program.registers()[i].type).prefix, i));
    }

    Text run() {
        out_.line(fmt::format("// {}", program_.name()));
        // With scale-d = 0, wgmma overwrites accumulators that were never set.
        out_.line("#pragma nv_diag_suppress 549  // variable is used before its value is set");
        const std::string params = parameters();
        const Dim3 cluster = program_.cluster();
        const std::string clustered = cluster.volume() > 1 ? fmt::format(" __cluster_dims__({}, {}, {})",
                                                                         cluster.x, cluster.y, cluster.z)
                                                           : "";
        out_.line(fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1){}", program_.threads(),
                              clustered));
        out_.line(fmt::format("{}({}) {{", entry_, params));
        out_.indent(1);
        if (!program_.shared().empty()) {
            out_.line(fmt::format("extern __shared__ __align__({}) unsigned char {}[];",
                                  program_.shared_align(), shared_name));
            out_.line(fmt::format("const unsigned shared_base = (unsigned)__cvta_generic_to_shared({});",
                                  shared_name));
            for (const SharedBuffer& buffer : program_.shared())
                out_.line(fmt::format("// shared_base + {}: {}, {}", buffer.offset,
                                      escape::comment(buffer.name), count_of(buffer.bytes, "byte")));
        }
        if (program_.local_bytes() > 0)
            out_.line(fmt::format("__align__({}) unsigned char {}[{}];", program_.local_align(), local_name,
                                  program_.local_bytes()));
        declare_registers();
        for (BlockId id = 0; id < program_.blocks().size(); ++id) block(id);
        out_.indent(-1);
        out_.line("}");
        return out_.take();
    }

  private:
    /// Declares the types of parameters and returns their list. A parameter whose address is taken must be a
    /// __grid_constant__, or the compiler copies it.
    std::string parameters() {
        bool addressed = false;
        for_each_step(program_, [&](const Step& s) { addressed = addressed || takes_param_address(s); });
        std::string out;
        bool maps = false;
        for (std::size_t i = 0; i < program_.params().size(); ++i) {
            const Param& param = program_.params()[i];
            const std::string name = param_name(program_, static_cast<int>(i));
            std::string type(param_type(param.type));
            if (param.structure > 0) {
                type = fmt::format("Structure{}", i);
                out_.line(fmt::format("struct alignas({}) {} {{ unsigned char bytes[{}]; }};", param.align(),
                                      type, param.structure));
            }
            if (param.type == Type::tensormap && !std::exchange(maps, true))
                out_.line(fmt::format("struct alignas({}) TensorMap {{ unsigned char bytes[{}]; }};",
                                      sm_90a.tensor_maps.align, sm_90a.tensor_maps.bytes));
            if (param.structure > 0 || (addressed && param.type != Type::tensormap))
                type = "const __grid_constant__ " + type;
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", type, name);
        }
        return out;
    }

    void declare_registers() {
        // There is one declaration per C++ type, wrapped at a readable width.
        for (std::string_view declaration : {"int", "unsigned", "float", "double", "unsigned short",
                                             "unsigned long long", "unsigned __int128"}) {
            std::string line;
            for (std::size_t i = 0; i < names_.size(); ++i) {
                if (cuda_type(program_.registers()[i].type).declaration != declaration) continue;
                line += (line.empty() ? std::string(declaration) + " " : ", ") + names_[i];
                if (line.size() > 100) {
                    out_.line(line + ";");
                    line.clear();
                }
            }
            if (!line.empty()) out_.line(line + ";");
        }
    }

    const std::string& name(Reg reg) const { return names_[reg.id]; }

    /// Returns whether all operands are values, as C++ forms need, and not lists or addresses.
    static bool plain_form_fits(const Step& s) {
        return !s.op->cuda.empty() &&
               std::none_of(s.operands.begin(), s.operands.end(),
                            [](const Operand& o) { return o.kind == Kind::list || o.kind == Kind::address; });
    }

    Type type_of(const Operand& operand, const OperandRule& rule, const isa::Form& form) const {
        if (operand.kind == Kind::reg) return program_.registers()[operand.reg.id].type;
        if (operand.kind == Kind::param)
            return program_.params()[static_cast<std::size_t>(operand.index)].type;
        return rule.type ? rule.type(form) : Type::u32;
    }

    std::string expression(const Operand& operand, Type type) const {
        switch (operand.kind) {
            case Kind::reg: return (operand.negated ? "!" : "") + name(operand.reg);
            case Kind::param: return param_name(program_, operand.index);
            case Kind::shared: return shared_expression(program_, operand);
            default:
                if (type == Type::f32)
                    return fmt::format("__uint_as_float(0x{:08X}u)", static_cast<std::uint32_t>(operand.imm));
                if (type == Type::f64)
                    return fmt::format("__longlong_as_double(0x{:016X}ll)",
                                       static_cast<std::uint64_t>(operand.imm));
                if (isa::bits(type) == 64)
                    return fmt::format("0x{:X}ull", static_cast<std::uint64_t>(operand.imm));
                return fmt::format("{}", operand.imm);
        }
    }

    /// Returns the expression in the destination's kind: PTX copies its bits, which C++ would convert.
    std::string expression(const Operand& operand, const OperandRule& rule, const Step& s) const {
        const Type have = type_of(operand, rule, s.form);
        const Type want = type_of(s.operands[0], s.op->operands[0], s.form);
        std::string text = expression(operand, have);
        if (isa::is_float(have) == isa::is_float(want)) return text;
        const std::string_view cast =
            isa::bits(have) == 32 ? (isa::is_float(have) ? "__float_as_uint" : "__uint_as_float")
                                  : (isa::is_float(have) ? "__double_as_longlong" : "__longlong_as_double");
        return fmt::format("{}({})", cast, text);
    }

    void step(const Step& s) {
        if (s.op->ptx.empty()) return;  // a breakpoint
        std::string text;
        if (plain_form_fits(s))
            text = isa::expand(
                       s.op->cuda, s,
                       [&](const Operand& o, const OperandRule& rule) { return expression(o, rule, s); }) +
                   ";";
        else
            text = Assembly(s, program_, names_).statement();
        if (s.guard) text = fmt::format("if ({}{}) {}", s.guard_negated ? "!" : "", name(s.guard), text);
        out_.line(text, s.where);
    }

    // Constructs are printed as such, and a jump to a place as a goto: no variable is declared after one.

    void block(BlockId id) {
        const BasicBlock& block = program_.blocks()[id];
        begin(block.label);
        for (const Step& s : block.steps) step(s);
        end(id);
    }

    void begin(const Label& label) {
        using Kind = Label::Kind;
        if (ends_inner(label.kind)) out_.indent(-1);
        switch (label.kind) {
            case Kind::none: return;
            case Kind::loop: out_.line("for (;;) {", label.where); break;
            case Kind::next:
                out_.line("}", label.where);
                return out_.line(fmt::format("next_{}:;", nexts_.at(label.number)), label.where);
            case Kind::otherwise: out_.line("} else {", label.where); break;
            case Kind::after:
            case Kind::joined: out_.line("}", label.where); break;
            case Kind::place: out_.line(fmt::format("place_{}:;", label.number), label.where); break;
        }
        if (begins_inner(label.kind)) out_.indent(1);
    }

    std::string condition(const BasicBlock& block, bool negated) const {
        return fmt::format("if ({}{})", block.negated != negated ? "!" : "", name(block.condition));
    }

    void end(BlockId id) {
        const BasicBlock& block = program_.blocks()[id];
        const BlockId next = id + 1;
        if (block.end == BasicBlock::End::exit) {
            if (next < program_.blocks().size()) out_.line("return;", block.where);
        } else if (block.end == BasicBlock::End::jump) {
            if (block.taken != next) go(block.taken, block.where);
        } else if (begins_if(program_, block)) {
            out_.line(condition(block, false) + " {", block.where);
            out_.indent(1);
        } else if (const Label& after = program_.blocks()[block.otherwise].label;
                   after.kind == Label::Kind::after) {
            out_.line(condition(block, true) + " break;", block.where);
            if (!nexts_.contains(after.number)) return;
            // C++'s own `continue` would skip the steps that end every iteration.
            nexts_[after.number] = labels_++;
            out_.line("{", block.where);
            out_.indent(1);
        } else {
            out_.line(fmt::format("{} goto place_{};", condition(block, false),
                                  program_.blocks()[block.taken].label.number),
                      block.where);
            if (block.otherwise != next) go(block.otherwise, block.where);
        }
    }

    void go(BlockId to, Where where) {
        const Label& label = program_.blocks()[to].label;
        switch (label.kind) {
            case Label::Kind::after: return out_.line("break;", where);
            case Label::Kind::next:
                return out_.line(fmt::format("goto next_{};", nexts_.at(label.number)), where);
            case Label::Kind::place: return out_.line(fmt::format("goto place_{};", label.number), where);
            default: return;  // the braces do it
        }
    }

    static std::map<std::uint32_t, int> loops_with_next(const Program& program) {
        std::map<std::uint32_t, int> out;
        for (const BasicBlock& block : program.blocks())
            if (block.label.kind == Label::Kind::next) out.emplace(block.label.number, 0);
        return out;
    }

    const Program& program_;
    std::string entry_;
    Writer out_;
    std::vector<std::string> names_;
    std::map<std::uint32_t, int> nexts_;  ///< by loop: number of its label
    int labels_ = 0;
};

}  // namespace

Text cuda(const Program& program, std::string_view entry) { return CudaEmitter(program, entry, false).run(); }

Text cuda_with_lines(const Program& program) { return CudaEmitter(program, {}, true).run(); }

}  // namespace wgrun::emit
