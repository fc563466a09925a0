#include "program/polls.hpp"

#include <algorithm>

#include "isa/effects.hpp"
#include "isa/order.hpp"

namespace wgrun {

using isa::Awaits;

bool accesses_memory(const Step& step) {
    return std::ranges::any_of(step.op->operands, [](const isa::OperandRule& rule) {
        return (rule.kinds & isa::OperandRule::address) != 0;
    });
}

bool polls(const Step& step) {
    const Awaits awaited = isa::awaited_by(step);
    return awaited == Awaits::mbarrier || awaited == Awaits::memory;
}

std::vector<TextLoop> loops_of(const Program& program) {
    const std::vector<BasicBlock>& blocks = program.blocks();
    std::vector<BlockId> last(blocks.size(), no_block);
    for (BlockId id = 0; id < blocks.size(); ++id)
        blocks[id].for_each_successor([&](BlockId to, int) {
            if (to <= id) last[to] = id;
        });
    std::vector<TextLoop> out;
    for (BlockId id = 0; id < blocks.size(); ++id)
        if (last[id] != no_block) out.push_back({id, last[id], blocks[id].label.kind == Label::Kind::loop});
    return out;
}

bool only_looks(const Program& program, const TextLoop& loop) {
    bool looks = false, acts = false;
    for (BlockId id = loop.first; id <= loop.last; ++id) {
        for (const Step& step : program.blocks()[id].steps) {
            looks = looks || polls(step);
            const bool fence = isa::order_of(step).strong && !accesses_memory(step);
            acts = acts || (isa::pinned(*step.op) && !polls(step) && !fence);
        }
    }
    return looks && !acts;
}

}  // namespace wgrun
