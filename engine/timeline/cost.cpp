#include "timeline/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "isa/effects.hpp"

namespace wgrun::timeline {
namespace {

/// The tensor core's time for a wgmma: its multipliers, or the operands that it reads from shared memory.
double product_cycles(const isa::AsyncMma& mma) {
    const double multiply = static_cast<double>(mma.rows_a) * mma.rows_b * mma.k_bytes_a / roofline.product;
    double bytes = static_cast<double>(mma.k_bytes_b) * mma.rows_b;
    if (mma.a_descriptor != nullptr) bytes += static_cast<double>(mma.k_bytes_a) * mma.rows_a;
    return std::max(multiply, bytes / roofline.shared_bytes);
}

/// Collects the effects that the record declares for a step.
class Reader final : public isa::Effects {
  public:
    explicit Reader(StepCost& cost) : cost_(cost) {}
    void memory(const isa::MemoryAccess& access) override {
        const bool again = cost_.kind != StepCost::Kind::plain;
        cost_.bytes = access.bytes;
        if (isa::is_shared(access.space))
            cost_.kind = StepCost::Kind::shared;
        else
            cost_.kind = again          ? StepCost::Kind::atomic
                         : access.write ? StepCost::Kind::store
                                        : StepCost::Kind::load;
    }
    void issue_mma(const isa::AsyncMma& mma) override {
        cost_.kind = StepCost::Kind::product;
        cost_.cycles = product_cycles(mma);
    }
    void commit_mma() override { cost_.kind = StepCost::Kind::commit; }
    void wait_mma(int pending) override {
        cost_.kind = StepCost::Kind::wait;
        cost_.pending = pending;
    }
    void copy_async(const isa::AsyncCopy& copy) override {
        cost_.kind = StepCost::Kind::copy;
        cost_.bytes = copy.bytes;
    }
    void commit_copies() override { cost_.kind = StepCost::Kind::commit_copy; }
    void wait_copies(std::optional<int> pending) override {
        cost_.kind = StepCost::Kind::wait_copies;
        cost_.pending = pending.value_or(-1);
    }

  private:
    StepCost& cost_;
};

}  // namespace

Costs::Costs(const sim::Code& code) {
    steps_.reserve(code.ops.size());
    for (const sim::Op& op : code.ops) {
        StepCost cost;
        cost.first = static_cast<std::uint32_t>(registers_.size());
        if (op.step == nullptr) {
            cost.kind = op.kind == sim::Op::Kind::jump && op.ways.taken <= steps_.size()
                            ? StepCost::Kind::jump
                        : op.reg != sim::no_reg ? StepCost::Kind::plain
                                                : StepCost::Kind::free;
        } else {
            cost.throughput = isa::throughput(*op.step);
            Reader reader(cost);
            isa::visit_effects(*op.step, reader);
        }
        registers_of(op, cost);
        steps_.push_back(cost);
    }
    drop_repetitions(code);
}

// What the assembler removes costs nothing: constants, copies of registers, and what a piece of code without
// branches computes a second time. This is value numbering: each register value and each computation has a
// number.
void Costs::drop_repetitions(const sim::Code& code) {
    std::map<std::uint32_t, std::uint64_t> values;  // of registers
    std::map<std::string, std::uint64_t> known;     // computations of this piece
    std::uint64_t next = 1;
    const auto value_of = [&](isa::Reg reg) {
        return values.try_emplace(reg.id, next).second ? next++ : values[reg.id];
    };
    for (std::size_t pc = 0; pc < code.ops.size(); ++pc) {
        const sim::Op& op = code.ops[pc];
        if (op.step == nullptr) {
            known.clear();
            values.clear();
            continue;
        }
        const isa::Step& step = *op.step;
        const bool pure = steps_[pc].kind == StepCost::Kind::plain && !step.guard &&
                          step.op->effects == nullptr && !isa::pinned(*step.op) &&
                          step.operands.size() >= 2 && step.operands[0].kind == isa::Operand::Kind::reg &&
                          step.op->operands[0].access == isa::Access::out;
        std::string key;
        if (pure) {
            key = step.op->name;
            for (int f = 0; f < isa::field_count; ++f)
                key += fmt::format(",{}", step.form.get(static_cast<isa::Field>(f), -1));
            for (std::size_t i = 1; i < step.operands.size(); ++i) {
                const isa::Operand& operand = step.operands[i];
                key += fmt::format(";{},{},{},{},{}", static_cast<int>(operand.kind), operand.imm,
                                   operand.offset, operand.index, operand.negated);
                if (operand.reg) key += fmt::format(",{}", value_of(operand.reg));
                for (isa::Reg reg : operand.list) key += fmt::format(",{}", value_of(reg));
            }
            const auto [found, added] = known.try_emplace(std::move(key), next);
            if (added) ++next;
            if (!added || steps_[pc].throughput.pipe == isa::Pipe::none)
                steps_[pc].kind = StepCost::Kind::free;
            values[step.operands[0].reg.id] = found->second;
            continue;
        }
        for (std::uint32_t reg : writes(steps_[pc])) values[reg] = next++;
        if (steps_[pc].kind == StepCost::Kind::product)  // its accumulators change, too
            for (isa::Reg reg : step.operands[0].list) values[reg.id] = next++;
    }
}

// Accumulators are not among them: wgmma.wait_group determines when they are ready.
void Costs::registers_of(const sim::Op& op, StepCost& cost) {
    std::vector<std::uint32_t> reads, writes;
    if (op.reg != sim::no_reg) reads.push_back(op.reg);
    if (op.step != nullptr)
        for (std::size_t i = 0; i < op.step->operands.size(); ++i) {
            const isa::Operand& operand = op.step->operands[i];
            const isa::Access access = op.step->op->operands[i].access;
            if (cost.kind == StepCost::Kind::product && access != isa::Access::in) continue;
            const bool address = operand.kind == isa::Operand::Kind::address;
            const auto take = [&](isa::Reg reg) {
                if (!reg) return;
                if (access != isa::Access::out || address) reads.push_back(reg.id);
                if (access != isa::Access::in && !address) writes.push_back(reg.id);
            };
            if (operand.kind == isa::Operand::Kind::list)
                for (isa::Reg reg : operand.list) take(reg);
            else
                take(operand.reg);
        }
    cost.reads = static_cast<std::uint16_t>(reads.size());
    cost.writes = static_cast<std::uint16_t>(writes.size());
    registers_.insert(registers_.end(), reads.begin(), reads.end());
    registers_.insert(registers_.end(), writes.begin(), writes.end());
}

}  // namespace wgrun::timeline
