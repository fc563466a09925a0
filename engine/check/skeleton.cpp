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
    : slots(program.registers().size(), -1), pressure_(pressure) {
    for_each_step(program.body(), [&](const Step& step) { copies_ |= step.op->counted; });
    // A register that a later step needs may be written earlier, in a loop also further down.
    do {
        grew_ = false;
        kept_.clear();
        if (!needed(program.body())) return;
    } while (grew_);
    std::ranges::sort(kept_);
    flatten(program.body());
    add(SkeletonOp::Kind::end, program.where());
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

bool Skeleton::needed(const Block& block) {
    bool any = false;
    for (auto node = block.rbegin(); node != block.rend(); ++node) {
        const void* place = nullptr;
        bool keep = false;
        if (const auto* step = std::get_if<Step>(&*node)) {
            place = step;
            keep = needed(*step);
        } else if (const auto* inner = std::get_if<std::unique_ptr<Loop>>(&*node)) {
            const Loop& loop = **inner;
            place = &loop;
            keep = needed(loop.body);
            keep |= needed(loop.head);
            if (keep) need(loop.condition);
        } else {
            const Branch& branch = *std::get<std::unique_ptr<Branch>>(*node);
            place = &branch;
            keep = needed(branch.else_body);
            keep |= needed(branch.then_body);
            if (keep) need(branch.condition);
        }
        if (keep) kept_.push_back(place);
        any |= keep;
    }
    return any;
}

std::size_t Skeleton::add(SkeletonOp::Kind kind, Where where) {
    ops.push_back({});
    ops.back().kind = kind;
    ops.back().where = where;
    return ops.size() - 1;
}

void Skeleton::flatten(const Block& block) {
    using Kind = SkeletonOp::Kind;
    const auto kept = [&](const void* place) { return std::ranges::binary_search(kept_, place); };
    for (const Node& node : block) {
        if (const auto* step = std::get_if<Step>(&node)) {
            if (!kept(step)) continue;
            SkeletonOp& op = ops[add(Kind::step, step->where)];
            op.synchronises = is_root(*step);
            op.multiplies = op.synchronises && !synchronises(*step);
            if (pressure_ != nullptr) op.pressure = pressure_->at(step);
            op.opaque = !op.synchronises && opaque(*step);
            op.reg = step->guard;
            op.negated = step->guard_negated;
            op.step = step;
        } else if (const auto* inner = std::get_if<std::unique_ptr<Loop>>(&node)) {
            const Loop& loop = **inner;
            if (!kept(&loop)) continue;
            add(Kind::enter, loop.where);
            const std::uint32_t head = here();
            flatten(loop.head);
            const std::size_t test = add(Kind::test, loop.where);
            ops[test].reg = loop.condition;
            flatten(loop.body);
            ops[add(Kind::repeat, loop.where)].target = head;
            ops[test].target = here();
            add(Kind::join, loop.where);
        } else {
            const Branch& branch = *std::get<std::unique_ptr<Branch>>(node);
            if (!kept(&branch)) continue;
            const std::size_t fork = add(Kind::branch, branch.where);
            ops[fork].reg = branch.condition;
            ops[fork].negated = branch.negated;
            flatten(branch.then_body);
            ops[fork].target = here();
            const std::size_t otherwise = add(Kind::otherwise, branch.where);
            flatten(branch.else_body);
            ops[otherwise].target = here();
            ops[fork].both_arms = here() > otherwise + 1;
            add(Kind::join, branch.where);
        }
    }
}

}  // namespace wgrun::check
