#include "check/pressure.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "isa/effects.hpp"
#include "isa/value.hpp"

namespace wgrun::check {

namespace {

/// Registers that ptxas 12.3 to 13.0 need besides the operands of a wgmma (C7602 states the sum).
constexpr int besides_operands = 26;

/// The effects of a step on registers of wgmma.
struct Role final : isa::Effects {
    explicit Role(const Step& step) { isa::visit_effects(step, *this); }
    void issue_mma(const isa::AsyncMma& mma) override {
        // With the constant scale-d 0 they get new values, whatever they held.
        overwrites = !mma.reads_accumulators;
        operands = *mma.accumulators;
        if (mma.a_fragment != nullptr)
            operands.insert(operands.end(), mma.a_fragment->begin(), mma.a_fragment->end());
        if (mma.metadata != nullptr) operands.push_back(mma.metadata->reg);
    }
    void commit_mma() override { commits = true; }
    void wait_mma(int pending) override { waits = pending; }

    bool overwrites = false;    ///< a wgmma, its accumulators
    std::vector<Reg> operands;  ///< of a wgmma
    bool commits = false;
    std::optional<int> waits;
};

}  // namespace

int least_registers(const Step& step) {
    const std::size_t own = Role(step).operands.size();
    return own == 0 ? 0 : static_cast<int>(own) + besides_operands;
}

Pressure::Pressure(const Outline& outline)
    : outline_(outline),
      live_(outline.program().registers().size()),
      kept_(outline.program().registers().size()),
      born_anywhere_(outline.program().registers().size()) {
    weigh();
    for (BlockId block = 0; block < outline.blocks().size(); ++block) forward(block);
    backward();
}

/// A register written once, from constants and parameters alone, has the same value in all threads. So has
/// one whose block then chooses others for it, by guards of such values. One written once, from such values
/// and one other register, can be recomputed from that register if it was written once and before.
void Pressure::weigh() {
    const std::vector<RegisterInfo>& registers = outline_.program().registers();
    std::vector<int> writes(registers.size());
    for (std::size_t number = 0; number < outline_.steps(); ++number)
        for (const Outline::Used& used : outline_.used(number)) writes[used.reg.id] += used.writes() ? 1 : 0;
    for (const RegisterInfo& reg : registers)
        weights_.push_back(reg.type == isa::Type::pred ? 0 : std::max(1, isa::bits(reg.type) / 32));
    std::vector<bool> uniform(registers.size());
    sources_.resize(registers.size());
    std::vector<bool> known(registers.size());
    const isa::ValueOf value_of = [&](const Operand& operand) {
        isa::Value value;
        if (!operand.reg || uniform[operand.reg.id]) value.uniform = isa::Uniform::grid;
        return value;
    };
    const auto derive = [&](const Step& step, std::span<const Outline::Used> used) {
        // Where a guard does not hold, the result stays what it was.
        bool alike = !step.op->effects && !isa::pinned(*step.op) &&
                     std::ranges::all_of(used, [&](const Outline::Used& u) {
                         return uniform[u.reg.id] || (!u.reads() && !step.guard);
                     });
        if (alike && step.op->value) alike = step.op->value(step, value_of).uniform >= isa::Uniform::cta;
        for (const Outline::Used& u : used)
            if (u.writes()) uniform[u.reg.id] = alike && (step.guard || !known[u.reg.id]);
        if (step.guard || step.op->effects || isa::pinned(*step.op)) return;
        Reg source;
        bool one = !alike;
        for (const Outline::Used& u : used) {
            if (!u.reads() || uniform[u.reg.id]) continue;
            const Reg from = sources_[u.reg.id] ? sources_[u.reg.id] : u.reg;
            one = one && known[from.id] && writes[from.id] == 1 && (!source || source == from);
            source = from;
        }
        if (!alike && (!one || !source)) return;
        for (const Outline::Used& u : used) {
            if (!u.writes() || writes[u.reg.id] != 1) continue;
            sources_[u.reg.id] = source;
            weights_[u.reg.id] = 0;
        }
    };
    std::size_t number = 0;
    for (const BasicBlock& block : outline_.blocks()) {
        std::map<std::uint32_t, int> here;  // how often the block writes each register
        for (const Step& step : block.steps) {
            const std::span<const Outline::Used> used = outline_.used(number++);
            derive(step, used);
            for (const Outline::Used& u : used) {
                if (!u.writes()) continue;
                known[u.reg.id] = true;
                ++here[u.reg.id];
            }
        }
        for (const auto& [reg, times] : here) {
            if (times != writes[reg]) uniform[reg] = false;
            if (uniform[reg]) weights_[reg] = 0;
        }
    }
}

// --- definitions, and accesses of wgmma in flight ------------------------------------------------------

const flow::Loop* Pressure::loop_around(BlockId block) const {
    int loop = outline_.graph().innermost_loop(block);
    if (loop < 0) return nullptr;
    while (outline_.graph().loops()[static_cast<std::size_t>(loop)].parent >= 0)
        loop = outline_.graph().loops()[static_cast<std::size_t>(loop)].parent;
    return &outline_.graph().loops()[static_cast<std::size_t>(loop)];
}

void Pressure::forward(BlockId block) {
    const flow::Loop* loop = loop_around(block);
    for (const Step& step : outline_.blocks()[block].steps) forward(step, loop);
}

void Pressure::forward(const Step& step, const flow::Loop* loop) {
    const Role role(step);
    Turn& turn = turns_.emplace_back();
    turn.guarded = static_cast<bool>(step.guard);
    turn.operands = static_cast<int>(role.operands.size());
    turn.first = static_cast<std::uint32_t>(turned_.size());
    const std::span<const Outline::Used> used = outline_.used(turns_.size() - 1);
    const auto list = [&](bool gets) {
        const std::size_t before = turned_.size();
        for (const Outline::Used& u : used) {
            const bool overwritten = role.overwrites && u.access == isa::Access::inout;
            if ((u.access == isa::Access::out || overwritten) == gets) turned_.push_back(u.reg);
        }
        return static_cast<std::uint32_t>(turned_.size() - before);
    };
    turn.gets = list(true);
    turn.reads = list(false);
    for (const Outline::Used& u : used) {
        if (!u.writes() || born_anywhere_[u.reg.id]) continue;
        born_anywhere_[u.reg.id] = true;
        // A value of a loop may come from an earlier iteration.
        if (loop != nullptr) {
            born_[loop].push_back(u.reg);
            continue;
        }
        turned_.push_back(u.reg);
        ++turn.born;
    }
    groups_.back().insert(groups_.back().end(), role.operands.begin(), role.operands.end());
    if (role.commits) groups_.emplace_back();
    if (!role.waits) return;
    for (const std::vector<Reg>& group : groups_)
        for (const Reg reg : group) kept_.add(reg);
    turn.held = &(read_until_[&step] = kept_.take());
    const auto kept = static_cast<std::size_t>(*role.waits) + 1;
    if (groups_.size() > kept)
        groups_.erase(groups_.begin(), groups_.end() - static_cast<std::ptrdiff_t>(kept));
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

void Pressure::backward(const Step& step, const Turn& turn) {
    const Reg* const gets = turned_.data() + turn.first;
    const Reg *const reads = gets + turn.gets, *const born = reads + turn.reads;
    // A result occupies registers even if it is never read.
    std::for_each(gets, reads, [&](Reg reg) { begin(reg); });
    int need = count_;
    if (!turn.guarded) std::for_each(gets, reads, [&](Reg reg) { end(reg); });
    std::for_each(reads, born, [&](Reg reg) { begin(reg); });
    if (turn.held != nullptr)
        for (Reg reg : *turn.held) begin(reg);
    need = std::max(need, count_);
    if (turn.operands != 0) {
        need = std::max(need, turn.operands + besides_operands);
        int& most = needs_[&step];
        most = std::max(most, need);
    }
    most_ = std::max(most_, need);
    std::for_each(born, born + turn.born, [&](Reg reg) { end(reg); });
}

/// Scans from the end, and again what leads to blocks where more is alive than before.
void Pressure::backward() {
    alive_.assign(outline_.blocks().size(), {});
    entering_.resize(outline_.blocks().size());
    std::vector<bool> stale(outline_.blocks().size(), true);
    const std::vector<BlockId>& order = outline_.graph().order();
    for (bool changed = true; changed;) {
        changed = false;
        for (auto block = order.rbegin(); block != order.rend(); ++block) {
            if (!stale[*block]) continue;
            stale[*block] = false;
            backward(*block);
            if (live_ == alive_[*block]) continue;
            alive_[*block] = live_.members();
            for (const BlockId before : outline_.graph().predecessors(*block)) stale[before] = changed = true;
        }
    }
}

void Pressure::backward(BlockId block) {
    const flow::Loop* loop = loop_around(block);
    become({});
    outline_.blocks()[block].for_each_successor([&](BlockId to, int) {
        const bool enters = !entering_[to].empty() && loop_around(to) != loop;
        meet(enters ? entering_[to] : alive_[to]);
    });
    const std::vector<Step>& steps = outline_.blocks()[block].steps;
    for (std::size_t i = steps.size(); i-- > 0;) backward(steps[i], turns_[outline_.first_step(block) + i]);
    if (loop == nullptr || loop->header != block) return;
    const Set inside = live_.members();
    end_born(loop);
    entering_[block] = live_.members();
    become(inside);
}

}  // namespace wgrun::check
