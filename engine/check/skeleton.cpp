#include "check/skeleton.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "flow/traps.hpp"
#include "isa/effects.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"
#include "wgrun/cancellation.hpp"
#include "wgrun/target.hpp"

namespace wgrun::check {

/// Classifies a step by its effects.
struct Skeleton::Nature final : isa::Effects {
    explicit Nature(const Step& step) {
        known = step.op->run != nullptr && !step.op->collective;
        isa::visit_effects(step, *this);
    }
    // The results of the step are unknown before the kernel runs.
    void memory(const isa::MemoryAccess& access) override {
        known = false;
        // Of a peer CTA, which must be running.
        synchronises |= access.space == isa::Space::shared_cluster;
        may_visit |= access.space == isa::Space::generic;
        if (access.space != isa::Space::generic && access.space != isa::Space::shared &&
            access.space != isa::Space::shared_cluster)
            return;
        touches = true;
        touched = access.address;
        stores |= access.write;
    }
    void copy_async(const isa::AsyncCopy& access) override {
        known = false, touches = stores = true;
        touched = access.address;
    }
    void commit_copies() override { touches = true; }
    void wait_copies(std::optional<int>) override { touches = true; }
    void unknown() override { known = false; }
    void order_registers() override { known = false; }
    // is_root() decides whether wgmma matters.
    void issue_mma(const isa::AsyncMma& mma) override {
        commit_mma();
        a = mma.a_descriptor;
        b = mma.b_descriptor;
    }
    void commit_mma() override { multiplies = true, known = false; }
    void wait_mma(int) override { commit_mma(); }
    void counted(const Operand&) override { counts = true; }
    // These effects concern other threads.
    void fence() override { synchronises = true; }
    void proxy_fence(std::optional<isa::Space>) override { synchronises = true; }
    void await_arrivals() override { synchronises = true; }
    void arrive_copies(const Operand&) override { synchronises = true; }
    void bulk_copy(const isa::BulkAccess& copy) override {
        synchronises |= copy.direction != isa::BulkCopy::Direction::prefetch;
        if (copy.coordinates == nullptr) global = copy.global;
    }
    void commit_bulk() override { synchronises = true; }
    void wait_bulk(int, bool) override { synchronises = true; }
    void mbarrier(const isa::MbarrierAccess&) override { synchronises = true; }
    void barrier(const Operand&, const Operand&) override { synchronises = true; }
    void arrive(const Operand&, const Operand&) override { synchronises = true; }
    void cluster_arrive() override { synchronises = true; }
    void cluster_wait() override { synchronises = true; }
    void converge() override { synchronises = true; }
    void trap() override { traps = true; }
    void set_registers(int, bool) override { synchronises = true; }

