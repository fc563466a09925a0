// Statements as steps: which record prints this instruction, with which qualifiers and operands?
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"
#include "ptx/pattern.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::ptx {

/// What the names in a function stand for.
class Names {
  public:
    virtual ~Names() = default;
    /// Returns a register, a parameter, the byte `added` of a variable in shared memory, as an immediate its
    /// offset in local memory, or as an address the register that points to it in global memory; Kind::none
    /// for other names, such as labels.
    virtual isa::Operand find(std::string_view name, std::int64_t added) = 0;
    virtual isa::Type type_of(isa::Reg reg) const = 0;
    /// Returns whether the parameter is a tensor map.
    virtual bool is_map(int parameter) const = 0;
    /// Returns whether it is passed by value as bytes.
    virtual bool is_structure(int parameter) const = 0;
    /// Returns a register that holds the constant before the instruction: records list registers alone where
    /// PTX also takes constants, {0, %r1}.
    virtual isa::Reg constant(std::int64_t bits, isa::Type type) = 0;
    /// Returns a register of `type` that holds the low half of `reg`, or extends it by zeros, before the
    /// instruction: PTX takes addresses of 32 and of 64 bits for small spaces (PTX ISA 6.4.1).
    virtual isa::Reg converted(isa::Reg reg, isa::Type type) = 0;
    /// Returns a register of `type` whose value, extended by zeros or by its sign, `reg` gets after the
    /// instruction (PTX ISA 9.4.1).
    virtual isa::Reg extended(isa::Reg reg, isa::Type type, bool is_signed) = 0;
    /// Returns a register that holds the special register, a value of Field::sreg, before the instruction;
    /// none: no record reads it alone.
    virtual isa::Reg special(int sreg) = 0;
    /// Returns a register that holds the address of a variable in shared or local memory, as find() returns
    /// it, before the instruction.
    virtual isa::Reg placed(const isa::Operand& place, isa::Type type) = 0;
    /// Returns a register that nothing reads, in place of _.
    virtual isa::Reg unused(isa::Type type) = 0;
    /// Returns the predicate that stands for the condition code (PTX ISA 9.7.2).
    virtual isa::Reg condition_code() = 0;
    /// Returns the registers of a vector, .reg .v4 .f32 %v; none: no vector has the name.
    virtual std::vector<isa::Reg> components(std::string_view name) = 0;
};

/// An instruction of the text that a record prints.
struct Reading {
    const isa::Instruction* op = nullptr;  ///< null: no record does
    isa::Form form;                        ///< complete
    std::vector<isa::Operand> operands{};  ///< as in a step
    std::uint32_t statements = 1;          ///< how many of the text it is
    /// Results that the record throws away and the text keeps, such as the state that an arrival returns.
    std::vector<isa::Reg> results{};
};

/// Reads the instructions of a module. It remembers the spellings that it has met, and is for one thread at a
/// time.
class Reader {
  public:
    explicit Reader(const Module& module) : module_(module) {}
    /// Reads the instruction `statement` and, where one record prints several instructions, those after it;
    /// all of them before `last`.
    Reading read(std::uint32_t statement, std::uint32_t last, Names& names);

  private:
    /// A template and a form that fit an opcode.
    struct Candidate {
        const Template* text;
        isa::Form form;
    };
    const std::vector<Candidate>& candidates(const Statement& statement);
    /// `loose`: the text may keep results that the record throws away, and give hints that it does not have.
    bool fits(const Candidate& candidate, std::uint32_t statement, std::uint32_t last, Names& names,
              bool loose, Reading& out);

    const Module& module_;
    std::unordered_map<std::string_view, std::vector<Candidate>> seen_;
};

}  // namespace wgrun::ptx
