#include "check/copies.hpp"

#include <array>
#include <utility>

namespace wgrun::check {

bool stays_a_copy(const Outline& outline, const std::vector<RegisterSet>& live, BlockId block,
                  std::size_t index, Reg to, Reg from) {
    const std::vector<BasicBlock>& blocks = outline.blocks();
    struct Visit {
        BlockId block;
        std::size_t index;
        bool differs;  ///< `from` has been written since
    };
    std::vector<Visit> left{{block, index + 1, false}};
    std::array<std::vector<bool>, 2> seen{std::vector<bool>(blocks.size()), std::vector<bool>(blocks.size())};
    while (!left.empty()) {
        Visit at = left.back();
        left.pop_back();
        const std::vector<Step>& steps = blocks[at.block].steps;
        bool copied_again = false;
        for (; at.index < steps.size() && !copied_again; ++at.index) {
            copied_again = at.block == block && at.index == index;
            bool writes = false;
            if (at.differs && steps[at.index].guard == to) return false;
            for (const Outline::Used& used : outline.used(outline.first_step(at.block) + at.index)) {
                if (at.differs && used.reads() && used.reg == to) return false;
                writes |= used.writes() && used.reg == from;
            }
            at.differs |= writes;
        }
        if (copied_again) continue;
        if (at.differs && blocks[at.block].condition == to) return false;
        blocks[at.block].for_each_successor([&](BlockId next, int) {
            if (!live[next].has(to.id) || seen[at.differs][next]) return;
            seen[at.differs][next] = true;
            left.push_back({next, 0, at.differs});
        });
    }
    return true;
}

}  // namespace wgrun::check