    bool touches = false;              ///< it may access shared memory, or waits for copies by its thread
    bool stores = false;               ///< it may write to shared memory by a thread
    const Operand* touched = nullptr;  ///< the address of such an access
    bool synchronises = false, multiplies = false, traps = false;
    bool may_visit = false;                    ///< it accesses what a generic address points to
    bool known;                                ///< its results are known if its sources are
    bool counts = false;                       ///< an mbarrier counts the bytes that it copies
    const Operand* global = nullptr;           ///< where a linear copy is in global memory
    const Operand *a = nullptr, *b = nullptr;  ///< descriptors
};

Skeleton::Skeleton(const Outline& outline, const Pressure* pressure, bool accesses, LaunchLoads loads,
                   DrawnNumbers drawn)
    : slots(outline.program().registers().size(), -1),
      outline_(outline),
      graph_(outline_.graph()),
      control_(graph_),
      pressure_(pressure),
      accesses_(accesses),
      loads_(std::move(loads)),
      drawn_(std::move(drawn)) {
    make();
}

Skeleton::Skeleton(const Outline& outline, OnlyRegisters /*unused*/)
    : slots(outline.program().registers().size(), -1),
      outline_(outline),
      graph_(outline_.graph()),
      control_(graph_),
      pressure_(nullptr),
      accesses_(false),
      only_registers_(true) {
    make();
}

Skeleton Skeleton::of_registers(const Outline& outline) { return {outline, OnlyRegisters{}}; }

void Skeleton::make() {
    const Program& program = outline_.program();
    for_each_step(program, [&](const Step& step) { copies_ |= Nature(step).counts; });
    slice();
    if (std::ranges::all_of(kept_, [](const auto& steps) { return steps.empty(); })) return;
    flatten();
    for (const SkeletonOp& op : ops) {
        if (op.step == nullptr) continue;
        loads_numbers |= op.of_launch >= 0;
        draws_numbers |= op.drawn_from >= 0;
        if (op.step->form.has(isa::Field::sreg))
            knows_the_grid |= isa::is_of_grid(isa::special_of(op.step->form));
        for (const Operand& operand : op.step->operands) {
            if (operand.kind != Operand::Kind::param) continue;
            const Param& param = program.params()[static_cast<std::size_t>(operand.index)];
            const bool integer =
                !param.pointee && !param.box && param.structure == 0 && !isa::is_float(param.type);
            if (integer && std::ranges::find(integers, operand.index) == integers.end())
                integers.push_back(operand.index);
        }
    }
}

void Skeleton::need(Reg reg) {
    if (!reg || slots[reg.id] >= 0) return;
    slots[reg.id] = slot_count++;
    grew_ = true;
}

/// Returns whether the step matters by itself. A wgmma does if registers
/// are scarce at it, or if the bulk-copy engine fills what it reads.
bool Skeleton::is_root(const Step& step, const Nature& nature) const {
    if (only_registers_) return step.op->awaits == isa::Awaits::registers;
    if (pressure_ != nullptr && pressure_->at(&step) > sm_90a.least_setmaxnreg) return true;
    return nature.synchronises || nature.traps || nature.may_visit ||
           ((copies_ || accesses_) && nature.multiplies) || follows(nature);
}

/// Whether accesses to shared memory are followed as this one.
bool Skeleton::follows(const Nature& nature) const {
    return nature.touches && (accesses_ || (shows_numbers && nature.stores));
}

bool Skeleton::needed(const Step& step, std::size_t number) {
    const isa::Instruction& op = *step.op;
    const bool writes = std::ranges::any_of(outline_.used(number), [&](const Outline::Used& used) {
        return used.writes() && slots[used.reg.id] >= 0;
    });
    if (op.effects == nullptr && !writes) return false;
    const Nature nature(step);
    const bool root = is_root(step, nature);
    if (root && nature.multiplies) {
        need(step.guard);
        for (const Operand* descriptor : {nature.a, nature.b})
            if (descriptor != nullptr) need(descriptor->reg);
        return true;
    }
    if (!root && !writes) return false;
    if (follows(nature) && !nature.synchronises && !nature.may_visit && !writes) {
        need(step.guard);
        if (nature.touched != nullptr) need(nature.touched->reg);
        if (shows_numbers)
            if (const auto numbers = drawn_.stores.find(&step); numbers != drawn_.stores.end())
                for (const Operand& number : numbers->second) need(number.reg);
        return true;
    }
    need(step.guard);
    const bool receives = drawn_.loads.contains(&step);
    if (receives && !shows_numbers) shows_numbers = grew_ = true;
    const bool follow = root || nature.known || receives || loads_.contains(&step);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        const bool in = op.operands[i].access == isa::Access::in;
        // Where a copy is in global memory, or in its tensor, decides nothing.
        const bool decides = operand.kind != Operand::Kind::list && &operand != nature.global;
        if (in && (!follow || (root && !decides))) continue;
        isa::for_each_register(operand, [&](Reg reg) { need(reg); });
    }
    return true;
}

/// Finds what matters: the steps that synchronise, what they are computed from, and the branches that decide
/// whether they are executed (Weiser's slices).
void Skeleton::slice() {
    decides_.resize(graph_.blocks().size());
    // A register that a later step needs may be written earlier or, in a loop, further down.
    do {
        grew_ = false;
        kept_.assign(graph_.blocks().size(), {});
        for (auto id = graph_.order().rbegin(); id != graph_.order().rend(); ++id) {
            const std::vector<Step>& steps = graph_.blocks()[*id].steps;
            for (auto step = steps.rbegin(); step != steps.rend(); ++step)
                if (needed(*step, outline_.number(*id, *step))) kept_[*id].push_back(&*step);
            if (matters(*id)) need_branches(*id);
            Cancellation::poll();
        }
    } while (grew_);
}

void Skeleton::need_branches(BlockId block) {
    control_.take(block, [&](BlockId on, int) {
        if (decides_[on]) return;
        decides_[on] = grew_ = true;
        need(graph_.blocks()[on].condition);
    });
}

