#include "check/plan.hpp"

#include "isa/effects.hpp"

namespace wgrun::check {

namespace {

/// Gives slots to the registers that asynchronous operations access.
class SlotMaker final : public isa::Effects {
  public:
    explicit SlotMaker(Plan& plan) : plan_(plan) {}

    void issue_mma(const isa::AsyncMma& mma) override {
        MmaRegisters& registers = plan_.mmas[step];
        add(*mma.accumulators, registers.accumulators);
        if (mma.a_fragment) add(*mma.a_fragment, registers.sources);
        if (mma.metadata) {
            plan_.async_registers.insert(mma.metadata);
            registers.metadata = add(mma.metadata->reg, registers.sources);
        }
    }
    const Step* step = nullptr;  ///< the one at hand

  private:
    void add(const std::vector<Reg>& registers, Slots& slots) {
        plan_.async_lists.insert(&registers);
        for (Reg reg : registers) add(reg, slots);
    }
    int add(Reg reg, Slots& slots) {
        int& slot = plan_.slots[reg.id];
        if (slot < 0) slot = plan_.slot_count++;
        slots.add(slot);
        return slot;
    }
    Plan& plan_;
};

}  // namespace

Plan::Plan(const Program& program) : slots(program.registers().size(), -1) {
    scan(program.body());
    SlotMaker maker(*this);
    for_each_step(program.body(), [&](const Step& step) {
        ++step_count;
        maker.step = &step;
        isa::tell(step, maker);
    });
}

void Plan::scan(const Block& block) {
    for (const Node& node : block) {
        if (const auto* step = std::get_if<Step>(&node)) {
            if (!step->guard) continue;
            decisions[step] = {next_, next_ + 1, 0, false};
            ++next_;
        } else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node)) {
            const int id = next_++;
            scan((*loop)->head);
            scan((*loop)->body);
            scan((*loop)->next);
            decisions[loop->get()] = {id, next_, 0, true};
        } else if (const auto* branch = std::get_if<std::unique_ptr<Branch>>(&node)) {
            const int id = next_++;
            scan((*branch)->then_body);
            scan((*branch)->else_body);
            decisions[branch->get()] = {id, next_, 0, false};
        }
    }
}

}  // namespace wgrun::check
