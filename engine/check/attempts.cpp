#include "check/attempts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "check/quiet_ways.hpp"
#include "flow/traps.hpp"
#include "isa/awaited.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

using isa::KnownBits;

/// The register that a step gives its answer in; none: it asks for no phase.
Reg answer_of(const Step& step) {
    if (step.op->awaits != isa::Awaits::mbarrier) return {};
    const isa::Operand* passed = isa::awaited(step).passed;
    return passed == nullptr ? Reg() : passed->reg;
}

/// The register that a step computes its result of; none where it is computed of constants, and nothing where
/// it is not computed of one alone.
std::optional<Reg> only_source(const Step& step) {
    Reg out;
    bool good = !step.guard && step.op->effects == nullptr && step.op->run != nullptr && !step.op->convergent;
    isa::for_each_read(step, [&](Reg reg) {
        good = good && (!out || out == reg);
        out = reg;
    });
    return good ? std::optional(out) : std::nullopt;
}

}  // namespace

/// What follows from answers.
class Attempts::Answers {
  public:
    explicit Answers(const Outline& outline)
        : outline_(outline),
          writers_(outline),
          kept_(outline, writers_),
          trapping_(flow::trapping(graph())) {}

    const flow::Graph& graph() const { return outline_.graph(); }

    /// Whether the thread comes to the step again wherever the answer is no, and what it does in between
    /// leaves no trace.
    bool again(BlockId block, const Step& step) {
        if (step.guard || answer_of(step) == Reg()) return false;
        QuietWays ways(outline_, trapping_);
        const BitsOf no{{answer_of(step).id, KnownBits::of(0)}};
        if (!ways.all_come({block, &step + 1}, no, {block, &step})) return false;
        const int loop = graph().innermost_loop(block);
        std::set<std::uint32_t> changes;
        for (const auto& [reg, constant] : ways.written())
            if (!constant && !kept_.keeps(Reg{reg}, loop, block)) changes.insert(reg);
        return !reads(step, changes) && !ways.is_read_elsewhere(changes);
    }

    /// Whether the answer decides nothing else than whether one of `waits` is executed, each in an arm of its
    /// own, to which `answers` is added.
    bool asks(const Step& step, const std::set<const Step*>& waits, std::set<const Step*>& answers) {
        std::vector<Reg> open{answer_of(step)};
        std::set<std::uint32_t> seen{open.front().id};
        while (!open.empty()) {
            const Reg reg = open.back();
            open.pop_back();
            bool good = true;
            for_each_step([&](BlockId, const Step& reader) {
                if (!reads(reader, {reg.id})) return;
                good = good && only_source(reader) == reg;
                isa::for_each_written(reader, [&](Reg result) {
                    if (seen.insert(result.id).second) open.push_back(result);
                });
            });
            if (!good) return false;
            for (const BlockId id : graph().order())
                if (const BasicBlock& block = outline_.blocks()[id]; block.end == BasicBlock::End::branch &&
                                                                     block.condition == reg &&
                                                                     !only_waits(block, waits, answers))
                    return false;
        }
        return true;
    }

    template <class Visit>
    void for_each_step(Visit visit) const {
        for (const BlockId id : graph().order())
            for (const Step& step : outline_.blocks()[id].steps) visit(id, step);
    }

  private:
    /// What the register holds where that was the answer, whichever step has written it: a step that asks, or
    /// one that computes it of one such register. Constants are left out: they are no answers.
    std::optional<std::uint64_t> after(Reg reg, std::uint64_t answer,
                                       std::set<std::uint32_t> above = {}) const {
        std::optional<std::uint64_t> out;
        above.insert(reg.id);
        for (const Writer& writer : writers_.of(reg)) {
            std::optional<std::uint64_t> value = answer;
            if (answer_of(*writer.step) != reg) {
                const std::optional<Reg> source = only_source(*writer.step);
                if (!source) return std::nullopt;
                if (!*source || above.contains(source->id)) continue;
                value = after(*source, answer, above);
                if (!value) return std::nullopt;
                BitsOf known{{source->id, KnownBits::of(*value)}};
                compute(*writer.step, known);
                value = known.at(reg.id).value();
            }
            if (!value || (out && out != value)) return std::nullopt;
            out = value;
        }
        return out;
    }

    QuietWays::Place begin(BlockId block) const { return {block, outline_.blocks()[block].steps.data()}; }

    /// Of a branch that the answer decides: whether the arm for no waits, and comes to where that for yes
    /// begins.
    bool only_waits(const BasicBlock& branch, const std::set<const Step*>& waits,
                    std::set<const Step*>& answers) {
        std::array<BlockId, 2> arms{};
        for (std::size_t answer = 0; answer < 2; ++answer) {
            const auto known = after(branch.condition, answer);
            if (!known) return false;
            arms.at(answer) = (*known != 0) != branch.negated ? branch.taken : branch.otherwise;
        }
        if (arms[0] == arms[1]) return true;
        bool out = false;
        for_each_step([&](BlockId block, const Step& wait) {
            if (out || !waits.contains(&wait)) return;
            QuietWays ways(outline_, trapping_);
            const BitsOf yes{{answer_of(wait).id, KnownBits::of(1)}};
            if (!ways.all_come(begin(arms[0]), {}, {block, &wait}) ||
                !ways.all_come({block, &wait + 1}, yes, begin(arms[1])))
                return;
            ways.pass(wait);
            std::set<std::uint32_t> all{answer_of(wait).id};
            for (const auto& [reg, constant] : ways.written()) all.insert(reg);
            if (ways.is_read_elsewhere(all)) return;
            answers.insert(&wait);
            out = true;
        });
        return out;
    }

    const Outline& outline_;
    const Writers writers_;
    Kept kept_;
    const std::vector<bool> trapping_;
};

Attempts::Attempts(const Outline& outline) {
    bool any = false;
    wgrun::for_each_step(outline.program(), [&](const Step& step) { any |= bool{answer_of(step)}; });
    if (!any) return;
    Answers each(outline);
    each.for_each_step([&](BlockId block, const Step& step) {
        if (each.again(block, step)) again_.insert(&step);
    });
    each.for_each_step([&](BlockId, const Step& step) {
        if (answer_of(step) && !again_.contains(&step) && each.asks(step, again_, answers_))
            asks_.insert(&step);
    });
}

Attempt Attempts::of(const Step& step) const {
    return again_.contains(&step) ? Attempt::again : asks_.contains(&step) ? Attempt::asks : Attempt::other;
}

}  // namespace wgrun::check
