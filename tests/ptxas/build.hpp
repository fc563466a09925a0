// A program of program.hpp as a kernel.
#pragma once

#include "tests/ptxas/program.hpp"
#include "tests/unit/check/kit.hpp"

namespace wgmma_program {

class Build {
  public:
    static wgrun::Program kernel(const Block& program) {
        Build build;
        build.block(program);
        return build.kernel_.builder().finish();
    }

  private:
    using Kernel = kit::Kernel;
    using Reg = wgrun::Reg;
    using Operand = wgrun::Operand;

    Build() {
        out_ =
            kernel_.value("ld.param", Kernel::type(kit::Type::u64),
                          {Operand::param(kernel_.builder().param("X", kit::Type::u64, wgrun::Dtype::f32))});
        a_ = kernel_.descriptor(kernel_.buffer(kit::tile()));
        b_ = kernel_.descriptor(kernel_.buffer(kit::tile(16)));
        some_ = kernel_.compare("lt", kernel_.tid(), Kernel::imm(5));
        const Reg start = argument();
        for (auto& registers : accumulators_) {
            registers = kernel_.builder().regs(kit::Type::f32, accumulator_registers);
            for (Reg reg : registers)
                kernel_.step("cvt", Kernel::type(kit::Type::f32).set(kit::Field::from, kit::Type::u32),
                             {Operand::of(reg), Operand::of(start)});
        }
        for (auto& registers : fragments_) {
            registers = kernel_.builder().regs(kit::Type::b32, fragment_registers);
            for (Reg reg : registers)
                kernel_.step("mov", Kernel::type(kit::Type::b32), {Operand::of(reg), Operand::of(start)});
        }
    }

    /// A parameter of its own for each decision: none follows from another.
    Reg argument() {
        const int param = kernel_.builder().param(fmt::format("n{}", arguments_++), kit::Type::u32, {});
        return kernel_.value("ld.param", Kernel::type(kit::Type::u32), {Operand::param(param)});
    }

    void store(Reg reg, kit::Type type) {
        kit::Form form = Kernel::type(type);
        form.set(kit::Field::space, static_cast<int>(wgrun::isa::Space::global));
        kernel_.step("st", form, {Operand::address(out_, 4 * stores_++), Operand::of(reg)});
    }

    void block(const Block& block) {
        for (const Statement& statement : block) {
            if (statement.guarded) kernel_.guard(some_);
            this->statement(statement);
            kernel_.guard({});
        }
    }

    void statement(const Statement& s) {
        using enum Statement::Kind;
        const auto accumulator = static_cast<std::size_t>(s.accumulator);
        const auto fragment = static_cast<std::size_t>(std::max(s.fragment, 0));
        const auto index = static_cast<std::size_t>(s.index);
        switch (s.kind) {
            case fence: kernel_.fence(); break;
            case mma: multiply(s); break;
            case commit: kernel_.commit(); break;
            case wait: kernel_.wait(s.count); break;
            case read: store(accumulators_[accumulator][index], kit::Type::f32); break;
            case write: {
                const Reg reg = accumulators_[accumulator][index];
                kernel_.step("add", Kernel::type(kit::Type::f32),
                             {Operand::of(reg), Operand::of(reg), Operand::number(1)});
                break;
            }
            case read_fragment: store(fragments_[fragment][index], kit::Type::b32); break;
            case write_fragment:
                kernel_.step("mov", Kernel::type(kit::Type::b32),
                             {Operand::of(fragments_[fragment][index]), Kernel::imm(s.count + 7)});
                break;
            case pack: {
                const auto& from = accumulators_[accumulator];
                kit::Form form = Kernel::type(kit::Type::bf16x2);
                kernel_.step("cvt.pair", form.set(kit::Field::from, kit::Type::f32),
                             {Operand::of(fragments_[fragment][index]), Operand::of(from[2 * index + 1]),
                              Operand::of(from[2 * index])});
                break;
            }
            case loop: {
                const Operand count = s.count < 0 ? Operand::of(argument()) : Kernel::imm(s.count);
                kernel_.loop(count, [&](Reg) { block(s.body); });
                break;
            }
            case branch: {
                const Reg condition = kernel_.compare("gt", argument(), Kernel::imm(3));
                kernel_.branch(
                    condition, [&] { block(s.body); }, [&] { block(s.other); });
                break;
            }
        }
    }

    void multiply(const Statement& s) {
        std::vector<Reg> d = accumulators_[static_cast<std::size_t>(s.accumulator)];
        if (s.half) d.resize(accumulator_registers / 2);
        const Operand scale = Kernel::imm(s.overwrites ? 0 : 1);
        if (s.fragment < 0)
            kernel_.mma(d, a_, b_, scale);
        else
            kernel_.mma(d, fragments_[static_cast<std::size_t>(s.fragment)], b_, scale);
    }

    Kernel kernel_;
    Reg out_, a_, b_, some_;
    std::array<std::vector<Reg>, accumulators> accumulators_;
    std::array<std::vector<Reg>, fragments> fragments_;
    int arguments_ = 0, stores_ = 0;
};

}  // namespace wgmma_program
