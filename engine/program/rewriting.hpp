// Builds of a kernel that are made from its program: the same blocks, and steps, registers and parameters
// more.
#pragma once

#include <utility>

#include "program/constructs.hpp"

namespace wgrun {

/// Copies a program block by block. What is derived from it says what becomes of steps, and what stands where
/// a block begins and ends.
class Rewriting {
  public:
    virtual ~Rewriting() = default;

  protected:
    /// The copy begins with everything but the blocks.
    explicit Rewriting(const Program& from);

    const Program& from() const { return from_; }
    isa::Type type_of(Reg reg) const { return to_.registers_[reg.id].type; }
    /// Copies the blocks, behind what has been added.
    void copy_blocks();
    /// The copy, whose blocks are complete.
    Program take();

    /// By default steps are copied as they are.
    virtual void copy(const Step& step) { add(step); }
    virtual void begins(BlockId /*block*/) {}  ///< of the original program: its steps follow
    virtual void ends(BlockId /*block*/) {}    ///< its end follows

    void add(Step step) { text_.here().steps.push_back(std::move(step)); }
    /// What is added from here to end_if() is done where the predicate holds.
    void begin_if(Reg predicate, bool negated, Where where) { text_.begin_if(predicate, negated, where); }
    void end_if() { text_.end_if(); }

    Reg reg(isa::Type type);
    /// A parameter behind the others; with underscores where one of them is called so. Its index.
    int parameter(std::string name, isa::Type type, std::optional<Dtype> pointee = {});
    /// The value of a parameter in a register.
    Reg loaded(int parameter);

    static Step made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands,
                     Where where);
    /// Adds a step that gives a new register of that type from `operands`.
    Reg computed(const char* op, isa::Type type, std::vector<Operand> operands, Where where,
                 isa::Type source = isa::Type::none);
    /// The address that an operand stands for, in a register.
    Reg address_in(const Operand& operand, isa::Type type, Where where);
    /// The address of the first byte of shared memory; the program has a shared buffer.
    Reg shared_base(Where where);

  private:
    const Program& from_;
    Program to_;
    Constructs text_;
    std::vector<BlockId> first_, last_;  ///< by block of the original: what has become of it
};

}  // namespace wgrun
