#include "check/abstract/live.hpp"

#include "isa/registers.hpp"

namespace wgrun::check::abstract {

Live::Live(const Skeleton& skeleton)
    : at_(skeleton.ops.size(), std::vector<bool>(static_cast<std::size_t>(skeleton.slot_count))) {
    using Kind = SkeletonOp::Kind;
    const auto slot = [&](Reg reg) { return reg ? skeleton.slots[reg.id] : -1; };
    std::vector<bool> live;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t pc = skeleton.ops.size(); pc-- > 0;) {
            const SkeletonOp& op = skeleton.ops[pc];
            live.assign(static_cast<std::size_t>(skeleton.slot_count), false);
            const auto join = [&](std::size_t next) {
                for (std::size_t i = 0; i < live.size(); ++i)
                    if (at_[next][i]) live[i] = true;
            };
            if (op.kind == Kind::step) {
                if (pc + 1 < skeleton.ops.size()) join(pc + 1);
                // A guarded step may leave its results as they were.
                if (!op.reg)
                    isa::for_each_written(*op.step, [&](Reg reg) {
                        if (slot(reg) >= 0) live[static_cast<std::size_t>(slot(reg))] = false;
                    });
                isa::for_each_read(*op.step, [&](Reg reg) {
                    if (slot(reg) >= 0) live[static_cast<std::size_t>(slot(reg))] = true;
                });
            } else if (op.kind != Kind::end) {
                join(op.ways.taken);
                if (op.kind == Kind::branch) join(op.ways.otherwise);
            }
            if (slot(op.reg) >= 0) live[static_cast<std::size_t>(slot(op.reg))] = true;
            if (live == at_[pc]) continue;
            at_[pc] = live;
            changed = true;
        }
    }
}

}  // namespace wgrun::check::abstract
