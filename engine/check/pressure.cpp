#include "check/pressure.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace wgrun::check {

namespace {

/// Is a register given a new value whatever it held? The accumulators of a wgmma with the constant scale-d 0
/// are.
struct Overwrites final : isa::Effects {
    explicit Overwrites(const Step& step) {
        if (step.op->effects) step.op->effects(step, *this);
    }
    void memory(const isa::MemoryAccess&) override {}
    void order_registers() override {}
    void issue_mma(const isa::AsyncMma& mma) override {
        accumulators = mma.reads_accumulators ? nullptr : mma.accumulators;
    }
    void commit_mma() override {}
    void wait_mma(int) override {}
    void proxy_fence(std::optional<isa::Space>) override {}
    void barrier(const Operand&, const Operand&) override {}
    void await_arrivals() override {}
    void copy_async(const isa::MemoryAccess&) override {}
    void commit_copies() override {}
    void wait_copies(std::optional<int>) override {}
    void arrive_copies() override {}

    const std::vector<Reg>* accumulators = nullptr;
};

}  // namespace

template <class Visit>
void Pressure::for_each_slot(const Operand& operand, Visit visit) const {
    const auto one = [&](Reg reg) {
        if (const int slot = plan_.slots[reg.id]; slot >= 0) visit(static_cast<std::size_t>(slot));
    };
    if (operand.kind == Operand::Kind::list) {
        for (Reg reg : operand.list) one(reg);
    } else if (operand.reg) {
        one(operand.reg);
    }
}

Pressure::Pressure(const Program& program, const Plan& plan)
    : plan_(plan),
      written_(static_cast<std::size_t>(plan.slot_count)),
      live_(static_cast<std::size_t>(plan.slot_count)) {
    if (plan.slot_count == 0) return;
    forward(program.body());
    backward(program.body());
}

/// Adds what the block writes.
void Pressure::collect(const Block& block, Set& written) const {
    for_each_step(block, [&](const Step& step) {
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].access != isa::Access::in)
                for_each_slot(step.operands[i], [&](std::size_t slot) { written[slot] = 1; });
    });
}

void Pressure::forward(const Block& block) {
    for (const Node& node : block) {
        if (const auto* step = std::get_if<Step>(&node)) {
            for (std::size_t i = 0; i < step->operands.size(); ++i)
                if (step->op->operands[i].access != isa::Access::in)
                    for_each_slot(step->operands[i], [&](std::size_t slot) { written_[slot] = 1; });
            if (step->op->collective) before_.emplace(step, written_);
        } else if (const auto* inner = std::get_if<std::unique_ptr<Loop>>(&node)) {
            collect((*inner)->head, written_);
            collect((*inner)->body, written_);
            forward((*inner)->head);
            forward((*inner)->body);
        } else {
            const Branch& branch = *std::get<std::unique_ptr<Branch>>(node);
            const Set before = written_;
            forward(branch.then_body);
            const Set after = std::exchange(written_, before);
            forward(branch.else_body);
            for (std::size_t i = 0; i < after.size(); ++i) written_[i] |= after[i];
        }
    }
}

void Pressure::backward(const Step& step) {
    const Overwrites overwrites(step);
    const bool collective = step.op->collective;
    if (collective) {
        Set held = live_;
        for (const Operand& operand : step.operands)
            for_each_slot(operand, [&](std::size_t slot) { held[slot] = 1; });
        const Set& written = before_.at(&step);
        int& need = needs_[&step];
        need = std::max(need, std::transform_reduce(held.begin(), held.end(), written.begin(), 0,
                                                    std::plus<>(), [](int a, int b) { return a & b; }));
    }
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        const bool kills =
            step.op->operands[i].access == isa::Access::out || &operand.list == overwrites.accumulators;
        if (kills && !step.guard) for_each_slot(operand, [&](std::size_t slot) { live_[slot] = 0; });
    }
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (step.op->operands[i].access == isa::Access::out || &operand.list == overwrites.accumulators)
            continue;
        for_each_slot(operand, [&](std::size_t slot) { live_[slot] = 1; });
    }
}

void Pressure::backward(const Block& block) {
    for (auto node = block.rbegin(); node != block.rend(); ++node) {
        if (const auto* step = std::get_if<Step>(&*node)) {
            backward(*step);
        } else if (const auto* inner = std::get_if<std::unique_ptr<Loop>>(&*node)) {
            const Loop& loop = **inner;
            const Set after = live_;
            for (Set head;;) {
                // What the head leaves: the body may follow, or the end of the loop.
                backward(loop.head);
                if (head == live_) break;
                head = live_;
                backward(loop.body);
                for (std::size_t i = 0; i < live_.size(); ++i) live_[i] |= after[i];
            }
        } else {
            const Branch& branch = *std::get<std::unique_ptr<Branch>>(*node);
            const Set after = live_;
            backward(branch.then_body);
            const Set then_live = std::exchange(live_, after);
            backward(branch.else_body);
            for (std::size_t i = 0; i < live_.size(); ++i) live_[i] |= then_live[i];
        }
    }
}

}  // namespace wgrun::check
