#include "check/counted.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "check/at_least_one.hpp"
#include "check/drawn_tests.hpp"
#include "check/register_sum.hpp"
#include "check/tested_loop.hpp"

namespace wgrun::check {
namespace {

using Test = TestedLoop::Test;
using Writing = TestedLoop::Writing;

/// By how much counters grow in each turn of a loop.
class Growth {
  public:
    explicit Growth(const TestedLoop& loop) : loop_(loop) {}

    /// Whether the branch at the end of the block leaves the loop after a number of turns that it counts.
    bool counts(const Test& test) const {
        if (!test.counter->reg) return false;
        const std::int64_t room = loop_.room(test);
        // What grows by an odd number comes to every number.
        const auto comes = [&](std::int64_t more) {
            return more != 0 && (more % 2 != 0 ? 1 : std::abs(more)) <= room;
        };
        if (const auto more = growth(test.counter->reg, test.counter->reg, 0, 0); more && *more != 0)
            return comes(*more);
        return counts_in_parts(test, comes);
    }

  private:
    /// A step that adds a constant to the counter.
    struct Part {
        const Writing* by;
        std::int64_t more;
    };

    /// Of a counter to which several steps of each turn add numbers of one sign. An unsigned one that falls
    /// is compared before each of them.
    template <class Comes>
    bool counts_in_parts(const Test& test, Comes comes) const {
        std::vector<Part> parts;
        std::int64_t all = 0;
        for (const Writing& write : loop_.writes()) {
            if (write.reg != test.counter->reg.id) continue;
            const RegisterSum sum = sum_of(*write.step);
            if (write.step->guard || !loop_.once_in_every_turn(write.block) || sum.times != 1 || sum.other ||
                sum.reg != test.counter->reg || sum.constant == 0)
                return false;
            parts.push_back({&write, sum.constant});
            all += sum.constant;
        }
        if (comes(all)) return true;
        return !parts.empty() && test.is_above() && std::ranges::all_of(parts, [&](const Part& part) {
            return part.more < 0 && is_compared_before(test.counter->reg, part, parts);
        });
    }
    bool is_compared_before(Reg counter, const Part& part, const std::vector<Part>& parts) const {
        return std::ranges::any_of(loop_.loop().blocks, [&](BlockId block) {
            const BasicBlock& at = loop_.graph().blocks()[block];
            if (at.end != BasicBlock::End::branch || loop_.inside(at.taken) == loop_.inside(at.otherwise) ||
                !loop_.graph().dominates(block, part.by->block) || block == part.by->block)
                return false;
            const std::optional<Test> test = loop_.test_of(block, false);
            if (!test || test->counter->reg != counter || !test->is_above() ||
                !loop_.graph().dominates(test->by->block, block))
                return false;
            std::int64_t less = -part.more;
            for (const Part& other : parts)
                if (other.by != part.by && loop_.before(*test->by, *other.by) &&
                    loop_.before(*other.by, *part.by))
                    less -= other.more;
            return loop_.room(*test) >= less;
        });
    }

    /// How much greater the register and `more` are than `from` of the turn before.
    std::optional<std::int64_t> growth(Reg reg, Reg from, std::int64_t more, int depth) const {
        constexpr int deepest = 6;
        const Writing* write = loop_.only(reg);
        if (write == nullptr || write->step->guard || depth > deepest) return std::nullopt;
        if (!loop_.once_in_every_turn(write->block)) return std::nullopt;
        const RegisterSum sum = sum_of(*write->step);
        if (sum.times != 1) return std::nullopt;
        if (sum.other) {
            // By the size of the grid, which is at least 1: by an even number, as far as is known.
            if (sum.constant != 0 || more < 0) return std::nullopt;
            const bool first = loop_.is_stride(sum.reg);
            if (!first && !loop_.is_stride(sum.other)) return std::nullopt;
            const Reg next = first ? sum.other : sum.reg;
            constexpr std::int64_t some = std::int64_t{1} << 30;
            return next == from ? std::optional(some) : std::nullopt;
        }
        more += sum.constant;
        return sum.reg == from ? std::optional(more) : growth(sum.reg, from, more, depth + 1);
    }

    const TestedLoop& loop_;
};

/// Whether a branch leaves the loop, of those at the ends of its blocks that which(block) names.
template <class Which>
bool has_exit(const flow::Graph& graph, int loop, Which which) {
    return std::ranges::any_of(graph.loops()[static_cast<std::size_t>(loop)].blocks, [&](BlockId block) {
        const BasicBlock& at = graph.blocks()[block];
        return at.end == BasicBlock::End::branch &&
               (!graph.inside(at.taken, loop) || !graph.inside(at.otherwise, loop)) && which(block);
    });
}

/// Returns the loops that which(loop) names, and that no count ends.
template <class Which>
std::vector<OpenLoop> uncounted(const Outline& outline, const DrawnNumbers& drawn, Which which) {
    const flow::Graph& graph = outline.graph();
    const std::set<std::uint32_t> strides = at_least_one(outline.program(), {});
    const Writers writers(outline);
    Kept kept(outline, writers);
    std::vector<OpenLoop> out;
    for (int index = 0; index < static_cast<int>(graph.loops().size()); ++index) {
        if (!which(index)) continue;
        const TestedLoop loop(outline, index, strides);
        const auto ends = [&](BlockId block, bool turned) {
            const std::optional<Test> test = loop.test_of(block, turned);
            return test && (ends_as_it_draws(loop, *test, drawn, kept) || Growth(loop).counts(*test));
        };
        if (!has_exit(graph, index, [&](BlockId block) { return ends(block, false) || ends(block, true); }))
            out.push_back({graph.blocks()[loop.loop().header].where, loop.branches(), draws(loop, drawn)});
    }
    return out;
}

}  // namespace

std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton) {
    const std::vector<OpenLoop> all = uncounted(outline, skeleton.drawn(), [&](int loop) {
        return !has_exit(outline.graph(), loop, [&](BlockId block) { return skeleton.decides(block); });
    });
    return all.empty() ? std::nullopt : std::optional(all.front().where);
}

std::vector<OpenLoop> uncounted_loops_around(const Outline& outline, const std::set<const Step*>& steps,
                                             const DrawnNumbers& drawn) {
    const flow::Graph& graph = outline.graph();
    return uncounted(outline, drawn, [&](int loop) {
        return std::ranges::any_of(graph.loops()[static_cast<std::size_t>(loop)].blocks, [&](BlockId block) {
            return std::ranges::any_of(graph.blocks()[block].steps,
                                       [&](const Step& step) { return steps.contains(&step); });
        });
    });
}

}  // namespace wgrun::check
