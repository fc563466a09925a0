#include "check/abstract/stuck.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isa/awaited.hpp"
#include "machine/account.hpp"
#include "program/wait_words.hpp"
#include "rules/wait_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::abstract {

using isa::lanes;

namespace {

/// Rounds in which warps that wait for mbarriers may do nothing but test them again.
constexpr int patience = 200;

bool asleep_for(const Warp& warp, Warp::Wait wait) {
    return warp.state == Warp::State::asleep && warp.wait == wait;
}
bool waits(const Warp& warp) {
    return warp.state == Warp::State::asleep || warp.state == Warp::State::at_barrier;
}

}  // namespace

bool Stuck::look_again() {
    if (++execution_.fruitless > patience) return false;
    bool any = false;
    for (Warp& warp : execution_.warps) {
        if (!asleep_for(warp, Warp::Wait::mbarrier)) continue;
        warp.state = Warp::State::ready;
        warp.give_up = any = true;
    }
    return any;
}

/// Returns whether lanes of a waiting warp may run on the other arm of a branch, or all of them where a wait
/// has been given up.
bool Stuck::others_may_run() const {
    return std::ranges::any_of(execution_.warps, [this](const Warp& warp) {
        if (asleep_for(warp, Warp::Wait::mbarrier) &&
            execution_.skeleton.ops[warp.pc].attempt == Attempt::other)
            return true;
        return waits(warp) &&
               std::ranges::any_of(warp.parted.groups(), [&](const flow::Divergence::Group& group) {
                   return group.from != flow::Divergence::nowhere &&
                          execution_.skeleton.ops[group.from].both_arms;
               });
    });
}

/// Returns the fewest registers that a warp may yet have, by any setmaxnreg that its lanes can come to.
int Stuck::fewest_registers(const Warp& warp) const {
    const std::vector<Op>& ops = execution_.skeleton.ops;
    std::vector<std::uint32_t> open{warp.pc};
    for (const flow::Divergence::Group& group : warp.parted.groups()) open.push_back(group.next);
    std::vector<bool> seen(ops.size());
    int fewest = grants_.of(warp.cta).held(execution_.local(warp));
    while (!open.empty()) {
        const std::uint32_t pc = open.back();
        open.pop_back();
        if (pc >= ops.size() || seen[pc]) continue;
        seen[pc] = true;
        const Op& op = ops[pc];
        if (op.kind == Op::Kind::step) {
            fewest = std::min(fewest, isa::awaited(*op.step).registers.value_or(fewest));
            open.push_back(pc + 1);
        } else if (op.kind != Op::Kind::end) {
            open.push_back(op.ways.taken);
            if (op.kind == Op::Kind::branch) open.push_back(op.ways.otherwise);
        }
    }
    return fewest;
}

/// Returns whether registers would be lacking even if each other warp went on as far as registers let it, and
/// kept the fewest that it may.
bool Stuck::never_enough_registers(const Warp& warp) const {
    const machine::RegisterPool& grants = grants_.of(warp.cta);
    const auto lacking = [&](const Warp& of) {
        return (grants.wanted(execution_.local(of)) - grants.held(execution_.local(of))) * lanes;
    };
    int free = grants.free();
    std::vector<const Warp*> blocked;
    const auto give_back = [&](const Warp& of) {
        free += (grants.held(execution_.local(of)) - fewest_registers(of)) * lanes;
    };
    for (const Warp& other : execution_.warps) {
        if (other.cta != warp.cta || &other == &warp) continue;
        if (asleep_for(other, Warp::Wait::registers))
            blocked.push_back(&other);
        else
            give_back(other);
    }
    for (bool any = true; any;) {
        any = std::erase_if(blocked, [&](const Warp* other) {
                  if (lacking(*other) > free) return false;
                  give_back(*other);
                  return true;
              }) > 0;
    }
    return lacking(warp) > free;
}

rules::Wait Stuck::waits_for(const Warp& warp) const {
    if (warp.state == Warp::State::at_barrier) {
        const machine::NamedBarriers& barriers = barriers_.of(warp.cta);
        return rules::at_barrier(warp.barrier, barriers.arrived(warp.barrier),
                                 barriers.expected(warp.barrier));
    }
    if (warp.wait == Warp::Wait::registers) {
        const machine::RegisterPool& grants = grants_.of(warp.cta);
        const int local = execution_.local(warp);
        return rules::for_registers(grants.wanted(local), grants.held(local), grants.free());
    }
    if (warp.wait == Warp::Wait::products) return {"for the wgmma of its warpgroup"};
    if (warp.wait == Warp::Wait::cluster)
        return rules::at_cluster_barrier(barriers_.cluster().arrived(), execution_.warps.size());
    const Mbarrier* its = mbarriers_.waited_for(warp);
    if (its == nullptr) return {"for several mbarriers"};
    return rules::for_phase(its->phase(), mbarriers_.parity(warp), mbarriers_.place(*its),
                            its->expected() - its->pending(), its->expected(), its->tx());
}

