// WG-RACE-05 as far as a program alone tells: what it accesses before griddepcontrol.wait although it waits
// for the same tensor. What the launches before touch shows when they run.
#include "check/grids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "diag/fix.hpp"
#include "flow/graph.hpp"
#include "isa/effects.hpp"
#include "rules/phrases.hpp"
#include "rules/saying.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::check {
namespace {

constexpr int none = -1, several = -2;

/// By register: the parameter that its value comes from, by arithmetic alone; none; several, or from memory.
std::vector<int> origins(const Program& program) {
    std::vector<int> out(program.registers().size(), none);
    for (bool grew = true; grew;) {
        grew = false;
        for_each_step(program, [&](const Step& step) {
            int from = none;
            const auto join = [&](int other) { from = from == none || from == other ? other : several; };
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                const isa::Operand& operand = step.operands[i];
                if (step.op->operands[i].access == isa::Access::out) continue;
                if (operand.kind == isa::Operand::Kind::param &&
                    program.params()[static_cast<std::size_t>(operand.index)].pointee)
                    join(operand.index);
                if (operand.reg && out[operand.reg.id] != none) join(out[operand.reg.id]);
            }
            if (from == none) return;
            if (step.op->effects != nullptr) from = several;
            for (std::size_t i = 0; i < step.operands.size(); ++i) {
                if (step.op->operands[i].access == isa::Access::in) continue;
                const auto give = [&](Reg reg) {
                    int& to = out[reg.id];
                    const int joined = to == none || to == from ? from : several;
                    grew |= joined != to;
                    to = joined;
                };
                if (step.operands[i].reg) give(step.operands[i].reg);
                for (const Reg reg : step.operands[i].list) give(reg);
            }
        });
    }
    return out;
}

class Listener final : public isa::Effects {
  public:
    explicit Listener(const std::vector<int>& origins) : origins_(origins) {}
    void hear(const Step& step) {
        waits = meets = false;
        accesses.clear();
        isa::tell(step, *this);
    }
    struct Access {
        int param;
        bool write;
    };
    bool waits = false;  ///< for grids
    bool meets = false;  ///< other threads may tell of theirs
    std::vector<Access> accesses;

  private:
    void memory(const isa::MemoryAccess& access) override {
        if (access.space != isa::Space::global) return;
        const int param = access.address->reg ? origins_[access.address->reg.id] : none;
        if (param >= 0) accesses.push_back({param, access.write});
    }
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

std::vector<Diagnostic> before_grids(const Program& program) {
    bool any = false;
    for_each_step(program, [&](const Step& step) { any |= step.op->awaits == isa::Awaits::grids; });
    if (!any) return {};
    const std::vector<int> from = origins(program);
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
        Listener::Access access;
    };
    std::vector<Use> before, after;
    for_each_step_after(
        graph, [&](BlockId, const Step& step) { return std::ranges::find(tells, &step) != tells.end(); },
        [&](BlockId, const Step& step, bool past) {
            listener.hear(step);
            for (const Listener::Access& access : listener.accesses)
                (past ? after : before).push_back({&step, access});
        });
    std::vector<Diagnostic> out;
    for (const Use& early : before) {
        const auto later = std::ranges::find_if(after, [&](const Use& use) {
            return use.access.param == early.access.param && (use.access.write || early.access.write);
        });
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
