// Builds of a kernel that are made from its program: the same blocks, and steps, registers and parameters
// more.
#pragma once

#include <utility>

#include "wgrun/program.hpp"

namespace wgrun {

/// Copies a program block by block. What is derived from it says what becomes of steps, loops and branches.
class Rewriting {
  public:
    virtual ~Rewriting() = default;

  protected:
    /// The copy begins with everything but the body.
    explicit Rewriting(const Program& from);

    const Program& from() const { return from_; }
    Block& body() { return to_.body_; }
    isa::Type type_of(Reg reg) const { return to_.registers_[reg.id].type; }
    /// The copy, whose body is complete.
    Program take() { return std::move(to_); }

    /// By default they are copied as they are.
    virtual void copy(const Step& step, Block& to) { to.emplace_back(step); }
    virtual void copy(const Loop& loop, Block& to);
    virtual void copy(const Branch& branch, Block& to);
    virtual void copy(const Block& block, Block& to);
    /// As what it is.
    void copy(const Node& node, Block& to);

    Reg reg(isa::Type type);
    /// A parameter behind the others; with underscores where one of them is called so. Its index.
    int parameter(std::string name, isa::Type type, std::optional<Dtype> pointee = {});
    /// The value of a parameter in a register.
    Reg loaded(int parameter, Block& to);

    static Step made(const isa::Instruction& op, const isa::Form& asked, std::vector<Operand> operands,
                     Where where);
    /// `to` gets a step that gives a new register of that type from `operands`.
    Reg computed(const char* op, isa::Type type, std::vector<Operand> operands, Where where, Block& to,
                 isa::Type source = isa::Type::none);
    /// The address that an operand stands for, in a register.
    Reg address_in(const Operand& operand, isa::Type type, Where where, Block& to);
    /// The address of the first byte of shared memory; the program has a shared buffer.
    Reg shared_base(Where where, Block& to);
    /// `to` gets a branch: what it does where the predicate holds.
    static Block& where_it_holds(Reg predicate, bool negated, Where where, Block& to);

  private:
    const Program& from_;
    Program to_;
};

}  // namespace wgrun
