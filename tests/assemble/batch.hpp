// Programs of many cases: a case is one step, on a line of its own of an imaginary script, so that what ptxas
// says of a line of the text leads back to it.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "emit/emit.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/program.hpp"

namespace wgrun::test {

using isa::Field;
using isa::Form;
using isa::Instruction;
using isa::OperandRule;
using isa::Type;

/// What is tested here is the compilers, not what is kept of them.
inline const bool cache_is_off = setenv("WGRUN_CACHE", "off", 1) == 0;

/// Tells on standard output why a test does nothing.
inline bool missing(const gpu::Part& part, const char* what) {
    if (part) return false;
    std::printf("skipped: no %s (%s)\n", what, part.missing.c_str());
    return true;
}
inline bool no_ptxas() {
    static const gpu::Part part = gpu::doctor().ptxas;
    return missing(part, "ptxas");
}
inline bool no_nvrtc() {
    static const gpu::Part part = gpu::doctor().nvrtc;
    return missing(part, "NVRTC");
}

class Batch {
  public:
    explicit Batch(const std::string& name = "batch") : builder_(name, 128, {}, Where::at("cases", 1)) {
        for (Type type : {Type::u8, Type::s8, Type::u16, Type::s16, Type::b16, Type::u32, Type::s32,
                          Type::f32, Type::u64, Type::s64, Type::f64, Type::b32, Type::b64})
            params_[type] = builder_.param(fmt::format("p_{}", isa::to_string(type)), type, {});
        params_[Type::tensormap] =
            builder_.tensor_map("p_map", {Dtype::bf16, {64, 64}, SwizzleMode::b128, false}, true);
        structure_ = builder_.structure("p_structure", 64, 16);
        shared_ = builder_.shared("S", 4096, 1024, {});
        builder_.local(4096, 16);
    }

    Builder& builder() { return builder_; }
    std::size_t size() const { return names_.size(); }
    const std::string& name_of(int line) const { return names_[static_cast<std::size_t>(line - 2)]; }

    /// The next case. `operands` may be empty: then they are made from the rules.
    const Step& add(const std::string& name, const Instruction& op, const Form& form,
                    std::vector<Operand> operands = {}) {
        names_.push_back(fmt::format("{}: {} {}", name, op.name, spelled(form)));
        builder_.at(Where::at("cases", static_cast<int>(names_.size()) + 1));
        if (operands.empty()) operands = this->operands(op, form);
        INFO(names_.back());
        return builder_.add(op, form, std::move(operands));
    }

    /// A register of the batch: each type has some, which all cases share.
    Reg reg(Type type, std::size_t index = 0) { return regs(type, index + 1)[index]; }
    std::vector<Reg> regs(Type type, std::size_t count) {
        std::vector<Reg>& file = files_[isa::register_type(type)];
        while (file.size() < count) file.push_back(builder_.reg(type));
        return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    /// What the rules ask for, in the most ordinary form; not what the form says is left out.
    std::vector<Operand> operands(const Instruction& op, const Form& form) {
        std::vector<Operand> out;
        for (const OperandRule& rule : op.operands)
            out.push_back(left_out(rule, form) ? Operand() : operand(rule, form));
        return out;
    }
    static bool left_out(const OperandRule& rule, const Form& form) {
        return rule.flag && form.get(*rule.flag, 0) == 0;
    }

    /// What the rule asks for, in the most ordinary form.
    Operand operand(const OperandRule& rule, const Form& form) {
        const std::vector<unsigned> kinds = kinds_of(rule, form);
        return operand(rule, form, kinds.front());
    }

    /// The kinds that may stand there.
    static std::vector<unsigned> kinds_of(const OperandRule& rule, const Form& form) {
        const int count = rule.count ? rule.count(form) : 1;
        if ((rule.kinds & OperandRule::list) && (count > 1 || !(rule.kinds & OperandRule::reg)))
            return {OperandRule::list};
        std::vector<unsigned> out;
        for (unsigned kind : {OperandRule::reg, OperandRule::imm, OperandRule::address, OperandRule::param,
                              OperandRule::shared})
            if (rule.kinds & kind) out.push_back(kind);
        return out;
    }

    Operand operand(const OperandRule& rule, const Form& form, unsigned kind) {
        const Type type = rule.type ? rule.type(form) : Type::u32;
        const int count = rule.count ? rule.count(form) : 1;
        switch (kind) {
            case OperandRule::list: return Operand::of(regs(type, static_cast<std::size_t>(count)));
            case OperandRule::reg: return Operand::of(reg(type));
            case OperandRule::imm: return Operand::number(rule.imm_range ? rule.imm_range->hi : 1);
            case OperandRule::address: return Operand::address(reg(type), 16);
            case OperandRule::param: {
                const bool part = (rule.kinds & OperandRule::address) != 0;
                Operand param = Operand::param(part ? structure_ : params_.at(type));
                if (part) param.offset = 16;
                return param;
            }
            default: return Operand::shared(shared_, 32);
        }
    }
    int shared() const { return shared_; }

    Program finish() { return builder_.finish(); }

  private:
    Builder builder_;
    std::map<Type, int> params_;
    int structure_ = 0;
    std::map<Type, std::vector<Reg>> files_;
    std::vector<std::string> names_;
    int shared_ = 0;
};

/// Assembles the batch and fails with the cases that ptxas refuses.
inline void assembles(Batch& batch) {
    const emit::Text text = emit::ptx(batch.finish());
    try {
        gpu::ptxas_assemble(text.text);
    } catch (const gpu::CompileError& error) {
        for (const gpu::AssemblerNote& note : error.log().notes) {
            if (note.severity != Severity::error || note.line < 1) continue;
            const Where where = text.lines[static_cast<std::size_t>(note.line - 1)];
            UNSCOPED_INFO((where ? batch.name_of(where.line) : "no case") << ": " << note.message);
        }
        FAIL_CHECK(error.what());
    }
}

}  // namespace wgrun::test
