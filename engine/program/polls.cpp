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

bool only_looks(const Loop& loop) {
    bool looks = false, acts = false;
    const auto visit = [&](const Step& step) {
        looks = looks || polls(step);
        const bool fence = isa::order_of(step).strong && !accesses_memory(step);
        acts = acts || (isa::pinned(*step.op) && !polls(step) && !fence);
    };
    for_each_step(loop.head, visit);
    for_each_step(loop.body, visit);
    for_each_step(loop.next, visit);
    return looks && !acts;
}

}  // namespace wgrun
