#include "sass/events.hpp"

#include <algorithm>
#include <set>

namespace wgrun::sass {

std::string_view name_of(Does does) {
    switch (does) {
        case Does::product: return "wgmma";
        case Does::order_registers: return "wgmma.fence";
        case Does::wait_products: return "wgmma.wait_group";
        case Does::barrier: return "barrier";
        case Does::barrier_arrive: return "arrival at a barrier";
        case Does::cluster_arrive: return "barrier.cluster.arrive";
        case Does::cluster_wait: return "barrier.cluster.wait";
        case Does::mbarrier_init: return "mbarrier.init";
        case Does::mbarrier_inval: return "mbarrier.inval";
        case Does::mbarrier_arrive: return "mbarrier.arrive";
        case Does::mbarrier_expect: return "mbarrier.expect_tx";
        case Does::mbarrier_test: return "mbarrier.try_wait";
        case Does::mbarrier_copies: return "cp.async.mbarrier.arrive";
        case Does::bulk_load: return "bulk copy to shared memory";
        case Does::bulk_store: return "bulk copy from shared memory";
        case Does::bulk_commit: return "cp.async.bulk.commit_group";
        case Does::copy: return "cp.async";
        case Does::copy_commit: return "cp.async.commit_group";
        case Does::wait_scoreboard: return "wait for a group of copies";
        case Does::proxy_fence: return "fence.proxy.async";
        case Does::fence: return "fence";
        case Does::load: return "load";
        case Does::store: return "store";
        case Does::atomic: return "atomic";
        case Does::set_registers: return "setmaxnreg";
        case Does::wait_for_grids: return "griddepcontrol.wait";
        case Does::launch_dependents: return "griddepcontrol.launch_dependents";
        case Does::exit: return "end of the kernel";
        case Does::other:
        case Does::branch:
        case Does::indirect:
        case Does::call:
        case Does::ret: break;
    }
    return "beginning of the kernel";
}

void Fine::condense(EventGraph& graph) const {
    graph.next.assign(graph.events.size(), {});
    std::vector<std::uint32_t> seen(event.size(), none), left;
    for (std::uint32_t from = 0; from < event.size(); ++from) {
        if (event[from] == none) continue;
        std::vector<EventId>& out = graph.next[event[from]];
        left.assign(next[from].begin(), next[from].end());
        while (!left.empty()) {
            const std::uint32_t at = left.back();
            left.pop_back();
            if (seen[at] == from) continue;
            seen[at] = from;
            if (event[at] != none)
                out.push_back(event[at]);
            else
                left.insert(left.end(), next[at].begin(), next[at].end());
        }
    }
    // An event may be several nodes, for paths that know different things.
    for (std::vector<EventId>& out : graph.next) {
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
    }
}

bool Asked::has(Does does, int line) const {
    return std::ranges::any_of(graph.events,
                               [&](const Event& event) { return event.does == does && event.line == line; });
}

Peculiarities peculiarities(const Function& function, const Asked& asked) {
    Peculiarities out;
    std::set<int> expects;
    for (const Event& event : asked.graph.events) {
        if (event.does == Does::set_registers && !out.ignores_setmaxnreg)
            out.ignores_setmaxnreg = true, out.setmaxnreg_line = event.line;
        if (event.does == Does::mbarrier_expect) expects.insert(event.line);
    }
    for (const Instruction& one : function.instructions) {
        out.without_cluster = out.without_cluster || asked.waits_by_barrier(one);
        if (one.record->does == Does::set_registers) out.ignores_setmaxnreg = false;
        if (one.record->does == Does::mbarrier_expect) expects.erase(one.line);
    }
    out.merged.assign(expects.begin(), expects.end());
    for (const Access& access : asked.accesses)
        if (access.does == Does::store && access.guard != 0) out.lost.insert(access.line);
    for (const Instruction& one : function.instructions)
        if (one.record->does == Does::store) out.lost.erase(one.line);
    return out;
}

bool orders(const Event& event, const Access& access) {
    const bool concerned =
        event.orders == Memory::generic || access.memory == Memory::generic || event.orders == access.memory;
    switch (event.does) {
        case Does::product:
        case Does::set_registers:
        case Does::copy:
        // A commit names copies before it, which are no accesses (PTX ISA 9.7.9.25.3.2).
        case Does::copy_commit:
        case Does::bulk_commit:
        case Does::launch_dependents: return false;
        case Does::proxy_fence: return concerned;
        // Behind it what cp.async has read may be written.
        case Does::wait_scoreboard: return concerned || access.does != Does::load;
        default: return true;
    }
}

std::uint32_t Fine::without_way_to(EventId id) const {
    std::vector<std::vector<std::uint32_t>> before(next.size());
    for (std::uint32_t at = 0; at < next.size(); ++at)
        for (const std::uint32_t to : next[at]) before[to].push_back(at);
    std::vector<bool> reaches(next.size());
    std::vector<std::uint32_t> left;
    for (std::uint32_t at = 0; at < next.size(); ++at)
        if (event[at] == id) reaches[at] = true, left.push_back(at);
    while (!left.empty()) {
        const std::uint32_t at = left.back();
        left.pop_back();
        for (const std::uint32_t from : before[at])
            if (!reaches[from]) reaches[from] = true, left.push_back(from);
    }
    const auto found = std::ranges::find(reaches, false);
    return found == reaches.end() ? none : static_cast<std::uint32_t>(found - reaches.begin());
}

void Fine::find_neighbours(const EventGraph& graph, const std::vector<std::vector<std::uint32_t>>& nodes,
                           std::vector<Access>& accesses) const {
    std::vector<std::vector<std::uint32_t>> before(next.size());
    for (std::uint32_t at = 0; at < next.size(); ++at)
        for (const std::uint32_t to : next[at]) before[to].push_back(at);
    std::vector<std::uint32_t> seen(event.size(), none), left;
    std::uint32_t mark = 0;
    const auto collect = [&](const std::vector<std::uint32_t>& from, const Access& access, const auto& edges,
                             std::vector<EventId>& out) {
        ++mark;
        left.clear();
        for (const std::uint32_t node : from) left.insert(left.end(), edges[node].begin(), edges[node].end());
        while (!left.empty()) {
            const std::uint32_t at = left.back();
            left.pop_back();
            if (seen[at] == mark) continue;
            seen[at] = mark;
            if (event[at] != none && orders(graph.events[event[at]], access))
                out.push_back(event[at]);
            else
                left.insert(left.end(), edges[at].begin(), edges[at].end());
        }
        std::ranges::sort(out);
        out.erase(std::unique(out.begin(), out.end()), out.end());
    };
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        collect(nodes[i], accesses[i], before, accesses[i].before);
        collect(nodes[i], accesses[i], next, accesses[i].after);
    }
}

}  // namespace wgrun::sass
