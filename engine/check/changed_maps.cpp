#include "check/changed_maps.hpp"

#include <utility>

#include "check/findings.hpp"
#include "check/only_from.hpp"
#include "flow/graph.hpp"
#include "isa/effects.hpp"
#include "isa/registers.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::check {

namespace {

using isa::Operand;

/// Takes a step the address of a parameter, or keeps one? elsewhere: the registers that hold others.
bool gives_parameter_address(const Step& step, const std::vector<bool>& elsewhere) {
    if (step.op->effects != nullptr) return false;
    bool any = false;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const isa::OperandRule& rule = step.op->operands[i];
        const Operand& operand = step.operands[i];
        if (rule.access == isa::Access::out) continue;
        if (operand.kind == Operand::Kind::param) {
            const bool address = rule.type == nullptr || rule.type(step.form) == isa::Type::tensormap;
            if (!address) return false;
            any = true;
        } else if (operand.kind == Operand::Kind::reg) {
            if (elsewhere[operand.reg.id]) return false;
            any = true;
        } else if (operand.kind == Operand::Kind::address) {
            return false;
        }
    }
    return any;
}

/// What is known where paths meet.
struct Changed {
    const Step* by = nullptr;  ///< the change that nothing acquires on one of the paths
    bool acquired = false;     ///< on another one something does: which is taken, a run decides
    bool released = false;     ///< on one of the paths
    bool operator==(const Changed&) const = default;
};

/// Follows changes through a block.
class MapTracker final : public isa::Effects {
  public:
    MapTracker(const OnlyFrom& parameters, Changed changed) : parameters_(parameters), changed_(changed) {}
    void pass(const Step& step) {
        step_ = &step;
        isa::visit_effects(step, *this);
    }
    const Changed& changed() const { return changed_; }
    /// Returns the change before the copy of the last step; null: there is none.
    const Step* used() { return std::exchange(used_, nullptr); }
    /// Returns the change that the last step acquires although nothing has released it.
    const Step* unreleased() { return std::exchange(unreleased_, nullptr); }

  private:
    void change_map() override { changed_ = {step_, false, false}; }
    void release_map() override { changed_.released = changed_.by != nullptr; }
    void acquire_map() override {
        if (!changed_.released) unreleased_ = changed_.by;
        changed_ = {nullptr, changed_.acquired || changed_.by != nullptr, false};
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        const bool through_map = copy.global != nullptr && copy.global->kind == Operand::Kind::reg;
        if (through_map && !parameters_.has(copy.global->reg) && !changed_.acquired) used_ = changed_.by;
    }

    const OnlyFrom& parameters_;
    const Step* step_ = nullptr;
    Changed changed_;
    const Step *used_ = nullptr, *unreleased_ = nullptr;
};

}  // namespace

std::vector<Diagnostic> through_changed_maps(const Program& program) {
    struct Listener final : isa::Effects {
        bool changes = false;
        void change_map() override { changes = true; }
    } listener;
    for_each_step(program, [&](const Step& step) { isa::visit_effects(step, listener); });
    if (!listener.changes) return {};
    const flow::Graph graph(program);
    const OnlyFrom parameters(program, gives_parameter_address);
    const std::vector<BasicBlock>& blocks = program.blocks();
    std::vector<Changed> entry(blocks.size());
    // What reaches a block only grows.
    for (bool grew = true; grew;) {
        grew = false;
        for (const BlockId id : graph.order()) {
            MapTracker tracker(parameters, entry[id]);
            for (const Step& step : blocks[id].steps) tracker.pass(step);
            blocks[id].for_each_successor([&](BlockId next, int) {
                Changed& to = entry[next];
                const Changed before = to;
                if (to.by == nullptr) to.by = tracker.changed().by;
                to.acquired |= tracker.changed().acquired;
                to.released |= tracker.changed().released;
                grew |= to != before;
            });
        }
    }
    Findings out;
    for (const BlockId id : graph.order()) {
        MapTracker tracker(parameters, entry[id]);
        for (const Step& step : blocks[id].steps) {
            tracker.pass(step);
            if (const Step* changed = tracker.used())
                out.add(rules::map_not_acquired(), step.where, {{changed->where, "changed here"}});
            if (const Step* changed = tracker.unreleased())
                out.add(rules::map_not_released(), step.where, {{changed->where, "changed here"}});
        }
    }
    return std::move(out).sorted(program.where().file);
}

}  // namespace wgrun::check
