// When no warp of a rehearsal can continue: which warps wait for what, and why it never happens. WG-MBAR-05,
// WG-REG-02, WG-SYNC-02, WG-SYNC-04.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "check/rehearsal.hpp"
#include "program/wait_words.hpp"
#include "rules/wait_words.hpp"

namespace wgrun::check {

using isa::lanes;

namespace {
/// Rounds in which warps that wait for mbarriers may do nothing but test them again.
constexpr int patience = 200;
}  // namespace

/// Lets waits for mbarriers time out, after which the kernel may do something else. Returns whether any did.
bool Rehearsal::look_again() {
    if (++fruitless_ > patience) return false;
    bool any = false;
    for (Warp& warp : warps_) {
        if (warp.state != Warp::State::asleep || warp.wait != Warp::Wait::mbarrier) continue;
        warp.state = Warp::State::ready;
        warp.give_up = any = true;
    }
    return any;
}

/// Returns whether lanes of a waiting warp may run on the other arm of a branch.
bool Rehearsal::others_may_run() const {
    return std::ranges::any_of(warps_, [this](const Warp& warp) {
        const bool waits = warp.state == Warp::State::asleep || warp.state == Warp::State::at_barrier;
        return waits && std::ranges::any_of(warp.parted.groups(), [&](const flow::Divergence::Group& group) {
                   return group.from != flow::Divergence::nowhere && skeleton_.ops[group.from].both_arms;
               });
    });
}

/// Returns whether registers would be lacking even if each warp that has left kept only the least that
/// setmaxnreg takes.
bool Rehearsal::never_enough_registers(const Warp& warp) const {
    constexpr int least = sm_90a.least_setmaxnreg;
    const machine::RegisterPool& pool = warp.cta->registers;
    int free = pool.free();
    for (const Warp& other : warps_)
        if (other.cta == warp.cta && other.state == Warp::State::left)
            free += (pool.held(local(other)) - least) * lanes;
    return (pool.wanted(local(warp)) - pool.held(local(warp))) * lanes > free;
}

std::string Rehearsal::waits_for(const Warp& warp) const {
    if (warp.state == Warp::State::at_barrier) {
        const machine::NamedBarriers& barriers = warp.cta->barriers;
        return rules::at_barrier(warp.barrier, barriers.arrived(warp.barrier),
                                 barriers.expected(warp.barrier));
    }
    if (warp.wait == Warp::Wait::registers) {
        const machine::RegisterPool& pool = warp.cta->registers;
        return rules::for_registers(pool.wanted(local(warp)), pool.held(local(warp)), pool.free());
    }
    if (warp.wait == Warp::Wait::cluster)
        return rules::at_cluster_barrier(cluster_barrier_.arrived(), warps_.size());
    if (warp.mbarrier == nullptr) return "for several mbarriers";
    const Mbarrier& mbarrier = *warp.mbarrier;
    return rules::for_phase(
        mbarrier.phase(), warp.parity, place(mbarrier.offset()),
        rules::what_has_come(mbarrier.expected() - mbarrier.pending(), mbarrier.expected(), mbarrier.tx()));
}

/// A waiting warp, ordered by the likelihood of being the cause: an mbarrier whose phase has begun and cannot
/// complete is likelier than one at which no thread has arrived.
struct Rehearsal::Suspect {
    int kind;
    int progress;
    std::uint32_t pc;
    int warp;
    auto operator<=>(const Suspect&) const = default;
};

Rehearsal::Suspect Rehearsal::suspect(const Warp& warp) const {
    if (warp.state == Warp::State::at_barrier) return {3, 0, warp.pc - 1, warp.number};
    int progress = 2;
    if (const Mbarrier* m = warp.wait == Warp::Wait::mbarrier ? warp.mbarrier : nullptr) {
        if (m->pending() == 0 || m->tx() < 0)
            progress = 0;
        else if (m->pending() < m->expected())
            progress = 1;
    }
    return {static_cast<int>(warp.wait), progress, warp.pc, warp.number};
}

void Rehearsal::report_stuck() {
    faults_ = findings_.size();
    std::vector<Suspect> waiting;
    for (const Warp& warp : warps_) {
        if (warp.state != Warp::State::asleep && warp.state != Warp::State::at_barrier) continue;
        const bool registers = warp.state == Warp::State::asleep && warp.wait == Warp::Wait::registers;
        if (anybody_left_ && !(registers && never_enough_registers(warp))) continue;
        waiting.push_back(suspect(warp));
    }
    if (waiting.empty() || others_may_run()) return;
    std::ranges::sort(waiting);
    const Warp& warp = warps_[static_cast<std::size_t>(waiting.front().warp)];
    const Step* at = skeleton_.ops[waiting.front().pc].step;
    if (warp.state == Warp::State::asleep && warp.wait == Warp::Wait::mbarrier)
        return stuck_at_mbarrier(warp);

    std::vector<Note> notes;
    for (const Suspect& other : waiting) {
        const Warp& who = warps_[static_cast<std::size_t>(other.warp)];
        const Step* where = skeleton_.ops[other.pc].step;
        if (where != at &&
            std::ranges::none_of(notes, [&](const Note& n) { return n.where == where->where; }))
            notes.push_back({where->where, fmt::format("{} waits here, {}", name(who), waits_for(who))});
    }
    const auto ended = std::ranges::count(warps_, Warp::State::ended, &Warp::state);
    if (ended > 0)
        notes.push_back({program_.where(), fmt::format("{} of {} warps have ended", ended, warps_.size())});
    const std::string message = rules::kernel_hangs(name(warp) + " waits " + waits_for(warp));
    if (warp.state == Warp::State::at_barrier)
        return add(rules::WG_SYNC_02, at, message, std::string(wait_words::law(isa::Awaits::barrier).fix),
                   std::move(notes));
    if (warp.wait == Warp::Wait::cluster)
        return add(rules::WG_SYNC_04, at, message, std::string(wait_words::law(isa::Awaits::cluster).fix),
                   std::move(notes));
    add(rules::WG_REG_02, at, message,
        fmt::format(
            "a CTA of {} threads has {} registers: what its warpgroups ask for may not exceed them, and "
            "setmaxnreg.dec frees them",
            program_.threads(), warps_per_cta_ * lanes * sm_90a.registers_at_entry(program_.threads())),
        std::move(notes));
}

void Rehearsal::stuck_at_mbarrier(const Warp& warp) {
    const Step* at = skeleton_.ops[warp.pc].step;
    const std::string message = rules::kernel_hangs(name(warp) + " waits " + waits_for(warp));
    std::vector<Note> notes;
    std::string fix(wait_words::law(isa::Awaits::mbarrier).fix);
    if (const Mbarrier* m = warp.mbarrier) {
        const auto where = [](const Step* step) { return step != nullptr ? step->where : Where{}; };
        notes.push_back({where(m->made), fmt::format("initialised here with {} arrivals", m->expected())});
        const bool arrivals = m->pending() != 0;
        if (m->pending() == 0 || m->tx() < 0) {
            notes.push_back({where(m->expecting), fmt::format("{} bytes are expected", m->to_expect())});
            notes.push_back(
                {where(m->copied), fmt::format("the copies of the phase bring {}", m->to_bring())});
            fix = fmt::format("expect {} bytes", m->to_bring());
        } else if (arrivals && m->pending() < m->expected()) {
            notes.push_back({where(m->arrived), "the last arrival"});
            fix = fmt::format("{} arrivals come in this phase: give mbarrier.init their number",
                              m->expected() - m->pending());
        }
    }
    add(rules::WG_MBAR_05, at, message, fix, std::move(notes));
}

}  // namespace wgrun::check
