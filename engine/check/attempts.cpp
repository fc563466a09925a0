#include "check/attempts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "flow/traps.hpp"
#include "isa/awaited.hpp"
#include "isa/effects.hpp"
#include "isa/known_bits.hpp"

namespace wgrun::check {
namespace {

using isa::KnownBits;

/// The register that a step gives its answer in; none: it asks for no phase.
Reg answer_of(const Step& step) {
    if (step.op->awaits != isa::Awaits::mbarrier) return {};
    const isa::Operand* passed = isa::awaited(step).passed;
    return passed == nullptr ? Reg() : passed->reg;
}

bool pauses(const Step& step) {
    struct Listener final : isa::Effects {
        bool heard = false;
        void pause() override { heard = true; }
    } listener;
    isa::visit_effects(step, listener);
    return listener.heard;
}

/// Does nothing but compute, or let time go by.
bool is_quiet(const Step& step) { return step.op->effects == nullptr || pauses(step); }

/// What is known of registers, of those that a way has written.
using BitsOf = std::map<std::uint32_t, KnownBits>;

void compute(const Step& step, BitsOf& known) {
    const auto of = [&](Reg reg) {
        const auto its = known.find(reg.id);
        return its == known.end() ? KnownBits() : its->second;
    };
    const KnownBits now = step.guard ? KnownBits() : isa::known_bits(step, of);
    isa::for_each_written(step, [&](Reg reg) { known[reg.id] = now; });
}

/// Whether it reads one of the registers, also as its guard.
bool reads(const Step& step, const std::set<std::uint32_t>& registers) {
    bool out = step.guard && registers.contains(step.guard.id);
    isa::for_each_read(step, [&](Reg reg) { out = out || registers.contains(reg.id); });
    return out;
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

/// The ways that a thread may go.
class Attempts::Ways {
  public:
    explicit Ways(const Outline& outline)
        : outline_(outline),
          writers_(outline),
          kept_(outline, writers_),
          trapping_(flow::trapping(graph())) {}

    const flow::Graph& graph() const { return outline_.graph(); }

    /// Whether the thread comes to the step again wherever the answer is no, and what it does in between
    /// leaves no trace.
    bool again(BlockId block, const Step& step) {
        if (step.guard || answer_of(step) == Reg()) return false;
        begin();
        BitsOf known{{answer_of(step).id, KnownBits::of(0)}};
        if (!all_come(block, &step + 1, known, {block, &step})) return false;
        const int loop = graph().innermost_loop(block);
        std::set<std::uint32_t> changes;
        for (const auto& [reg, constant] : written_)
            if (!constant && !kept_.keeps(Reg{reg}, loop, block)) changes.insert(reg);
        bool out = !is_read_elsewhere(changes);
        isa::for_each_read(step, [&](Reg reg) { out = out && !changes.contains(reg.id); });
        return out;
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
    /// Where ways are to come to: before a step of a block.
    struct Place {
        BlockId block;
        const Step* step;
    };

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

    void begin() {
        on_way_.clear();
        passed_.clear();
        branches_.clear();
        written_.clear();
    }

    /// Whether all ways come to that place, doing nothing on the way that others see; or they trap.
    bool all_come(BlockId block, const Step* from, BitsOf known, Place to) {
        constexpr std::size_t longest = 32;
        if (on_way_.size() > longest) return false;
        const BasicBlock& at = outline_.blocks()[block];
        for (const Step* step = from;; ++step) {
            if (block == to.block && step == to.step) return true;
            if (step == at.steps.data() + at.steps.size()) break;
            passed_.insert(step);
            if (flow::traps(*step)) {
                if (!step->guard) return true;
                continue;
            }
            if (!is_quiet(*step)) return false;
            compute(*step, known);
            isa::for_each_written(*step, [&](Reg reg) {
                const bool constant = known.at(reg.id).value().has_value();
                written_[reg.id] = constant && (!written_.contains(reg.id) || written_.at(reg.id));
            });
        }
        if (at.end == BasicBlock::End::branch) branches_.insert(block);
        std::optional<std::uint64_t> condition;
        if (at.end == BasicBlock::End::branch)
            if (const auto its = known.find(at.condition.id); its != known.end())
                condition = its->second.value();
        on_way_.push_back(block);
        bool out = true, any = false;
        at.for_each_successor([&](BlockId next, int arm) {
            if (condition && ((*condition != 0) != at.negated ? 0 : 1) != arm) return;
            any = true;
            if (trapping_[next]) return;
            if (std::ranges::find(on_way_, next) != on_way_.end() && next != to.block) out = false;
            out = out && all_come(next, outline_.blocks()[next].steps.data(), known, to);
        });
        on_way_.pop_back();
        return out && any;
    }

    /// Whether one of the registers is read by what the ways have not passed.
    bool is_read_elsewhere(const std::set<std::uint32_t>& changes) const {
        bool out = false;
        for_each_step([&](BlockId, const Step& step) {
            out = out || (!passed_.contains(&step) && reads(step, changes));
        });
        return out || std::ranges::any_of(graph().order(), [&](BlockId id) {
                   const BasicBlock& block = outline_.blocks()[id];
                   return block.end == BasicBlock::End::branch && !branches_.contains(id) &&
                          changes.contains(block.condition.id);
               });
    }

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
            begin();
            if (!all_come(arms[0], outline_.blocks()[arms[0]].steps.data(), {}, {block, &wait})) return;
            passed_.insert(&wait);
            const BasicBlock& join = outline_.blocks()[arms[1]];
            const BitsOf done{{answer_of(wait).id, KnownBits::of(1)}};
            if (!all_come(block, &wait + 1, done, {arms[1], join.steps.data()})) return;
            std::set<std::uint32_t> all{answer_of(wait).id};
            for (const auto& [reg, constant] : written_) all.insert(reg);
            if (is_read_elsewhere(all)) return;
            answers.insert(&wait);
            out = true;
        });
        return out;
    }

    const Outline& outline_;
    const Writers writers_;
    Kept kept_;
    const std::vector<bool> trapping_;
    std::vector<BlockId> on_way_;
    std::set<const Step*> passed_;           ///< by the ways
    std::set<BlockId> branches_;             ///< at whose ends they go on
    std::map<std::uint32_t, bool> written_;  ///< registers; whether each with a constant
};

Attempts::Attempts(const Outline& outline) {
    bool any = false;
    wgrun::for_each_step(outline.program(), [&](const Step& step) { any |= bool{answer_of(step)}; });
    if (!any) return;
    Ways ways(outline);
    ways.for_each_step([&](BlockId block, const Step& step) {
        if (ways.again(block, step)) again_.insert(&step);
    });
    ways.for_each_step([&](BlockId, const Step& step) {
        if (answer_of(step) && !again_.contains(&step) && ways.asks(step, again_, answers_))
            asks_.insert(&step);
    });
}

Attempt Attempts::of(const Step& step) const {
    return again_.contains(&step) ? Attempt::again : asks_.contains(&step) ? Attempt::asks : Attempt::other;
}

}  // namespace wgrun::check
