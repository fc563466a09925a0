#include "check/pressure.hpp"

#include <algorithm>
#include <utility>

#include "isa/effects.hpp"
#include "isa/registers.hpp"
#include "isa/value.hpp"

namespace wgrun::check {

namespace {

/// Registers that ptxas 13.0 needs besides the operands of a wgmma (C7602 states the sum).
constexpr int besides_operands = 26;

/// The effects of a step on registers of wgmma.
struct Role final : isa::Effects {
    explicit Role(const Step& step) { isa::tell(step, *this); }
    void issue_mma(const isa::AsyncMma& mma) override {
        // With the constant scale-d 0 they get new values, whatever they held.
        overwritten = mma.reads_accumulators ? nullptr : mma.accumulators;
        operands = *mma.accumulators;
        if (mma.a_fragment != nullptr)
            operands.insert(operands.end(), mma.a_fragment->begin(), mma.a_fragment->end());
        if (mma.metadata != nullptr) operands.push_back(mma.metadata->reg);
    }
    void commit_mma() override { commits = true; }
    void wait_mma(int pending) override { waits = pending; }

    const std::vector<Reg>* overwritten = nullptr;
    std::vector<Reg> operands;  ///< of a wgmma
    bool commits = false;
    std::optional<int> waits;
};

}  // namespace

Pressure::Pressure(const Program& program)
    : program_(program),
      graph_(program),
      live_(program.registers().size()),
      kept_(program.registers().size()),
      born_at_(program.registers().size()) {
    weigh();
    for (BlockId block = 0; block < program.blocks().size(); ++block) forward(block);
    backward();
}

/// A register written once, from constants and parameters alone, has the same value in all threads. One
/// written once, from such values and one other register, can be recomputed from that register if it was
/// written once and before.
void Pressure::weigh() {
    std::vector<int> writes(program_.registers().size());
    for_each_step(program_,
                  [&](const Step& step) { isa::for_each_written(step, [&](Reg reg) { ++writes[reg.id]; }); });
    for (const RegisterInfo& reg : program_.registers())
        weights_.push_back(reg.type == isa::Type::pred ? 0 : isa::bits(reg.type) == 64 ? 2 : 1);
    std::vector<bool> uniform(program_.registers().size());
    sources_.resize(program_.registers().size());
    std::vector<bool> known(program_.registers().size());
    const auto value_of = [&](const Operand& operand) {
        isa::Value value;
        if (!operand.reg || uniform[operand.reg.id]) value.uniform = isa::Uniform::grid;
        return value;
    };
    const auto derive = [&](const Step& step) {
        if (step.guard || step.op->effects || isa::pinned(*step.op)) return;
        bool alike = true;
        isa::for_each_read(step, [&](Reg reg) { alike = alike && uniform[reg.id]; });
        if (alike && step.op->value) alike = step.op->value(step, value_of).uniform >= isa::Uniform::cta;
        Reg source;
        bool one = !alike;
        isa::for_each_read(step, [&](Reg reg) {
            if (uniform[reg.id]) return;
            const Reg from = sources_[reg.id] ? sources_[reg.id] : reg;
            one = one && known[from.id] && writes[from.id] == 1 && (!source || source == from);
            source = from;
        });
        if (!alike && (!one || !source)) return;
        isa::for_each_written(step, [&](Reg reg) {
            if (writes[reg.id] != 1) return;
            uniform[reg.id] = alike;
            sources_[reg.id] = source;
            weights_[reg.id] = 0;
        });
    };
    for_each_step(program_, [&](const Step& step) {
        derive(step);
        isa::for_each_written(step, [&](Reg reg) { known[reg.id] = true; });
    });
}

// --- definitions, and accesses of wgmma in flight ------------------------------------------------------

const flow::Loop* Pressure::loop_around(BlockId block) const {
    int loop = graph_.innermost_loop(block);
    if (loop < 0) return nullptr;
    while (graph_.loops()[static_cast<std::size_t>(loop)].parent >= 0)
        loop = graph_.loops()[static_cast<std::size_t>(loop)].parent;
    return &graph_.loops()[static_cast<std::size_t>(loop)];
}

/// A value of a loop may come from an earlier iteration.
void Pressure::forward(BlockId block) {
    const flow::Loop* loop = loop_around(block);
    for (const Step& step : program_.blocks()[block].steps) {
        isa::for_each_written(step, [&](Reg reg) {
            if (born_at_[reg.id] != nullptr) return;
            born_at_[reg.id] = loop != nullptr ? static_cast<const void*>(loop) : &step;
            if (loop != nullptr) born_[loop].push_back(reg);
        });
        Role role(step);
        groups_.back().insert(groups_.back().end(), role.operands.begin(), role.operands.end());
        if (role.commits) groups_.emplace_back();
        if (!role.waits) continue;
        std::vector<Reg>& accessed = read_until_[&step];
        for (const std::vector<Reg>& group : groups_)
            accessed.insert(accessed.end(), group.begin(), group.end());
        const auto kept = static_cast<std::size_t>(*role.waits) + 1;
        if (groups_.size() > kept)
            groups_.erase(groups_.begin(), groups_.end() - static_cast<std::ptrdiff_t>(kept));
    }
}

// --- live values ---------------------------------------------------------------------------------------

void Pressure::begin(Reg reg) {
    if (live_.add(reg)) count_ += weights_[reg.id];
    if (sources_[reg.id]) begin(sources_[reg.id]);
}

void Pressure::end(Reg reg) {
    if (live_.remove(reg)) count_ -= weights_[reg.id];
}

void Pressure::end_born(const flow::Loop* loop) {
    if (const auto found = born_.find(loop); found != born_.end())
        for (Reg reg : found->second) end(reg);
}

void Pressure::meet(const Set& other) {
    for (const Reg reg : other)
        if (!live_.has(reg)) begin(reg);
}

/// Makes `other` the set of live registers.
void Pressure::become(const Set& other) {
    kept_.clear();
    for (const Reg reg : other) kept_.add(reg);
    const Set before = live_.members();
    for (const Reg reg : before)
        if (!kept_.has(reg)) end(reg);
    meet(other);
}

void Pressure::backward(const Step& step) {
    const Role role(step);
    const auto gives_values = [&](std::size_t i) {
        return step.op->operands[i].access == isa::Access::out || &step.operands[i].list == role.overwritten;
    };
    // A result occupies registers even if it is never read.
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (gives_values(i)) isa::for_each_register(step.operands[i], [&](Reg reg) { begin(reg); });
    int need = count_;
    if (!step.guard)
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (gives_values(i)) isa::for_each_register(step.operands[i], [&](Reg reg) { end(reg); });
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (!gives_values(i)) isa::for_each_register(step.operands[i], [&](Reg reg) { begin(reg); });
    if (role.waits)
        for (Reg reg : read_until_.at(&step)) begin(reg);
    need = std::max(need, count_);
    if (!role.operands.empty()) {
        need = std::max(need, static_cast<int>(role.operands.size()) + besides_operands);
        int& most = needs_[&step];
        most = std::max(most, need);
    }
    most_ = std::max(most_, need);
    isa::for_each_written(step, [&](Reg reg) {
        if (born_at_[reg.id] == &step) end(reg);
    });
}

/// Scans from the end, and again what leads to blocks where more is alive than before.
void Pressure::backward() {
    alive_.assign(program_.blocks().size(), {});
    entering_.resize(program_.blocks().size());
    std::vector<bool> stale(program_.blocks().size(), true);
    const std::vector<BlockId>& order = graph_.order();
    for (bool changed = true; changed;) {
        changed = false;
        for (auto block = order.rbegin(); block != order.rend(); ++block) {
            if (!stale[*block]) continue;
            stale[*block] = false;
            backward(*block);
            if (live_ == alive_[*block]) continue;
            alive_[*block] = live_.members();
            for (const BlockId before : graph_.predecessors(*block)) stale[before] = changed = true;
        }
    }
}

void Pressure::backward(BlockId block) {
    const flow::Loop* loop = loop_around(block);
    become({});
    program_.blocks()[block].for_each_successor([&](BlockId to, int) {
        const bool enters = !entering_[to].empty() && loop_around(to) != loop;
        meet(enters ? entering_[to] : alive_[to]);
    });
    const std::vector<Step>& steps = program_.blocks()[block].steps;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) backward(*step);
    if (loop == nullptr || loop->header != block) return;
    const Set inside = live_.members();
    end_born(loop);
    entering_[block] = live_.members();
    become(inside);
}

}  // namespace wgrun::check
