#include "program/without.hpp"

#include "isa/awaited.hpp"
#include "program/rewriting.hpp"

namespace wgrun {

class Without final : Rewriting {
  public:
    Without(const Program& program, const std::unordered_set<const Step*>& left_out)
        : Rewriting(program), left_out_(left_out) {}

    Program run() {
        copy_blocks();
        return take();
    }

  private:
    void copy(const Step& step) override {
        if (!left_out_.contains(&step)) return add(step);
        const Operand* passed = isa::awaited(step).passed;
        if (passed == nullptr) return;
        const Reg zero = computed("mov", isa::Type::u32, {Operand::immediate(0)}, step.where);
        isa::Form equal;
        equal.set(isa::Field::cmp, isa::parse_value(isa::Field::cmp, "eq").value());
        equal.set(isa::Field::type, isa::Type::u32);
        Step passes =
            made(*isa::find("setp"), equal, {*passed, Operand::of(zero), Operand::immediate(0)}, step.where);
        passes.guard = step.guard;
        passes.guard_negated = step.guard_negated;
        add(std::move(passes));
    }

    const std::unordered_set<const Step*>& left_out_;
};

Program without(const Program& program, const std::unordered_set<const Step*>& left_out) {
    return Without(program, left_out).run();
}

}  // namespace wgrun
