#include "sim/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flow/graph.hpp"
#include "isa/effects.hpp"
#include "isa/lanes.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"
#include "isa/warp.hpp"
#include "sim/fixed_values.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::sim {
namespace {

class Flattener {
  public:
    explicit Flattener(std::vector<Op>& ops) : ops_(ops) {}

    void graph(const flow::Graph& graph) {
        attempts_ = attempts_in_loops(graph);
        std::vector<std::uint32_t> begins(graph.blocks().size(), flow::Divergence::nowhere);
        std::vector<std::uint32_t> ends;
        for (BlockId id = 0; id < graph.blocks().size(); ++id) {
            if (!graph.reachable(id)) continue;
            const BasicBlock& block = graph.blocks()[id];
            begins[id] = here();
            for (const Step& step : block.steps) this->step(step);
            end(block);
            // The blocks are known now; their positions are known later.
            ops_.back().ways = {block.taken, block.otherwise, graph.reconvergence(id)};
            ends.push_back(here() - 1);
        }
        for (const std::uint32_t at : ends)
            for (std::uint32_t* way : {&ops_[at].ways.taken, &ops_[at].ways.otherwise, &ops_[at].ways.join})
                if (*way != no_block) *way = begins[*way];
    }

  private:
    std::uint32_t here() const { return static_cast<std::uint32_t>(ops_.size()); }

    Op& add(Op::Kind kind, Where where) {
        if (ops_.size() >= max_ops)
            throw ArgumentError(fmt::format("the program has more than {} steps", max_ops),
                                "use k:loop instead of unrolling");
        ops_.push_back({.kind = kind, .where = where});
        // Without a line, every operation is a place of its own.
        ops_.back().place = here() - 1;
        if (where)
            ops_.back().place =
                places_.try_emplace({where.file.view().data(), where.line}, here() - 1).first->second;
        return ops_.back();
    }

    void step(const Step& step) {
        Op& op = add(step.op->collective ? Op::Kind::collective : Op::Kind::step, step.where);
        op.negated = step.guard_negated;
        op.aligned = step.op->taken_by != isa::Participants::thread;
        op.grouped = step.op->taken_by == isa::Participants::warpgroup;
        if (step.guard) op.reg = step.guard.id;
        op.step = &step;
        op.order = isa::order_of(step);
        op.constant = step.form.get(isa::Field::nc, 0) == 1;
        op.quiet = isa::keeps_to_registers(step);
        op.copies = static_cast<bool>(isa::copied(step));
        if (const auto found = attempts_.find(&step); found != attempts_.end()) op.attempts = found->second;
    }

    void end(const BasicBlock& block) {
        using End = BasicBlock::End;
        Op& op = add(block.end == End::jump     ? Op::Kind::jump
                     : block.end == End::branch ? Op::Kind::branch
                                                : Op::Kind::end,
                     block.where);
        if (block.condition) op.reg = block.condition.id;
        op.negated = block.negated;
    }

    std::vector<Op>& ops_;
    std::unordered_map<const isa::Step*, Attempts> attempts_;
    std::map<std::pair<const char*, int>, std::uint32_t> places_;  // file names are interned
};

bool fences(const isa::Step& step) {
    struct Listener final : isa::Effects {
        bool heard = false;
        void fence() override { heard = true; }
    } listener;
    isa::visit_effects(step, listener);
    return listener.heard;
}

/// Does the step give what differs from cluster to cluster? Inline PTX may.
bool tells_clusters_apart(const isa::Step& step) {
    if (isa::inline_ptx_of(*step.op) != nullptr) return true;
    if (step.op->atomic)
        return std::ranges::any_of(
            step.op->operands, [](const isa::OperandRule& rule) { return rule.access != isa::Access::in; });
    if (!step.form.has(isa::Field::sreg)) return false;
    const isa::Special which = isa::special_of(step.form);
    return isa::is_clock(which) || which == isa::Special::smid || which == isa::Special::gridid ||
           (which >= isa::Special::ctaid_x && which <= isa::Special::ctaid_z) ||
           (which >= isa::Special::clusterid_x && which <= isa::Special::clusterid_z);
}

bool tells_ctas_of_cluster_apart(const isa::Step& step) {
    if (!step.form.has(isa::Field::sreg)) return false;
    const isa::Special which = isa::special_of(step.form);
    return which == isa::Special::cluster_ctarank ||
           (which >= isa::Special::cluster_ctaid_x && which <= isa::Special::cluster_ctaid_z);
}

}  // namespace

Code flatten(const Program& program) {
    Code code;
    Flattener(code.ops).graph(flow::Graph(program));
    const auto is_address = [](const isa::OperandRule& rule) {
        return (rule.kinds & isa::OperandRule::address) != 0;
    };
    const auto acquires = [](const Op& op) { return op.order.acquire && op.order.scope >= isa::Scope::gpu; };
    const bool fenced =
        std::ranges::any_of(code.ops, [&](const Op& op) { return acquires(op) && fences(*op.step); });
    code.hands_over = std::ranges::any_of(code.ops, [&](const Op& op) {
        if (!op.order.strong || op.order.scope < isa::Scope::gpu) return false;
        // An atomic that learns nothing from others hands nothing over.
        if (op.step->op->atomic &&
            !(acquires(op) || (fenced && isa::awaited_by(*op.step) == isa::Awaits::memory)))
            return false;
        // A generic address may be one of global memory.
        return op.step->form.has(isa::Field::space)
                   ? op.step->form.get(isa::Field::space) == static_cast<int>(isa::Space::global)
                   : std::ranges::any_of(op.step->op->operands, is_address);
    });
    struct Listener final : isa::Effects {
        bool discards = false, acquires_maps = false;
        void discard(const isa::MemoryAccess&) override { discards = true; }
        void acquire_map() override { acquires_maps = true; }
    } listener;
    for (const Op& op : code.ops)
        if (op.step != nullptr) isa::visit_effects(*op.step, listener);
    code.discards = listener.discards;
    code.hands_over |= listener.acquires_maps;
    const auto any = [&](bool (*tells_apart)(const isa::Step&)) {
        return std::ranges::any_of(code.ops,
                                   [&](const Op& op) { return op.step != nullptr && tells_apart(*op.step); });
    };
    code.clusters_alike = !code.hands_over && !any(tells_clusters_apart);
    code.ctas_alike = code.clusters_alike && !any(tells_ctas_of_cluster_apart);
    const FixedValues values(program);
    for (Op& op : code.ops) op.fixed = op.step != nullptr && values.stored_by(*op.step);
    if (program.cluster().volume() > 1)
        for (Op& op : code.ops) {
            op.waits_near = op.step != nullptr && op.step->op->awaits == isa::Awaits::mbarrier &&
                            op.order.acquire && op.order.scope == isa::Scope::cta;
            code.waits_near |= op.waits_near;
        }
    for (const RegisterInfo& info : program.registers()) {
        if (code.register_bytes > UINT32_MAX - 256)
            throw ArgumentError(fmt::format("the program has {}, more than the simulator can hold",
                                            count_of(program.registers().size(), "register")));
        code.register_offset.push_back(static_cast<std::uint32_t>(code.register_bytes));
        code.register_bytes += static_cast<std::size_t>(isa::lanes * isa::storage_bytes(info.type));
    }
    return code;
}

}  // namespace wgrun::sim
