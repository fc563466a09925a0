#include "check/endless.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "check/kept.hpp"
#include "check/writers.hpp"
#include "isa/effects.hpp"
#include "isa/known_bits.hpp"
#include "isa/registers.hpp"
#include "rules/wait_words.hpp"

namespace wgrun::check {

namespace {

using isa::KnownBits;

/// The bits of registers that are the same whichever step has written them, of those that decide about
/// branches.
class Registers {
  public:
    Registers(const Outline& outline, const Writers& writers)
        : program_(outline.program()),
          bits_(writers.registers()),
          readers_(writers.registers()),
          needed_(writers.registers()),
          waits_(writers.steps()) {
        for (const BlockId id : outline.graph().order())
            if (outline.blocks()[id].end == BasicBlock::End::branch)
                needs(outline.blocks()[id].condition, writers);
        // From nothing written, each step adds what it makes of what was found before. Bits only become
        // unknown, so that it comes to an end.
        while (!left_.empty()) {
            const Writer writer = left_.front();
            left_.pop_front();
            waits_[writer.number] = false;
            write(*writer.step);
        }
    }

    /// Returns the arm that a branch takes in all threads, always: 0 or 1.
    std::optional<int> arm(const BasicBlock& block) const {
        const std::optional<KnownBits>& known = bits_[block.condition.id];
        const std::optional<std::uint64_t> value = known ? known->value() : std::nullopt;
        if (!value) return {};
        return (*value != 0) != block.negated ? 0 : 1;
    }

  private:
    void needs(isa::Reg condition, const Writers& writers) {
        std::vector<isa::Reg> open{condition};
        while (!open.empty()) {
            const isa::Reg reg = open.back();
            open.pop_back();
            if (needed_[reg.id]) continue;
            needed_[reg.id] = true;
            for (const Writer& writer : writers.of(reg)) {
                isa::for_each_read(*writer.step, [&](isa::Reg source) {
                    readers_[source.id].push_back(writer);
                    open.push_back(source);
                });
                look_at(writer);
            }
        }
    }
    void look_at(const Writer& writer) {
        if (!waits_[writer.number]) left_.push_back(writer);
        waits_[writer.number] = true;
    }
    void write(const Step& step) {
        bool reached = true;
        isa::for_each_read(step, [&](isa::Reg reg) { reached &= bits_[reg.id].has_value(); });
        if (!reached) return;
        const KnownBits now = isa::known_bits(step, [this](isa::Reg reg) { return *bits_[reg.id]; });
        isa::for_each_written(step, [&](isa::Reg reg) {
            const int width = isa::bits(program_.registers()[reg.id].type);
            // A wider register is extended.
            const bool fits = !step.op->widens || width == isa::bits(step.op->operands[0].type(step.form));
            std::optional<KnownBits>& known = bits_[reg.id];
            const KnownBits is = fits ? now.cut(width) : KnownBits{}.cut(width),
                            all = known ? known->joined(is) : is;
            if (known == all) return;
            known = all;
            for (const Writer& reader : readers_[reg.id]) look_at(reader);
        });
    }

    const Program& program_;
    std::vector<std::optional<KnownBits>> bits_;  ///< none: no step writes it, of those looked at
    std::vector<std::vector<Writer>> readers_;    ///< by register, of those needed
    std::vector<bool> needed_;                    ///< by register: a condition depends on it
    std::deque<Writer> left_;
    std::vector<bool> waits_;  ///< by step: it is in `left_`
};

/// Calls visit(block) for the successors that the end of the block may lead to.
template <class Visit>
void for_each_taken(const Registers& registers, const BasicBlock& block, Visit visit) {
    const std::optional<int> only =
        block.end == BasicBlock::End::branch ? registers.arm(block) : std::nullopt;
    block.for_each_successor([&](BlockId next, int arm) {
        if (!only || *only == arm) visit(next);
    });
}

/// The blocks that threads may come to.
std::vector<bool> visited(const Outline& outline, const Registers& registers) {
    std::vector<bool> out(outline.blocks().size());
    std::vector<BlockId> left{0};
    while (!left.empty()) {
        const BlockId id = left.back();
        left.pop_back();
        if (out[id]) continue;
        out[id] = true;
        for_each_taken(registers, outline.blocks()[id], [&](BlockId next) { left.push_back(next); });
    }
    return out;
}

/// May the step end the kernel, as far as is known?
bool may_end(const Step& step) {
    struct Listener final : isa::Effects {
        bool ends = false;
        void trap() override { ends = true; }
        void unknown() override { ends = true; }
    } listener;
    isa::visit_effects(step, listener);
    return listener.ends;
}

/// What is known of a thread's way through a loop.
struct Turns {
    bool goes_round = false;              ///< it may come to the header again
    bool may_end = false;                 ///< by something that changes, or is not analysed
    bool leaves = false;                  ///< a way out may be taken
    const BasicBlock* decides = nullptr;  ///< the first whose end has a way out; null: there is none
};

Turns turns(const Outline& outline, const Registers& registers, const std::vector<bool>& come, Kept& kept,
            int loop) {
    const flow::Graph& graph = outline.graph();
    const flow::Loop& of = graph.loops()[static_cast<std::size_t>(loop)];
    Turns out;
    for (const BlockId id : of.blocks) {
        if (!come[id]) continue;
        const BasicBlock& block = outline.blocks()[id];
        block.for_each_successor([&](BlockId next, int) {
            if (out.decides == nullptr && !graph.inside(next, loop)) out.decides = &block;
        });
        bool leaves = false;
        for_each_taken(registers, block, [&](BlockId next) {
            leaves |= !graph.inside(next, loop);
            out.goes_round |= next == of.header;
        });
        if (!leaves) continue;
        out.leaves = true;
        out.may_end = out.may_end || !of.natural || block.end != BasicBlock::End::branch ||
                      !kept.keeps(block.condition, loop, id);
    }
    // Of most loops it is known by now.
    out.may_end = out.may_end || std::ranges::any_of(of.blocks, [&](BlockId id) {
                      return come[id] && std::ranges::any_of(outline.blocks()[id].steps, may_end);
                  });
    return out;
}

}  // namespace

std::vector<Diagnostic> endless_loops(const Outline& outline) {
    const flow::Graph& graph = outline.graph();
    if (graph.loops().empty()) return {};
    const Writers writers(outline);
    const Registers registers(outline, writers);
    const std::vector<bool> come = visited(outline, registers);
    Kept kept(outline, writers);
    std::vector<Diagnostic> out;
    // Inner loops come after those around them: one that holds a loop without an end is not to blame.
    std::vector<bool> to_blame(graph.loops().size(), true);
    for (std::size_t l = graph.loops().size(); l-- > 0;) {
        if (!to_blame[l]) continue;
        const flow::Loop& loop = graph.loops()[l];
        const Turns found = turns(outline, registers, come, kept, static_cast<int>(l));
        if (found.may_end || !found.goes_round) continue;
        for (int around = loop.parent; around != flow::no_loop;
             around = graph.loops()[static_cast<std::size_t>(around)].parent)
            to_blame[static_cast<std::size_t>(around)] = false;
        const rules::Leaving when = found.leaves    ? rules::Leaving::at_once
                                    : found.decides ? rules::Leaving::never
                                                    : rules::Leaving::nowhere;
        out.push_back(rules::finding(
            rules::never_left(when),
            (found.decides != nullptr ? *found.decides : outline.blocks()[loop.blocks.back()]).where));
    }
    return out;
}

}  // namespace wgrun::check
