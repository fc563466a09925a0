#include "check/turning.hpp"

#include <algorithm>
#include <map>

namespace wgrun::check {

bool Turning::without_draws(const std::set<BlockId>& blocks) const {
    std::map<std::size_t, std::vector<const Run*>> from;
    for (const Run& run : runs_)
        if (!run.draws) from[run.from].push_back(&run);
    const auto comes_back = [&](const Run& first) {
        std::set<std::size_t> seen;
        for (std::vector<std::size_t> open{first.to}; !open.empty();) {
            const std::size_t at = open.back();
            open.pop_back();
            if (at == first.from) return true;
            if (!seen.insert(at).second) continue;
            for (const Run* next : from[at]) open.push_back(next->to);
        }
        return false;
    };
    return std::ranges::any_of(runs_, [&](const Run& run) {
        return !run.draws &&
               std::ranges::any_of(run.branches, [&](BlockId block) { return blocks.contains(block); }) &&
               comes_back(run);
    });
}

}  // namespace wgrun::check
