// The events of a program: what its instructions do besides computing, as their records say.
#include <algorithm>
#include <map>
#include <set>

#include "isa/effects.hpp"
#include "isa/opaque.hpp"
#include "sass/events.hpp"
#include "sass/needed.hpp"
#include "sass/program_values.hpp"
#include "sass/step_events.hpp"

namespace wgrun::sass {
namespace {

/// Makes the graph, block by block.
class ProgramEvents {
  public:
    ProgramEvents(const Program& program, const Peculiarities& of)
        : program_(program),
          of_(of),
          known_(constants(program, false)),
          values_(program),
          needed_(needed_of(program, known_, values_, of.lost)) {}

    Asked make() {
        EventGraph& graph = out_.graph;
        graph.events.resize(2);
        graph.events[EventGraph::exit].does = Does::exit;
        const std::uint32_t entry = fine_.add(EventGraph::entry), exit = fine_.add(EventGraph::exit);
        const auto& blocks = program_.blocks();
        for (std::size_t i = 0; i < blocks.size(); ++i) begins_.push_back(fine_.add());
        fine_.next[entry] = {begins_.at(0)};
        for (std::uint32_t i = 0; i < blocks.size(); ++i) {
            std::uint32_t at = begins_[i];
            block_ = i;
            for (const Step& step : blocks[i].steps) at = add(step, at), note_writes(step);
            mark(blocks[i].where.line);
            if (blocks[i].end == BasicBlock::End::exit) fine_.next[at].push_back(exit);
            blocks[i].for_each_successor([&](BlockId to, int) { fine_.next[at].push_back(begins_[to]); });
        }
        fine_.condense(graph);
        out_.endless = fine_.without_way_to(EventGraph::exit) != Fine::none;
        fine_.find_neighbours(graph, access_nodes_, out_.accesses);
        find_group_ends();
        find_in_flight();
        return std::move(out_);
    }

  private:
    void mark(int line) {
        if (line <= 0) return;
        if (out_.line_block.size() <= static_cast<std::size_t>(line))
            out_.line_block.resize(static_cast<std::size_t>(line) + 1, -1);
        out_.line_block[static_cast<std::size_t>(line)] = static_cast<int>(block_);
    }

    std::uint32_t add(const Step& step, std::uint32_t at) {
        mark(step.where.line);
        ++number_;
        // What is never executed is no duty; without optimisation it is there.
        const bool never = never_executes(step, known_);
        StepEvents listener = events_of(step, known_, values_);
        if (never) {
            listener.accesses.clear();
            for (Event& event : listener.events) event.never = true;
        }
        note_line(step, listener);
        if (isa::is_opaque(*step.op) && &*step.op == &isa::opaque(isa::Reach::anything) && out_.opaque++ == 0)
            out_.first_opaque = step.where.line;
        if (!listener.accesses.empty()) {
            const std::uint32_t node = fine_.add();
            fine_.next[at].push_back(node);
            at = node;
        }
        for (Access access : listener.accesses) {
            access.block = block_;
            access.guard = guard_of(step);
            access.guard_may_fail = guard_may_fail(step);
            access.guard_decides_branches = step.guard && values_.decides_branches(step.guard);
            if (access.does == Does::load) access.used = all_needed(step);
            access.scalar = step.operands.at(0).kind == Operand::Kind::reg;
            out_.accesses.push_back(access);
            access_nodes_.push_back({at});
        }
        for (Event event : listener.waits) out_.waits.push_back(placed(event, step));
        for (Event event : listener.orders) out_.orders.push_back(placed(event, step));
        for (const Event& event : listener.waits) {
            const std::uint32_t wait = fine_.add();
            leaves_.emplace_back(wait, event.arguments[0]);
            at = link(at, wait, static_cast<bool>(step.guard));
        }
        if (commits(step)) {
            out_.commits.push_back(step.where.line);
            const std::uint32_t commit = fine_.add();
            commits_.push_back(commit);
            at = link(at, commit, static_cast<bool>(step.guard));
        }
        for (const Event& event : listener.events) {
            if (event.does == Does::set_registers && of_.ignores_setmaxnreg) continue;
            const auto id = static_cast<EventId>(out_.graph.events.size());
            out_.graph.events.push_back(placed(event, step));
            const bool unread = event.does == Does::product && needed_.unread.contains(&step);
            out_.graph.events.back().unread = unread;
            const bool optional = unread || (event.does == Does::cluster_arrive && of_.without_cluster) ||
                                  (event.does == Does::mbarrier_expect &&
                                   std::ranges::find(of_.merged, event.line) != of_.merged.end());
            at = link(at, fine_.add(id), static_cast<bool>(step.guard) || optional);
        }
        return at;
    }

    /// Machine code names lines: steps of one line cannot be told apart.
    void note_line(const Step& step, const StepEvents& listener) {
        if (listener.events.empty() && listener.waits.empty() && listener.orders.empty() &&
            listener.accesses.empty() && !commits(step))
            return;
        if (!lines_.insert(step.where.line).second && out_.shared_line == 0)
            out_.shared_line = step.where.line;
    }

    /// One value of a predicate has one number; 0: no guard.
    std::uint64_t guard_of(const Step& step) const {
        if (!step.guard) return 0;
        const auto written = writes_.find(step.guard.id);
        const std::uint64_t times = written == writes_.end() ? 0 : written->second;
        return times << 33 | std::uint64_t{step.guard.id} << 1 | (step.guard_negated ? 1 : 0);
    }

    bool guard_may_fail(const Step& step) const {
        return step.guard && values_.may_never_hold(step.guard, step.guard_negated);
    }

