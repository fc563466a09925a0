#include "check/plan.hpp"

#include <algorithm>
#include <utility>

#include "check/copies.hpp"
#include "isa/effects.hpp"
#include "isa/membermask.hpp"
#include "isa/registers.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::check {

namespace {

/// Assigns slots to the registers that asynchronous operations access.
class SlotMaker final : public isa::Effects {
  public:
    explicit SlotMaker(Plan& plan) : plan_(plan) {}

    void issue_mma(const isa::AsyncMma& mma) override {
        MmaRegisters& registers = plan_.mmas[step];
        std::vector<int>& slots = registers.in_order;
        slots = add(*mma.accumulators, registers.accumulators);
        registers.first_of_fragment = registers.end_of_fragment = slots.size();
        if (mma.a_fragment) {
            const std::vector<int> fragment = add(*mma.a_fragment, registers.sources);
            slots.insert(slots.end(), fragment.begin(), fragment.end());
            registers.end_of_fragment = slots.size();
        }
        if (mma.metadata) {
            plan_.async_registers.insert(mma.metadata);
            registers.metadata = add(mma.metadata->reg, registers.sources);
            slots.push_back(registers.metadata);
        }
    }
    const Step* step = nullptr;  ///< the current one

  private:
    std::vector<int> add(const std::vector<Reg>& registers, Slots& slots) {
        plan_.async_lists.insert(&registers);
        std::vector<int> out;
        for (Reg reg : registers) out.push_back(add(reg, slots));
        return out;
    }
    int add(Reg reg, Slots& slots) {
        int& slot = plan_.slots[reg.id];
        if (slot < 0) slot = plan_.slot_count++;
        slots.add(slot);
        return slot;
    }
    Plan& plan_;
};

}  // namespace

Plan::Plan(const Outline& of, Made made)
    : outline(of), graph(outline.graph()), slots(outline.program().registers().size(), -1) {
    find_regions();
    find_deciders();
    find_joins(outline.blocks());
    number(outline.blocks());
    SlotMaker maker(*this);
    for_each_step(outline.program(), [&](const Step& step) {
        maker.step = &step;
        isa::visit_effects(step, maker);
    });
    find_live(slots.size());
    if (made == Made::by_compiler) find_copies();
    copied_only_.resize(static_cast<std::size_t>(slot_count));
    uses_.reserve(outline.steps());
    for_each_step(outline.program(), [&](const Step& step) { find_uses(step, uses_.size()); });
    used_.push_back({});  // so that there is a place for none
}

/// A copy that a compiler has made is no access of its own. Into a register of a wgmma: the value has been
/// through what the copied register has. Of an accumulator: whoever reads the copy reads the accumulator.
void Plan::find_copies() {
    copies_count_ = false;
    const std::vector<BasicBlock>& blocks = outline.blocks();
    const auto for_each_copy = [&](auto visit) {
        for (BlockId id = 0; id < blocks.size(); ++id)
            for (std::size_t i = 0; i < blocks[id].steps.size(); ++i) {
                const Step& step = blocks[id].steps[i];
                if (const Reg from = isa::copied(step)) visit(id, i, step.operands.front().reg, from);
            }
    };
    const int asynchronous = slot_count;
    for (bool grew = true; std::exchange(grew, false);)
        for_each_copy([&](BlockId, std::size_t, Reg to, Reg from) {
            if (slots[to.id] < 0 || slots[from.id] >= 0) return;
            slots[from.id] = slot_count++;
            grew = true;
        });
    copied_only_.resize(static_cast<std::size_t>(asynchronous));
    copied_only_.resize(static_cast<std::size_t>(slot_count), true);
    Slots accumulators;
    for (const auto& [step, registers] : mmas)
        for (const int slot : registers.accumulator_slots()) accumulators.add(slot);
    std::vector<int> written(slots.size());
    for (std::size_t number = 0; number < outline.steps(); ++number)
        for (const Outline::Used& used : outline.used(number)) written[used.reg.id] += used.writes() ? 1 : 0;
    for_each_copy([&](BlockId block, std::size_t index, Reg to, Reg from) {
        const int slot = slots[from.id];
        if (slot < 0 || !accumulators.has(slot) || slots[to.id] >= 0 || written[to.id] != 1) return;
        if (stays_a_copy(outline, live_, block, index, to, from)) other_names_[to.id] = slot;
    });
}