/// A waiting warp, ordered by the likelihood of being the cause: an mbarrier whose phase has begun and cannot
/// complete is likelier than one at which no thread has arrived.
struct Stuck::Suspect {
    int kind;
    int progress;
    std::uint32_t pc;
    int warp;
    auto operator<=>(const Suspect&) const = default;  // NOLINT(modernize-use-nullptr): of clang 14 alone
};

Stuck::Suspect Stuck::suspect(const Warp& warp) const {
    if (warp.state == Warp::State::at_barrier) return {3, 0, warp.pc - 1, warp.number};
    int progress = 2;
    if (const Mbarrier* m = warp.wait == Warp::Wait::mbarrier ? mbarriers_.waited_for(warp) : nullptr) {
        if (m->pending() == 0 || m->tx() < 0)
            progress = 0;
        else if (m->pending() < m->expected())
            progress = 1;
    }
    return {static_cast<int>(warp.wait), progress, warp.pc, warp.number};
}

void Stuck::report() {
    report_.stuck();
    std::vector<Suspect> waiting;
    const bool others_run = execution_.anybody_left || others_may_run();
    for (const Warp& warp : execution_.warps) {
        if (!waits(warp)) continue;
        const bool registers = asleep_for(warp, Warp::Wait::registers);
        if (others_run && !(registers && never_enough_registers(warp))) continue;
        waiting.push_back(suspect(warp));
    }
    if (waiting.empty()) return;
    std::ranges::sort(waiting);
    const Warp& warp = execution_.warps[static_cast<std::size_t>(waiting.front().warp)];
    if (asleep_for(warp, Warp::Wait::mbarrier)) return at_mbarrier(warp);

    const Step* at = execution_.step(waiting.front().pc);
    std::vector<Note> notes;
    for (const Suspect& other : waiting) {
        const Warp& who = execution_.warps[static_cast<std::size_t>(other.warp)];
        const Where where = execution_.where(other.pc);
        if (other.pc != waiting.front().pc && std::ranges::find(notes, where, &Note::where) == notes.end())
            notes.push_back(
                {where, fmt::format("{} waits here, {}", execution_.name(who), waits_for(who).text)});
    }
    const auto ended = std::ranges::count(execution_.warps, Warp::State::ended, &Warp::state);
    if (ended > 0)
        notes.push_back({execution_.program.where(),
                         part_of(ended, execution_.warps.size(), "warps", "has", "have") + " ended"});
    const auto hangs = [&](const Rule& rule, std::string fix) {
        report_.add(hangs_at(warp, rule, std::move(fix)), at, std::move(notes));
    };
    const auto fix = [](isa::Awaits what) { return std::string(wait_words::law(what).fix); };
    if (warp.state == Warp::State::at_barrier) return hangs(rules::WG_SYNC_02, fix(isa::Awaits::barrier));
    if (warp.wait == Warp::Wait::cluster) return hangs(rules::WG_SYNC_04, fix(isa::Awaits::cluster));
    const int threads = execution_.program.threads();
    hangs(rules::WG_REG_02, fmt::format("a CTA of {} has {}: what its warpgroups ask for may not exceed "
                                        "them, and setmaxnreg.dec frees them",
                                        count_of(threads, "thread"),
                                        count_of(execution_.warps_per_cta * lanes *
                                                     machine::registers_at_entry(execution_.program),
                                                 "register")));
}

/// The kernel hangs, since this warp waits.
rules::RuleMessage Stuck::hangs_at(const Warp& warp, const Rule& rule, Fix fix) const {
    rules::Wait wait = waits_for(warp);
    wait.facts.insert(wait.facts.begin(), {"who", execution_.name(warp)});
    return rules::of(
        {rule, rules::kernel_hangs(execution_.name(warp) + " waits " + wait.text), std::move(fix)},
        std::move(wait.facts));
}

void Stuck::at_mbarrier(const Warp& warp) {
    rules::Lack lack;
    if (const Mbarrier* m = mbarriers_.waited_for(warp))
        lack =
            rules::lack_of(machine::account_of(*m, [&](std::uint32_t pc) { return execution_.where(pc); }));
    if (lack.fix.text.empty()) lack.fix = std::string(wait_words::law(isa::Awaits::mbarrier).fix);
    report_.add(hangs_at(warp, rules::WG_MBAR_05, std::move(lack.fix)), execution_.step(warp.pc),
                std::move(lack.notes));
}

}  // namespace wgrun::check::abstract
