#include "check/counted.hpp"

#include <algorithm>
#include <vector>

#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// A loop, and the steps in it that write a register.
class Counting {
  public:
    Counting(const Outline& outline, int loop)
        : graph_(outline.graph()), loop_(graph_.loops()[static_cast<std::size_t>(loop)]) {
        for (const BlockId block : loop_.blocks)
            for (const Step& step : graph_.blocks()[block].steps)
                isa::for_each_written(step, [&](Reg reg) { writes_.push_back({reg.id, block, &step}); });
    }

    /// Whether the branch at the end of the block leaves the loop after a number of turns that it counts.
    bool counts(BlockId block) const {
        const BasicBlock& at = graph_.blocks()[block];
        for (const BlockId before : graph_.predecessors(loop_.header))
            if (std::ranges::find(loop_.blocks, before) != loop_.blocks.end() &&
                !graph_.dominates(block, before))
                return false;
        const Writing* test = only(at.condition);
        if (test == nullptr || test->step->op->shape == nullptr ||
            test->step->op->shape(test->step->form) != isa::Shape::order || test->step->guard)
            return false;
        const std::string_view how = isa::spelled(isa::Field::cmp, test->step->form.get(isa::Field::cmp));
        if (how == "eq" || how == "ne") return false;
        std::vector<const Operand*> sources;
        for (std::size_t i = 0; i < test->step->operands.size(); ++i)
            if (test->step->op->operands[i].access == isa::Access::in)
                sources.push_back(&test->step->operands[i]);
        if (sources.size() != 2) return false;
        return (moves(*sources[0]) && stays(*sources[1])) || (moves(*sources[1]) && stays(*sources[0]));
    }

  private:
    struct Writing {
        std::uint32_t reg;
        BlockId block;
        const Step* step;
    };
    const Writing* only(Reg reg) const {
        const auto is = [&](const Writing& write) { return write.reg == reg.id; };
        const auto first = std::ranges::find_if(writes_, is);
        return first != writes_.end() && std::ranges::count_if(writes_, is) == 1 ? &*first : nullptr;
    }
    bool stays(const Operand& operand) const {
        return !operand.reg || std::ranges::none_of(writes_, [&](const Writing& write) {
            return write.reg == operand.reg.id;
        });
    }
    bool moves(const Operand& operand) const { return operand.reg && grows(operand.reg, operand.reg, 0, 0); }

    /// Whether the register is `from` of the turn before, and a number that is not 0.
    bool grows(Reg reg, Reg from, std::int64_t more, int depth) const {
        constexpr int deepest = 6;
        const Writing* write = only(reg);
        if (write == nullptr || write->step->guard || depth > deepest) return false;
        for (const BlockId before : graph_.predecessors(loop_.header))
            if (std::ranges::find(loop_.blocks, before) != loop_.blocks.end() &&
                !graph_.dominates(write->block, before))
                return false;
        const Step& step = *write->step;
        const std::string_view name = step.op->name;
        if ((name != "add" && name != "sub" && name != "mov") || isa::is_float(step.form.type()))
            return false;
        const Operand* source = nullptr;
        for (std::size_t i = 1; i < step.operands.size(); ++i) {
            const Operand& operand = step.operands[i];
            if (operand.reg && source == nullptr)
                source = &operand;
            else if (operand.kind == Operand::Kind::imm)
                more += name == "sub" ? -operand.imm : operand.imm;
            else
                return false;
        }
        if (source == nullptr) return false;
        if (source->reg == from) return more != 0;
        return grows(source->reg, from, more, depth + 1);
    }

    const flow::Graph& graph_;
    const flow::Loop& loop_;
    std::vector<Writing> writes_;
};

}  // namespace

std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton) {
    const flow::Graph& graph = outline.graph();
    for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop) {
        const flow::Loop& its = graph.loops()[static_cast<std::size_t>(loop)];
        const auto leaves = [&](BlockId block) {
            const BasicBlock& at = graph.blocks()[block];
            return at.end == BasicBlock::End::branch &&
                   (!graph.inside(at.taken, loop) || !graph.inside(at.otherwise, loop));
        };
        const auto followed = [&](BlockId block) { return leaves(block) && skeleton.decides(block); };
        if (std::ranges::any_of(its.blocks, followed)) continue;
        const Counting turns(outline, loop);
        const auto counted = [&](BlockId block) { return leaves(block) && turns.counts(block); };
        if (std::ranges::none_of(its.blocks, counted)) return graph.blocks()[its.header].where;
    }
    return std::nullopt;
}

}  // namespace wgrun::check