void Plan::find_live(std::size_t registers) {
    const std::vector<BasicBlock>& blocks = graph.blocks();
    live_.assign(blocks.size(), RegisterSet(registers));
    std::vector<RegisterSet> written(blocks.size(), RegisterSet(registers));
    for (const BlockId id : graph.order()) {
        const auto read = [&](Reg reg) {
            if (reg && !written[id].has(reg.id)) live_[id].add(reg.id);
        };
        for (const Step& step : blocks[id].steps) {
            const std::span<const Outline::Used> registers = outline.used(outline.number(id, step));
            read(step.guard);
            for (const Outline::Used& used : registers)
                if (used.reads()) read(used.reg);
            for (const Outline::Used& used : registers)
                if (used.writes() && !step.guard) written[id].add(used.reg.id);
        }
        read(blocks[id].condition);
    }
    for (bool grew = true; grew;) {
        grew = false;
        for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
            Cancellation::poll();
            blocks[*id].for_each_successor(
                [&](BlockId to, int) { grew |= live_[*id].add(live_[to], written[*id]); });
        }
    }
}

void Plan::find_uses(const Step& step, std::size_t number) {
    StepUses& uses = uses_.emplace_back();
    uses.pinned = isa::pinned(*step.op);
    uses.plain = !uses.pinned && step.op->effects == nullptr;
    if (uses.pinned) uses.membermask = isa::membermask_of(step);
    const auto place = [&] { return static_cast<std::uint32_t>(used_.size()); };
    uses.first_source = place();
    uses.first_touch = static_cast<std::uint32_t>(touched_.size());
    const Reg copied = copies_count_ ? Reg() : isa::copied(step);
    const auto touch = [&](Reg reg, bool writes) {
        const int slot = slots[reg.id];
        if (slot >= 0 && (writes || !copied_only_[static_cast<std::size_t>(slot)])) {
            Touch& made = touched_.emplace_back(Touch{slot, writes});
            if (!copied) return;
            if (writes) made.from = slots[copied.id];
            made.waits = writes || !other_names_.contains(step.operands.front().reg.id);
        } else if (const auto name = other_names_.find(reg.id); !writes && name != other_names_.end()) {
            touched_.push_back({.slot = name->second, .writes = false, .counts = false});
        }
    };
    if (step.guard) touch(step.guard, false);
    uses.params = outline.params(number);
    // Registers that a wgmma reads and writes later are not its threads'.
    std::span<const Outline::Used> registers = outline.used(number);
    std::vector<Outline::Used> own;
    if (step.op->effects != nullptr && mmas.contains(&step)) {
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (!is_async(step.operands[i]))
                isa::for_each_register(step.operands[i], [&](Reg reg) {
                    own.push_back({reg, step.op->operands[i].access});
                });
        uses.later = true;
    }
    const std::span<const Outline::Used> threads = uses.later ? own : registers;
    for (const Outline::Used& used : threads) {
        touch(used.reg, used.writes());
        if (used.reads()) used_.push_back(used.reg);
    }
    uses.touches = static_cast<std::uint32_t>(touched_.size()) - uses.first_touch;
    uses.sources = place() - uses.first_source;
    uses.first_result = place();
    for (const Outline::Used& used : registers)
        if (used.writes()) used_.push_back(used.reg);
    uses.results = place() - uses.first_result;
}

void Plan::find_regions() {
    regions_.resize(graph.loops().size() + 1);
    for (const BlockId block : graph.order()) {
        const int inside = graph.innermost_loop(block);
        if (inside != flow::no_loop && loop(inside).header == block)
            regions_[static_cast<std::size_t>(loop(inside).parent + 1)].push_back({block, inside});
        regions_[static_cast<std::size_t>(inside + 1)].push_back({block});
    }
}