    void note_writes(const Step& step) {
        for (std::size_t i = 0; i < step.operands.size() && i < step.op->operands.size(); ++i)
            if (step.op->operands[i].access != isa::Access::in && step.operands[i].kind == Operand::Kind::reg)
                ++writes_[step.operands[i].reg.id];
    }

    Event placed(Event event, const Step& step) const {
        event.number = number_;
        event.block = block_;
        event.guarded = static_cast<bool>(step.guard);
        event.guard = guard_of(step);
        event.guard_may_fail = guard_may_fail(step);
        event.guard_decides_branches = step.guard && values_.decides_branches(step.guard);
        return event;
    }

    /// Behind `at`, the node, which threads may pass by if it is optional; returns where they go on.
    std::uint32_t link(std::uint32_t at, std::uint32_t node, bool optional) {
        const std::uint32_t behind = fine_.add();
        fine_.next[at].push_back(node);
        fine_.next[node].push_back(behind);
        if (optional) fine_.next[at].push_back(behind);
        return behind;
    }

    bool all_needed(const Step& step) const {
        for (std::size_t i = 0; i < step.operands.size() && i < step.op->operands.size(); ++i) {
            if (step.op->operands[i].access != isa::Access::out) continue;
            if (step.operands[i].kind == Operand::Kind::reg &&
                !needed_.registers.contains(step.operands[i].reg.id))
                return false;
            for (const Reg reg : step.operands[i].list)
                if (!needed_.registers.contains(reg.id)) return false;
        }
        return true;
    }

    static bool commits(const Step& step) {
        struct Commits final : isa::Effects {
            bool any = false;
            void commit_mma() override { any = true; }
        } found;
        if (!isa::is_opaque(*step.op)) isa::visit_effects(step, found);
        return found.any;
    }

    /// A product ends its group where a commit comes before the next product.
    void find_group_ends() {
        std::vector<bool> commit(fine_.event.size());
        for (const std::uint32_t node : commits_) commit[node] = true;
        out_.ends_group.resize(out_.graph.events.size());
        const auto is_product = [&](std::uint32_t at) {
            return fine_.event[at] != Fine::none && out_.graph.events[fine_.event[at]].does == Does::product;
        };
        std::vector<std::uint32_t> seen(fine_.event.size(), Fine::none);
        for (std::uint32_t product = 0; product < fine_.event.size(); ++product) {
            if (!is_product(product)) continue;
            std::vector<std::uint32_t> left = fine_.next[product];
            while (!left.empty()) {
                const std::uint32_t at = left.back();
                left.pop_back();
                if (seen[at] == product || is_product(at)) continue;
                seen[at] = product;
                if (commit[at])
                    out_.ends_group[fine_.event[product]] = true;
                else
                    left.insert(left.end(), fine_.next[at].begin(), fine_.next[at].end());
            }
        }
    }

    /// Follows each product along all paths to the wait that covers its group.
    void find_in_flight() {
        constexpr std::int64_t uncommitted = 0, most = 7;
        std::vector<std::int64_t> leaves(fine_.event.size(), -1);
        std::vector<bool> commit(fine_.event.size());
        for (const auto& [node, groups] : leaves_) leaves[node] = groups;
        for (const std::uint32_t node : commits_) commit[node] = true;
        out_.in_flight.resize(out_.graph.events.size());
        std::vector<std::uint16_t> seen(fine_.event.size());
        for (std::uint32_t product = 0; product < fine_.event.size(); ++product) {
            const EventId id = fine_.event[product];
            if (id == Fine::none || out_.graph.events[id].does != Does::product) continue;
            std::vector<std::pair<std::uint32_t, std::int64_t>> left;
            std::vector<std::uint32_t> marked;
            const auto reach = [&](std::uint32_t at, std::int64_t committed) {
                const auto bit = static_cast<std::uint16_t>(1U << committed);
                if ((seen[at] & bit) != 0) return;
                if (seen[at] == 0) marked.push_back(at);
                seen[at] |= bit;
                left.emplace_back(at, committed);
            };
            for (const std::uint32_t to : fine_.next[product]) reach(to, uncommitted);
            while (!left.empty()) {
                auto [at, committed] = left.back();
                left.pop_back();
                // What is committed is followed by the groups that were committed later: one is its own.
                if (leaves[at] >= 0 && committed > leaves[at]) continue;
                if (commit[at]) committed = std::min(committed + 1, most);
                if (const EventId event = fine_.event[at]; event != Fine::none) {
                    auto& list = out_.in_flight[event];
                    if (list.empty() || list.back().first != id) list.emplace_back(id, 0);
                    list.back().second = std::max(list.back().second, static_cast<int>(committed));
                }
                for (const std::uint32_t to : fine_.next[at]) reach(to, committed);
            }
            for (const std::uint32_t at : marked) seen[at] = 0;
        }
    }

    const Program& program_;
    const Peculiarities& of_;
    std::map<std::uint32_t, std::int64_t> known_;
    ProgramValues values_;
    Needed needed_;
    std::map<std::uint32_t, std::uint64_t> writes_;  ///< of registers, so far in the text
    std::set<int> lines_;                            ///< of steps that are compared
    Asked out_;
    Fine fine_;
    std::vector<std::vector<std::uint32_t>> access_nodes_;
    std::vector<std::uint32_t> begins_;
    std::vector<std::pair<std::uint32_t, std::int64_t>> leaves_;
    std::vector<std::uint32_t> commits_;
    std::uint32_t block_ = 0, number_ = 0;
};

}  // namespace

Asked asked_of(const Program& program, const Peculiarities& of) { return ProgramEvents(program, of).make(); }

}  // namespace wgrun::sass
