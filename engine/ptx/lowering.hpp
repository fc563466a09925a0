// How the body of an entry becomes a program: the state that its parts share.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/rewriting.hpp"
#include "ptx/head.hpp"
#include "ptx/labels.hpp"
#include "ptx/read.hpp"
#include "ptx/refusals.hpp"

namespace wgrun::ptx {

class Lowering final : private Rewriting, private Names {
  public:
    Lowering(const Module& module, const Function& function, const Head& head, bool whole, Lowered& out);
    Program run();

  private:
    using Type = isa::Type;

    /// A body that is being read: the entry's, or that of a function that it calls.
    struct Frame {
        const Function& function;
        Labels labels;
        int end = 0;  ///< the label behind its last instruction
        bool end_used = false;
    };

    // lower.cpp: statements; branches.cpp: where they lead
    void body(Frame& frame);
    std::uint32_t instruction(std::uint32_t index);
    std::uint32_t plain(std::uint32_t index, Reg guard);
    bool counts_registers(const Step& step);
    void jump(const Statement& statement, Reg guard);
    bool jump_by_index(const Statement& statement, Reg guard);
    const Statement* targets_called(std::string_view name) const;
    void leave(const Statement& statement, Reg guard);
    bool known_to_synchronise_nothing(const Statement& statement) const;
    bool reads_special(const Statement& statement) const;
    void unread(const Statement& statement, Step& step);
    bool illegal(const Statement& statement, Step& step);
    void advise(const Statement& statement);
    std::vector<Reg> read_by(const Statement& statement);
    void keep_text(const Statement& statement, std::vector<Reg> written, std::vector<Reg> read);
    void registers(const Node& node, std::vector<Reg>& out);
    Frame frame_of(const Function& function);
    Where where(Span span) const { return {file_, module_.line(span.offset)}; }
    void error(Span span, std::string message);

    // names.cpp: what names stand for, and the steps that make it
    Operand find(std::string_view name, std::int64_t added) override;
    Type type_of(Reg reg) const override { return Rewriting::type_of(reg); }
    bool is_map(int parameter) const override {
        return from().params()[static_cast<std::size_t>(parameter)].type == Type::tensormap;
    }
    bool is_structure(int parameter) const override {
        return from().params()[static_cast<std::size_t>(parameter)].structure > 0;
    }
    Reg constant(std::int64_t bits, Type type) override;
    Reg converted(Reg reg, Type type) override;
    Reg extended(Reg reg, Type type, bool is_signed) override;
    Reg special(int sreg) override;
    Reg placed(const Operand& place, Type type) override;
    Reg unused(Type type) override { return reg(type); }
    Reg condition_code() override;
    std::vector<Reg> components(std::string_view name) override;
    Operand shared(const Symbol& symbol, std::int64_t offset) const;
    int variable(std::uint32_t index);
    void declare(const Statement& statement);
    int declare_components(const Variable& variable);
    /// Makes what the step at hand needs before it.
    void prepare(const Step& step);
    /// Extends its results to their registers.
    void extend(const Step& step);

    // calls.cpp: functions and their parameters
    bool passes(const Statement& statement, Reg guard);
    bool call(const Statement& statement, Reg guard);
    bool calls_library(const Statement& statement, Reg guard);
    Reg base_of(const Symbol& symbol, std::int64_t offset, Where here);
    /// What a call passes or gets: what the function declares, and what the call names.
    struct Passed {
        std::string_view name;
        Symbol formal;
        Operand actual;  ///< of a register
    };
    bool passed(const std::vector<Variable>& declared, std::uint32_t given, std::vector<Passed>& out);
    void hand_over(const Passed& one, bool result, Where here);
    const Function* function_called(std::string_view name) const;

    const Module& module_;
    const Function& function_;
    Lowered& out_;
    Reader reader_;
    Refusals refusals_;
    Symbols symbols_;
    Frame* frame_ = nullptr;
    std::vector<const Function*> active_;  ///< functions that are being read, the entry first
    std::size_t expanded_ = 0;             ///< statements of functions that were read in place of calls

    /// What the step at hand may need: a register, and how it gets its value.
    struct Made {
        enum class How : std::uint8_t { constant, conversion, address, special, place } how;
        Reg reg;
        std::int64_t bits = 0;  ///< of a constant; bytes that are added to an address; the special register
        Reg from{};             ///< of a conversion
        int parameter = -1;  ///< of an address: that of its variable; of a place: the buffer, or local memory
    };
    std::vector<Made> made_;
    /// A result of the step at hand, and the wider register that gets it.
    struct Extension {
        Reg narrow, wide;
        bool is_signed;
    };
    std::vector<Extension> extensions_;
    std::map<std::uint32_t, int> variables_;  ///< by place in the module: their parameters
    Reg condition_code_{};
    std::deque<std::string> components_;  ///< names of the registers of vectors

    FileName file_;
    bool given_registers_ = false;  ///< .maxnreg
    bool whole_ = false;            ///< LaunchFacts::whole
};

}  // namespace wgrun::ptx
