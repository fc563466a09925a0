#include "check/skeleton.hpp"

#include <algorithm>
#include <unordered_map>

#include "isa/effects.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::check {

namespace {

/// No thread has fewer registers: setmaxnreg takes 24 and more.
constexpr int least = 24;

/// What kind of step it is, by its effects.
struct Nature final : isa::Effects {
    explicit Nature(const Step& step) {
        if (step.op->effects) step.op->effects(step, *this);
    }
    void memory(const isa::MemoryAccess& access) override {
        accesses_memory = true;
        accesses_peer |= access.space == isa::Space::shared_cluster;
    }
    void order_registers() override { orders = true; }
    void issue_mma(const isa::AsyncMma& mma) override {
        multiplies = true;
        a = mma.a_descriptor;
        b = mma.b_descriptor;
    }
    void commit_mma() override { multiplies = true; }
    void wait_mma(int) override { multiplies = true; }
    void proxy_fence(std::optional<isa::Space>) override { waits = true; }
    void barrier(const Operand&, const Operand&) override { waits = true; }
    void await_arrivals() override { waits = true; }
    void copy_async(const isa::MemoryAccess&) override { accesses_memory = true; }
    void commit_copies() override { accesses_memory = true; }
    void wait_copies(std::optional<int>) override { accesses_memory = true; }
    void arrive_copies() override { waits = true; }

    bool accesses_memory = false, accesses_peer = false, multiplies = false, orders = false, waits = false;
    const Operand *a = nullptr, *b = nullptr;  ///< descriptors
};

bool has_destination(const Step& step) {
    return std::ranges::any_of(step.op->operands,
                               [](const isa::OperandRule& rule) { return rule.access != isa::Access::in; });
}

bool synchronises(const Step& step) {
    if (isa::inline_ptx_of(*step.op) != nullptr) return false;
    if (!step.op->writes_memory || step.op->collective) return false;
    const Nature nature(step);
    if (nature.waits || nature.accesses_peer) return true;
    return !nature.accesses_memory && !nature.multiplies && !nature.orders && !has_destination(step);
}

/// Is what the step gives unknown before the kernel runs?
bool opaque(const Step& step) {
    const Nature nature(step);
    return step.op->run == nullptr || isa::inline_ptx_of(*step.op) != nullptr || step.op->collective ||
           nature.accesses_memory || nature.multiplies || nature.orders;
}

template <class Visit>
void for_each_register(const Operand& operand, Visit visit) {
    if (operand.kind == Operand::Kind::list) {
        for (Reg reg : operand.list) visit(reg);
    } else if (operand.reg) {
        visit(operand.reg);
    }
}

}  // namespace