void Plan::find_deciders() {
    for (int index = 0; index < static_cast<int>(graph.loops().size()); ++index) {
        const auto decides = [&](BlockId id) {
            const BasicBlock& block = graph.blocks()[id];
            if (block.end != BasicBlock::End::branch || graph.innermost_loop(id) != index ||
                graph.inside(block.taken, index) == graph.inside(block.otherwise, index))
                return false;
            return std::ranges::all_of(graph.predecessors(loop(index).header), [&](BlockId from) {
                return !graph.inside(from, index) || graph.dominates(id, from);
            });
        };
        BlockId found = no_block;
        for (const Place& place : region(index))
            if (found == no_block && place.loop == flow::no_loop && decides(place.block)) found = place.block;
        decides_.push_back(found);
    }
}

/// An `if` of the script ends where the text says so, even if only one side gets there.
void Plan::find_joins(const std::vector<BasicBlock>& blocks) {
    std::unordered_map<std::uint32_t, BlockId> joined;
    for (BlockId id = 0; id < blocks.size(); ++id)
        if (blocks[id].label.kind == Label::Kind::joined) joined[blocks[id].label.number] = id;
    for (BlockId id = 0; id < blocks.size(); ++id) {
        joins_.push_back(graph.reachable(id) ? graph.reconvergence(id) : no_block);
        if (blocks[id].end != BasicBlock::End::branch) continue;
        const Label& otherwise = blocks[blocks[id].otherwise].label;
        if (otherwise.kind == Label::Kind::otherwise || otherwise.kind == Label::Kind::joined)
            joins_.back() = joined.at(otherwise.number);
    }
}

/// A decision contains those made on the paths from it to its join. Decisions are numbered along the
/// dominator tree, in which the join comes last.
void Plan::number(const std::vector<BasicBlock>& blocks) {
    std::vector<std::vector<BlockId>> below(blocks.size());
    for (BlockId id = 0; id < blocks.size(); ++id)
        if (graph.reachable(id) && graph.dominator(id) != no_block) below[graph.dominator(id)].push_back(id);
    for (BlockId id = 0; id < blocks.size(); ++id)
        std::stable_partition(below[id].begin(), below[id].end(),
                              [&](BlockId block) { return block != joins_[id]; });
    struct Visit {
        BlockId block;
        std::size_t next = 0;              ///< index of the next child
        std::vector<const void*> begun{};  ///< decisions that begin here
    };
    int next = 1;
    std::vector<std::vector<const void*>> over(blocks.size());
    std::vector<Visit> stack;
    const auto begin = [&](const void* place, BlockId ends, bool repeats) {
        decisions[place] = {next++, 0, 0, repeats};
        stack.back().begun.push_back(place);
        if (ends != no_block) over[ends].push_back(place);
    };
    const auto end = [&](const std::vector<const void*>& places) {
        for (const void* place : places)
            if (Decision& decision = decisions[place]; decision.end == 0) decision.end = next;
    };
    const auto enter = [&](BlockId id) {
        end(over[id]);
        stack.push_back({id});
        const BasicBlock& block = blocks[id];
        const int inside = graph.innermost_loop(id);
        if (inside != flow::no_loop && loop(inside).header == id) {
            const BlockId decider = decides(inside);
            begin(&block.label, decider != no_block ? joins_[decider] : no_block, true);
        }
        for (const Step& step : block.steps) {
            if (!step.guard) continue;
            decisions[&step] = {next, next + 1, 0, false};
            ++next;
        }
        if (block.end != BasicBlock::End::branch) return;
        if (inside == flow::no_loop || decides(inside) != id) begin(&block, joins_[id], false);
    };
    enter(0);
    while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.next < below[top.block].size()) {
            enter(below[top.block][top.next++]);
        } else {
            end(top.begun);
            stack.pop_back();
        }
    }
}

}  // namespace wgrun::check
