// WG-RACE-05 as far as a program alone tells: what it accesses before griddepcontrol.wait although it waits
// for the same tensor. What the launches before touch shows when they run.
#include "check/grids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "check/pointees.hpp"
#include "diag/fix.hpp"
#include "flow/graph.hpp"
#include "isa/effects.hpp"
#include "rules/phrases.hpp"
#include "rules/rule_message.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::check {
namespace {

class Listener final : public isa::Effects {
  public:
    explicit Listener(const std::vector<int>& origins) : origins_(origins) {}
    void hear(const Step& step) {
        waits = meets = lets_begin = touches = false;
        accesses.clear();
        isa::visit_effects(step, *this);
    }
    struct Access {
        int param;
        bool write;
    };
    bool waits = false;       ///< for grids
    bool meets = false;       ///< other threads may tell of theirs
    bool lets_begin = false;  ///< launches that were started after this one
    bool touches = false;     ///< global memory, of whatever tensor
    std::vector<Access> accesses;

  private:
    void memory(const isa::MemoryAccess& access) override {
        if (access.space != isa::Space::global) return;
        touches = true;
        const int param = access.address->reg ? origins_[access.address->reg.id] : from_none;
        if (param >= 0) accesses.push_back({param, access.write});
    }
    void bulk_copy(const isa::BulkAccess& copy) override { touches = touches || copy.global != nullptr; }
    void copy_async(const isa::AsyncCopy&) override { touches = true; }
    void launch_dependents() override { lets_begin = true; }
    void wait_for_grids() override { waits = true; }
    void barrier(const isa::Operand&, const isa::Operand&) override { meets = true; }
    void mbarrier(const isa::MbarrierAccess& access) override {
        meets |= access.kind == isa::MbarrierAccess::Kind::wait;
    }
    void await_arrivals() override { meets = true; }
    void cluster_wait() override { meets = true; }
    void converge() override { meets = true; }
    void unknown() override { meets = true; }

    const std::vector<int>& origins_;
};

/// Calls visit(block, step, whether the step comes after one of which starts(block, step)), on some way.
template <class Starts, class Visit>
void for_each_step_after(const flow::Graph& graph, Starts starts, Visit visit) {
    std::vector<bool> after(graph.blocks().size());
    const auto pass = [&](BlockId id, auto see) {
        bool past = after[id];
        for (const Step& step : graph.blocks()[id].steps) {
            see(step, past);
            past = past || starts(id, step);
        }
        return past;
    };
    for (bool grew = true; grew;) {
        grew = false;
        for (const BlockId id : graph.order()) {
            if (!pass(id, [](const Step&, bool) {})) continue;
            graph.blocks()[id].for_each_successor([&](BlockId next, int) {
                grew |= !after[next];
                after[next] = true;
            });
        }
    }
    for (const BlockId id : graph.order())
        pass(id, [&](const Step& step, bool past) { visit(id, step, past); });
}

}  // namespace

namespace {

/// A program that lets the next launch begin is one of a chain: the launch before it may let it begin.
std::vector<Diagnostic> without_wait(const Program& program) {
    const std::vector<int> from(program.registers().size(), from_none);
    Listener listener(from);
    const Step *first = nullptr, *lets_begin = nullptr;
    for_each_step(program, [&](const Step& step) {
        listener.hear(step);
        if (listener.touches && first == nullptr) first = &step;
        if (listener.lets_begin && lets_begin == nullptr) lets_begin = &step;
    });
    if (first == nullptr || lets_begin == nullptr) return {};
    Diagnostic finding = rules::finding(
        {rules::WG_RACE_05,
         "the kernel lets the next launch begin, and does not wait for the one before: if it is launched so "
         "itself, that one may still write what is accessed here",
         std::vector<Remedy>{{insert_before(first->where, {rules::griddepcontrol_wait()})}}},
        first->where, {{lets_begin->where, "lets the next launch begin here"}});
    finding.severity = Severity::warning;
    return {std::move(finding)};
}

}  // namespace

std::vector<Diagnostic> before_grids(const Program& program, Made made) {
    bool any = false;
    for_each_step(program, [&](const Step& step) { any |= step.op->awaits == isa::Awaits::grids; });
    if (!any) return made == Made::by_compiler ? without_wait(program) : std::vector<Diagnostic>();
    const std::vector<int> from = pointees(program, made);
    Listener listener(from);
    const flow::Graph graph(program);
    std::vector<std::pair<BlockId, const Step*>> waits;
    for (const BlockId id : graph.order())
        for (const Step& step : program.blocks()[id].steps)
            if (step.op->awaits == isa::Awaits::grids) waits.emplace_back(id, &step);
    // Where threads meet they may learn of the wait of another one: except where all come to on their way to
    // it.
    std::vector<const Step*> tells;
    for_each_step_after(
        graph, [](BlockId, const Step& step) { return step.op->awaits == isa::Awaits::grids; },
        [&](BlockId id, const Step& step, bool past) {
            listener.hear(step);
            const bool before_all = !past && std::ranges::all_of(waits, [&](const auto& wait) {
                return wait.first == id ? &step < wait.second : graph.dominates(id, wait.first);
            });
            if (listener.waits || (listener.meets && !before_all)) tells.push_back(&step);
        });
    struct Use {
        const Step* step;
        BlockId block;
        Listener::Access access;
    };
    std::vector<Use> before, after;
    for_each_step_after(
        graph, [&](BlockId, const Step& step) { return std::ranges::find(tells, &step) != tells.end(); },
        [&](BlockId id, const Step& step, bool past) {
            listener.hear(step);
            for (const Listener::Access& access : listener.accesses)
                (past ? after : before).push_back({&step, id, access});
        });
    std::vector<Diagnostic> out;
    const auto meets = [&](const Use& early, bool reads_too) {
        return std::ranges::find_if(after, [&](const Use& use) {
            return use.access.param == early.access.param &&
                   (reads_too || use.access.write || early.access.write);
        });
    };
    // Where threads have not waited and write too early, what they read may be of the launch before as well.
    std::set<BlockId> early_blocks;
    for (const Use& early : before)
        if (meets(early, false) != after.end()) early_blocks.insert(early.block);
    for (const Use& early : before) {
        const auto later = meets(early, early_blocks.contains(early.block));
        if (later == after.end()) continue;
        const Where here = early.step->where;
        Diagnostic finding = rules::finding(
            {rules::WG_RACE_05,
             fmt::format(
                 "`{}` is {} before griddepcontrol.wait, and {} after it: the launch before may still "
                 "run here",
                 program.params()[static_cast<std::size_t>(early.access.param)].name,
                 early.access.write ? "written" : "read", later->access.write ? "written" : "read"),
             std::vector<Remedy>{{insert_before(here, {rules::griddepcontrol_wait()})}}},
            here, {{later->step->where, later->access.write ? "written here" : "read here"}});
        finding.severity = Severity::warning;
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace wgrun::check
