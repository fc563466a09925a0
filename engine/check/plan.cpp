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
    scan(program.blocks());
    SlotMaker maker(*this);
    for_each_step(program, [&](const Step& step) {
        ++step_count;
        maker.step = &step;
        isa::tell(step, maker);
    });
}

void Plan::scan(const std::vector<BasicBlock>& blocks) {
    using Kind = Label::Kind;
    int next = 1;
    std::vector<const void*> open;
    const auto begin = [&](const void* place, bool repeats) {
        decisions[place] = {next, 0, 0, repeats};
        open.push_back(place);
        ++next;
    };
    for (BlockId id = 0; id < blocks.size(); ++id) {
        const Label& label = blocks[id].label;
        if (label.kind != Kind::none && label.number >= constructs.size())
            constructs.resize(label.number + 1);
        if (label.kind == Kind::loop) begin(&label, true);
        if (label.kind == Kind::next) constructs[label.number].next = id;
        if (label.kind == Kind::otherwise) constructs[label.number].otherwise = id;
        if (label.kind == Kind::after || label.kind == Kind::joined) {
            constructs[label.number].after = id;
            decisions[open.back()].end = next;
            open.pop_back();
        }
        for (const Step& step : blocks[id].steps) {
            if (!step.guard) continue;
            decisions[&step] = {next, next + 1, 0, false};
            ++next;
        }
        if (blocks[id].end != BasicBlock::End::branch) continue;
        const Label& otherwise = blocks[blocks[id].otherwise].label;
        if (otherwise.number >= constructs.size()) constructs.resize(otherwise.number + 1);
        if (otherwise.kind == Kind::after)
            constructs[otherwise.number].condition = id;
        else
            begin(&blocks[id], false);
    }
}

}  // namespace wgrun::check
