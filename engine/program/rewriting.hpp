// Builds derived from a kernel's program: the same blocks, with additional steps, registers and parameters.
// And programs whose blocks are written step by step, without a Builder's checks: those read from a text.
#pragma once

#include <utility>

#include "program/constructs.hpp"

namespace wgrun {

/// Copies a program block by block. Derived classes decide what replaces each step, and what is added at the
/// beginning and end of a block.
class Rewriting {
  public:
    virtual ~Rewriting() = default;

  protected:
    /// The copy starts with everything but the blocks.
    explicit Rewriting(const Program& from);

    const Program& from() const { return from_; }
    isa::Type type_of(Reg reg) const { return to_.registers_[reg.id].type; }
    /// Copies the blocks, after what has been added.
    void copy_blocks();
    /// Returns the copy, whose blocks are complete.
    Program take();

    /// The blocks that are written here, where none are copied.
    Constructs& text() { return text_; }
    /// Returns the program whose blocks were all written here, and whose last one ends at `end`. Throws
    /// ArgumentError if a label that is jumped to has no place.
    Program take_text(Where end);

    /// By default, copies the step as it is.
    virtual void copy(const Step& step) { add(step); }
    virtual void begins(BlockId /*block*/) {}  ///< called before the steps of a block of the original
    virtual void ends(BlockId /*block*/) {}    ///< called before the block's end

    void add(Step step) { text_.here().steps.push_back(std::move(step)); }
    /// Steps added from here to end_if() are executed where the predicate holds.
    void begin_if(Reg predicate, bool negated, Where where) { text_.begin_if(predicate, negated, where); }
    void end_if() { text_.end_if(); }

    Reg reg(isa::Type type);
    /// Reserves local memory, as Builder::local, without its limits.
    std::int64_t local(std::int64_t bytes, std::int64_t align);
    /// Adds a parameter after the others, with underscores appended if its name is taken. Returns its index.
    int parameter(std::string name, isa::Type type, std::optional<Dtype> pointee = {});
    /// Adds a parameter that points to a variable of the module. Returns its index.
    int variable(std::string name, bool constant);
    /// Returns a register with the parameter's value.
    Reg loaded(int parameter);

    static Step made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands,
                     Where where);
    /// Adds a step that computes a new register of that type from `operands`, and returns the register.
    Reg computed(const char* op, isa::Type type, std::vector<Operand> operands, Where where,
                 isa::Type source = isa::Type::none);
    /// Returns a register with the address that an operand stands for.
    Reg address_in(const Operand& operand, isa::Type type, Where where);
    /// Returns the address of the first byte of shared memory; the program must have a shared buffer.
    Reg shared_base(Where where);

  private:
    const Program& from_;
    Program to_;
    Constructs text_;
    std::vector<BlockId> first_, last_;  ///< by block of the original: first and last block of its copy
};

}  // namespace wgrun