/// Returns the block that follows one whose end decides nothing that matters; no_block: the kernel ends.
BlockId Skeleton::follower(BlockId block) const {
    const BasicBlock& left = graph_.blocks()[block];
    return left.end == BasicBlock::End::jump ? left.taken : graph_.post_dominator(block);
}

/// Returns the first block from `block` on in which something matters; no_block: there is none.
BlockId Skeleton::entered(BlockId block) {
    BlockId found = block;
    while (found != no_block && !matters(found)) found = entered_[found];
    // Who comes here again goes there at once.
    while (block != found) block = std::exchange(entered_[block], found);
    return found;
}

void Skeleton::add(const Step& step) {
    SkeletonOp& op = ops.emplace_back();
    op.kind = SkeletonOp::Kind::step;
    op.where = step.where;
    const Nature nature(step);
    const bool root = is_root(step, nature);
    op.may_visit = nature.may_visit && !nature.synchronises;
    op.traps = nature.traps;
    op.touches = follows(nature);
    op.synchronises = root && !op.may_visit && !op.traps && (!op.touches || nature.synchronises);
    op.multiplies = root && nature.multiplies;
    if (pressure_ != nullptr) op.pressure = pressure_->at(&step);
    op.opaque = !root && !nature.known;
    if (const auto load = loads_.find(&step); load != loads_.end()) op.of_launch = load->second;
    if (const auto draw = drawn_.draws.find(&step); draw != drawn_.draws.end())
        op.drawn_from = draw->second.param;
    if (step.op->awaits == isa::Awaits::mbarrier) {
        op.attempt = attempts_.of(step);
        op.answers = attempts_.answers(step);
    }
    op.receives = drawn_.loads.contains(&step) && slots[step.operands.front().reg.id] >= 0;
    op.reg = step.guard;
    op.negated = step.guard_negated;
    op.step = &step;
}

void Skeleton::flatten() {
    using Kind = SkeletonOp::Kind;
    for (BlockId id = 0; id < graph_.blocks().size(); ++id) entered_.push_back(follower(id));
    std::vector<std::uint32_t> begins(graph_.blocks().size());
    struct End {
        std::uint32_t op;
        BlockId block;
    };
    std::vector<End> ends;
    const auto end = [&](BlockId id) {
        SkeletonOp& op = ops.emplace_back();
        const BasicBlock& block = graph_.blocks()[id];
        op.kind = decides_[id] ? Kind::branch : Kind::jump;
        op.where = block.where;
        op.reg = decides_[id] ? block.condition : Reg();
        op.negated = block.negated;
        op.block = id;
        ends.push_back({static_cast<std::uint32_t>(ops.size() - 1), id});
    };
    for (BlockId id = 0; id < graph_.blocks().size(); ++id) {
        // If nothing matters in the first block, it becomes a jump.
        if (!graph_.reachable(id) || (id != 0 && !matters(id))) continue;
        begins[id] = static_cast<std::uint32_t>(ops.size());
        for (auto step = kept_[id].rbegin(); step != kept_[id].rend(); ++step) add(**step);
        end(id);
    }
    const auto last = static_cast<std::uint32_t>(ops.size());
    ops.emplace_back().where = graph_.blocks().back().where;
    const auto begin = [&](BlockId block) {
        const BlockId to = block == no_block ? block : entered(block);
        return to == no_block ? last : begins[to];
    };
    std::vector<bool> both_arms(graph_.blocks().size());
    flow::Control others(graph_, 1);
    for (BlockId block : graph_.order())
        if (matters(block)) others.take(block, [&](BlockId on, int) { both_arms[on] = true; });
    const std::vector<bool> trapping = flow::trapping(graph_);
    for (const End& from : ends) {
        SkeletonOp& op = ops[from.op];
        const BasicBlock& block = graph_.blocks()[from.block];
        if (op.kind == Kind::jump) {
            op.ways.taken = begin(follower(from.block));
            continue;
        }
        const BlockId join = graph_.reconvergence(from.block);
        op.ways = {begin(block.taken), begin(block.otherwise),
                   join == no_block ? flow::Divergence::nowhere : begin(join)};
        op.both_arms = both_arms[from.block];
        if (trapping[block.taken] != trapping[block.otherwise]) op.goes_on = trapping[block.taken] ? 1 : 0;
    }
}

}  // namespace wgrun::check