Skeleton::Skeleton(const Program& program, const Pressure* pressure)
    : slots(program.registers().size(), -1), graph_(program), pressure_(pressure) {
    for_each_step(program.body(), [&](const Step& step) { copies_ |= step.op->counted; });
    slice();
    if (std::ranges::all_of(kept_, [](const auto& steps) { return steps.empty(); })) return;
    flatten();
    for (const SkeletonOp& op : ops) {
        if (op.step == nullptr) continue;
        if (const int sreg = op.step->form.get(isa::Field::sreg, -1); sreg >= 0) {
            const std::string name = isa::spelled(isa::Field::sreg, sreg);
            for (const char* of_grid : {"ctaid", "nctaid", "clusterid", "nclusterid"})
                knows_the_grid |= name.starts_with(of_grid);
        }
        for (const Operand& operand : op.step->operands) {
            if (operand.kind != Operand::Kind::param) continue;
            const Param& param = program.params()[static_cast<std::size_t>(operand.index)];
            const bool integer = !param.pointee && !param.box && !isa::is_float(param.type);
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

/// wgmma matters where the bulk-copy engine fills what it reads.
bool Skeleton::is_root(const Step& step) const {
    if (pressure_ != nullptr && pressure_->at(&step) > least) return true;
    return synchronises(step) || (copies_ && Nature(step).multiplies);
}

bool Skeleton::needed(const Step& step) {
    const isa::Instruction& op = *step.op;
    const bool root = is_root(step);
    if (const Nature nature(step); root && nature.multiplies) {
        need(step.guard);
        for (const Operand* descriptor : {nature.a, nature.b})
            if (descriptor != nullptr) need(descriptor->reg);
        return true;
    }
    bool writes = false;
    if (!root)
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (op.operands[i].access != isa::Access::in)
                for_each_register(step.operands[i], [&](Reg reg) { writes |= slots[reg.id] >= 0; });
    if (!root && !writes) return false;
    need(step.guard);
    const bool follow = root || !opaque(step);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        const bool in = op.operands[i].access == isa::Access::in;
        // Where in a tensor a copy begins decides nothing.
        if (in && (!follow || (root && operand.kind == Operand::Kind::list))) continue;
        for_each_register(operand, [&](Reg reg) { need(reg); });
    }
    return true;
}

/// Finds what matters: the steps that synchronise, what they are computed from, and the branches that decide
/// whether they are executed (Weiser's slices).
void Skeleton::slice() {
    decides_.resize(graph_.blocks().size());
    // A register that a later step needs may be written earlier, in a loop also further down.
    do {
        grew_ = false;
        kept_.assign(graph_.blocks().size(), {});
        for (auto id = graph_.order().rbegin(); id != graph_.order().rend(); ++id) {
            const std::vector<const Step*>& steps = graph_.blocks()[*id].steps;
            for (auto step = steps.rbegin(); step != steps.rend(); ++step)
                if (needed(**step)) kept_[*id].push_back(*step);
            if (!kept_[*id].empty() || decides_[*id]) need_branches(*id);
        }
    } while (grew_);
}

void Skeleton::need_branches(flow::BlockId block) {
    for (const flow::Dependence& on : graph_.dependences(block)) {
        if (decides_[on.block]) continue;
        decides_[on.block] = grew_ = true;
        need(graph_.blocks()[on.block].condition);
    }
}

/// Where it goes on behind a block whose end decides nothing that matters; no_block: the kernel ends.
flow::BlockId Skeleton::follower(flow::BlockId block) const {
    const flow::BasicBlock& left = graph_.blocks()[block];
    return left.end == flow::BasicBlock::End::jump ? left.taken : graph_.post_dominator(block);
}

/// The first block from `block` on in which something matters; no_block: the end of the kernel.
flow::BlockId Skeleton::entered(flow::BlockId block) const {
    while (block != flow::no_block && kept_[block].empty() && !decides_[block]) block = follower(block);
    return block;
}

void Skeleton::add(const Step& step) {
    SkeletonOp& op = ops.emplace_back();
    op.kind = SkeletonOp::Kind::step;
    op.where = step.where;
    op.synchronises = is_root(step);
    op.multiplies = op.synchronises && !synchronises(step);
    if (pressure_ != nullptr) op.pressure = pressure_->at(&step);
    op.opaque = !op.synchronises && opaque(step);
    op.reg = step.guard;
    op.negated = step.guard_negated;
    op.step = &step;
}

void Skeleton::flatten() {
    using Kind = SkeletonOp::Kind;
    std::vector<std::uint32_t> begins(graph_.blocks().size());
    struct End {
        std::uint32_t op;
        flow::BlockId block;
    };
    std::vector<End> ends;
    const auto end = [&](flow::BlockId id) {
        SkeletonOp& op = ops.emplace_back();
        const flow::BasicBlock& block = graph_.blocks()[id];
        op.kind = decides_[id] ? Kind::branch : Kind::jump;
        op.where = block.where;
        op.reg = decides_[id] ? block.condition : Reg();
        op.negated = block.negated;
        ends.push_back({static_cast<std::uint32_t>(ops.size() - 1), id});
    };
    for (flow::BlockId id = 0; id < graph_.blocks().size(); ++id) {
        // Where the kernel begins, nothing may matter: then it is a jump.
        if (!graph_.reachable(id) || (id != 0 && entered(id) != id)) continue;
        begins[id] = static_cast<std::uint32_t>(ops.size());
        for (auto step = kept_[id].rbegin(); step != kept_[id].rend(); ++step) add(**step);
        end(id);
    }
    const auto last = static_cast<std::uint32_t>(ops.size());
    ops.emplace_back().where = graph_.blocks().back().where;
    const auto begin = [&](flow::BlockId block) {
        const flow::BlockId to = block == flow::no_block ? block : entered(block);
        return to == flow::no_block ? last : begins[to];
    };
    std::vector<bool> both_arms(graph_.blocks().size());
    for (flow::BlockId block : graph_.order())
        if (!kept_[block].empty() || decides_[block])
            for (const flow::Dependence& on : graph_.dependences(block))
                if (on.arm == 1) both_arms[on.block] = true;
    for (const End& from : ends) {
        SkeletonOp& op = ops[from.op];
        const flow::BasicBlock& block = graph_.blocks()[from.block];
        if (op.kind == Kind::jump) {
            op.ways.taken = begin(follower(from.block));
            continue;
        }
        const flow::BlockId join = graph_.reconvergence(from.block);
        op.ways = {begin(block.taken), begin(block.otherwise),
                   join == flow::no_block ? flow::Divergence::nowhere : begin(join)};
        op.both_arms = both_arms[from.block];
    }
}

}  // namespace wgrun::check
