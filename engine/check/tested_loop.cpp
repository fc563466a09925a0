#include "check/tested_loop.hpp"

#include <algorithm>
#include <limits>

#include "isa/registers.hpp"

namespace wgrun::check {

TestedLoop::TestedLoop(const Outline& outline, int loop, const std::set<std::uint32_t>& strides)
    : graph_(outline.graph()), strides_(strides), index_(loop) {
    for (const BlockId block : this->loop().blocks)
        for (const Step& step : graph_.blocks()[block].steps)
            isa::for_each_written(step, [&](Reg reg) { writes_.push_back({reg.id, block, &step}); });
    for (const BlockId before : graph_.predecessors(this->loop().header))
        if (inside(before)) ends_.push_back(before);
}

bool TestedLoop::in_every_turn(BlockId block) const {
    return std::ranges::all_of(ends_, [&](BlockId end) { return graph_.dominates(block, end); });
}

const TestedLoop::Writing* TestedLoop::only(Reg reg) const {
    const auto is = [&](const Writing& write) { return write.reg == reg.id; };
    const auto first = std::ranges::find_if(writes_, is);
    return first != writes_.end() && std::ranges::count_if(writes_, is) == 1 ? &*first : nullptr;
}

bool TestedLoop::stays(const Operand& operand) const {
    return !operand.reg ||
           std::ranges::none_of(writes_, [&](const Writing& write) { return write.reg == operand.reg.id; });
}

std::optional<std::pair<const Operand*, const Operand*>> compared_by(const Step& step) {
    if (step.op->shape == nullptr || step.op->shape(step.form) != isa::Shape::order || step.guard)
        return std::nullopt;
    std::vector<const Operand*> sources;
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (step.op->operands[i].access == isa::Access::in) sources.push_back(&step.operands[i]);
    if (sources.size() != 2) return std::nullopt;
    return std::pair(sources[0], sources[1]);
}

std::optional<TestedLoop::Test> TestedLoop::test_of(BlockId block, bool turned) const {
    const BasicBlock& at = graph_.blocks()[block];
    const Writing* test = in_every_turn(block) ? only(at.condition) : nullptr;
    // What wraps in less than 32 bits is no number of turns.
    if (test == nullptr || !in_every_turn(test->block) || isa::bits(test->step->form.type()) < 32)
        return std::nullopt;
    const auto sources = compared_by(*test->step);
    if (!sources) return std::nullopt;
    const auto [first, second] = *sources;
    unsigned relations = isa::relations_of(test->step->form);
    constexpr unsigned all = isa::less | isa::equal | isa::greater;
    if (relations > all) return std::nullopt;
    if (inside(at.taken) == at.negated) relations ^= all;
    if (turned) relations = isa::turned(relations);
    const Test out{test, turned ? second : first, turned ? first : second, relations,
                   !isa::is_signed(test->step->form.type())};
    return stays(*out.other) ? std::optional(out) : std::nullopt;
}

std::int64_t TestedLoop::room(const Test& test) const {
    // A number of the launch is less than that.
    constexpr std::int64_t number = std::int64_t{1} << 30;
    if (test.relations == isa::equal) return number;
    if (!test.is_below() && !test.is_above()) return 1;
    using Unsigned = std::numeric_limits<std::uint32_t>;
    using Signed = std::numeric_limits<std::int32_t>;
    const std::int64_t lowest = test.is_unsigned ? Unsigned::min() : Signed::min();
    const std::int64_t highest = test.is_unsigned ? Unsigned::max() : Signed::max();
    std::int64_t other = test.is_below() ? number : test.is_unsigned ? 0 : -number;
    if (test.other->kind == Operand::Kind::imm) {
        const std::int64_t imm = test.other->imm;
        other = test.is_unsigned ? std::int64_t{static_cast<std::uint32_t>(imm)}
                                 : std::int64_t{static_cast<std::int32_t>(imm)};
        if (other != imm && isa::bits(test.by->step->form.type()) > 32) return 0;
    } else if (test.is_above() && test.other->reg && is_stride(test.other->reg)) {
        other = 1;
    }
    // The numbers up to it, or from it on; itself where the loop goes on for no equal one.
    const std::int64_t equal = (test.relations & isa::equal) != 0 ? 0 : 1;
    return equal + (test.is_below() ? highest - other : other - lowest);
}

std::set<BlockId> TestedLoop::branches() const {
    std::set<BlockId> leaving, out;
    for (const BlockId block : loop().blocks) {
        const BasicBlock& at = graph_.blocks()[block];
        if (at.end != BasicBlock::End::branch || !in_every_turn(block)) continue;
        if (inside(at.taken) != inside(at.otherwise)) leaving.insert(block);
        if (once_in_every_turn(block)) out.insert(block);
    }
    return leaving.empty() ? out : leaving;
}

}  // namespace wgrun::check
