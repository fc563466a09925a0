#include "check/abstract/loops.hpp"

#include <algorithm>

namespace wgrun::check::abstract {

Loops::Loops(const Skeleton& skeleton) {
    const auto jump = [&](std::uint32_t from, std::uint32_t to) {
        if (to > from) return;
        const auto same = std::ranges::find(loops_, to, &Loop::first);
        if (same == loops_.end())
            loops_.push_back({to, from});
        else
            same->last = std::max(same->last, from);
    };
    for (std::uint32_t pc = 0; pc < skeleton.ops.size(); ++pc) {
        const SkeletonOp& op = skeleton.ops[pc];
        if (op.kind == SkeletonOp::Kind::jump || op.kind == SkeletonOp::Kind::branch) jump(pc, op.ways.taken);
        if (op.kind == SkeletonOp::Kind::branch) jump(pc, op.ways.otherwise);
    }
}

int Loops::depth(std::uint32_t pc) const {
    return static_cast<int>(
        std::ranges::count_if(loops_, [&](const Loop& loop) { return loop.contains(pc); }));
}

const Loops::Loop* Loops::innermost(std::uint32_t pc) const {
    const Loop* out = nullptr;
    for (const Loop& loop : loops_)
        if (loop.contains(pc) && (out == nullptr || loop.last - loop.first < out->last - out->first))
            out = &loop;
    return out;
}

}  // namespace wgrun::check::abstract
