#include "isa/awaited.hpp"

#include "isa/effects.hpp"

namespace wgrun::isa {

namespace {

class AwaitedBy final : public Effects {
  public:
    Awaited out;

  private:
    void barrier(const Operand& id, const Operand& threads) override {
        out.barrier = &id;
        out.threads = &threads;
    }
    void wait_mma(int pending) override { out.products = pending; }
    void set_registers(int registers, bool) override { out.registers = registers; }
};

struct Counting final : Effects {
    const Operand* mbarrier_address = nullptr;
    void counted(const Operand& mbarrier) override { mbarrier_address = &mbarrier; }
};

}  // namespace

Awaited awaited(const Step& step) {
    AwaitedBy listener;
    visit_effects(step, listener);
    Awaited& out = listener.out;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const OperandRule& rule = step.op->operands[i];
        if (out.address == nullptr && (rule.kinds & OperandRule::address) != 0)
            out.address = &step.operands[i];
        if (step.op->awaits != Awaits::mbarrier) continue;
        if (rule.access == Access::out) out.passed = &step.operands[i];
        if (rule.name == "parity") out.parity = &step.operands[i];
    }
    return out;
}

const Operand* counting_mbarrier(const Step& step) {
    Counting listener;
    visit_effects(step, listener);
    return listener.mbarrier_address;
}

}  // namespace wgrun::isa
