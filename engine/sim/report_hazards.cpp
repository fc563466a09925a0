// What is reported of two accesses of a place in shared memory that nothing orders.
#include <fmt/format.h>

#include <algorithm>

#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"
#include "rules/wgmma_words.hpp"
#include "sim/report.hpp"

namespace wgrun::sim {

/// The access of the current step, and one before it.
struct Report::Pair {
    Hazard hazard;
    Epoch other;
    bool one_told;  ///< as in describe()
    bool same_cta, own_warp;
    bool reads;  ///< the current step
    Where now, then;
    std::string place, past;  ///< what both access; who was there before
};

// A write and a read behind it that nothing orders are one fault, whichever comes first: the read is the one
// that is reported. Where a thread waits between them, the other order is a fault of its own.
bool Report::follows(std::uint32_t write, std::uint32_t read) const {
    if (write >= read) return false;
    return std::none_of(code_.ops.begin() + write, code_.ops.begin() + read, [](const Op& op) {
        return op.step != nullptr && op.step->op->awaits != isa::Awaits::nothing;
    });
}

bool Report::reported_as_read_after_write(std::uint32_t read) const {
    return follows(pc_, read) && seen_.contains({rules::WG_RACE_01.id, read, pc_});
}

Phrase Report::ordered_by(const RelaxedHandovers::Steps& relaxed, bool same_cta) const {
    const Phrase fence = rules::fence_acq_rel(!same_cta);
    Phrase out;
    if (relaxed.arrival != no_pc)
        out = sentence("an arrival that releases in {}, or {} before it", line(relaxed.arrival), fence);
    if (relaxed.wait == no_pc) return out;
    const Phrase wait = sentence("a wait that acquires in {}, or {} behind it", line(relaxed.wait), fence);
    if (relaxed.arrival == no_pc) return wait;
    return {out.lua + "; and " + wait.lua, out.ptx + "; and " + wait.ptx};
}

bool Report::is_described(Hazard hazard, Epoch other) {
    const bool by_thread_copy = other.generic() && other.actor() == copies_in_flight_;
    const Described what{hazard, pc_, other ? other.pc() : no_pc, by_copy(other), by_thread_copy};
    if (what == last_described_) return true;
    last_described_ = what;
    const bool news = described_.insert(what).second;
    return settled_ || !news;
}

void Report::speaks_of(bool reads, const std::string& place, const std::string& other, bool other_reads) {
    facts_ = {{"who", who()},
              {"access", reads ? "read" : "write"},
              {"place", place},
              {"other", other},
              {"other_access", other_reads ? "read" : "write"}};
}

// Returns whether nothing is wrong, or another finding says it.
bool Report::is_excused(Hazard hazard, Epoch other, bool same_cta) const {
    if (code_.meet(pc_, other.pc(), same_cta)) return true;  // whichever comes first
    if (by_copy(other) && reductions_.contains(pc_) && reductions_.contains(other.pc())) return true;
    return hazard == Hazard::write_after_read && reported_as_read_after_write(other.pc());
}

void Report::describe(Hazard hazard, std::uint32_t offset, Epoch other, bool one_told) {
    if (hazard == Hazard::uninitialised) return not_written(offset, other);
    const bool same_cta = by_copy(other) || other.thread() / threads_per_cta_ == thread_ / threads_per_cta_;
    if (is_excused(hazard, other, same_cta)) return;
    if (hazard == Hazard::read_after_write) retract_write_after_read(other.pc());
    const bool fenceless = hazard == Hazard::missing_proxy_fence || hazard == Hazard::unfenced_overwrite ||
                           hazard == Hazard::unfenced_read;
    const machine::LetThrough* wait = fenceless ? nullptr : culprit(other);
    if (wait == nullptr ? is_described(hazard, other) : settled_) return;
    const bool reads = hazard == Hazard::read_after_write || hazard == Hazard::async_after_write;
    const bool own_warp = !by_copy(other) && other.actor() == thread_ / isa::lanes;
    const Pair pair{hazard,        other,      one_told,         same_cta,
                    own_warp,      reads,      code_.where(pc_), code_.where(other.pc()),
                    place(offset), past(other)};
    speaks_of(reads, pair.place, pair.past,
              hazard == Hazard::write_after_read || hazard == Hazard::unfenced_read);
    if (wait != nullptr) return blame(*wait, unordered(pair));
    if (hazard == Hazard::write_after_read) written_too_late(other.pc());
    switch (hazard) {
        case Hazard::write_after_write:
        case Hazard::equal_writes:
        case Hazard::read_after_write:
        case Hazard::async_after_write:
        case Hazard::write_after_read: return race(pair);
        case Hazard::write_under_mma: return written_under_mma(pair);
        case Hazard::write_under_copy: return written_under_copy(pair);
        case Hazard::missing_proxy_fence:
        case Hazard::unfenced_overwrite:
        case Hazard::unfenced_read: return without_fence(pair);
        case Hazard::uninitialised: return;
    }
}

void Report::not_written(std::uint32_t offset, Epoch copy) {
    if (write_refused_ || is_described(Hazard::uninitialised, copy)) return;
    if (copy)
        return add(rules::WG_MEM_04, copy.pc(),
                   fmt::format("{} reads {}, which a copy has brought from where nothing has written", who(),
                               place(offset)),
                   fmt::format("write what it copies before {}", line(copy.pc())),
                   {{code_.where(copy.pc()), "copied here"}});
    add(rules::WG_MEM_04, no_pc, fmt::format("{} reads {}, which nothing has written", who(), place(offset)),
        fmt::format("write the whole tile before {}", line(pc_)));
}

std::string Report::unordered(const Pair& pair) const {
    const std::string_view verb = pair.hazard == Hazard::equal_writes       ? "wrote with the same value"
                                  : pair.hazard == Hazard::write_after_read ? "reads"
                                  : by_copy(pair.other)                     ? "writes"
                                                                            : "wrote";
    return rules::unordered(who(), pair.reads ? "reads" : "writes", pair.place, pair.past, verb) +
           sizes(pair.other.pc());
}

// WG-RACE-01; of copies that nobody has waited for the rules that ask for that.
void Report::race(const Pair& pair) {
    const std::string message = unordered(pair);
    const std::uint32_t other = pair.other.pc();
    if (pair.hazard == Hazard::write_after_read)
        return add(rules::WG_RACE_01, other, message, ordering(pair),
                   {{pair.then, "read here by " + pair.past}});
    if (pair.other.generic() && pair.other.actor() == copies_in_flight_)
        return add(rules::WG_GROUP_04, other, message,
                   Fix(fmt::format("the threads of {} have to wait for their cp.async, then to meet {} at a "
                                   "barrier, before {}",
                                   line(other), who(), line(pc_)),
                       rules::barriers_between(pair.then, pair.now,
                                               {rules::cp_async_wait_all(), rules::bar_sync()})),
                   {{pair.then, "issued here"}});
    if (by_copy(pair.other))
        return add(rules::copy_not_awaited(message, pair.now), other, {{pair.then, "copied here"}});
    add({.rule = rules::WG_RACE_01,
         .text = message,
         .fix = pair.hazard == Hazard::async_after_write ? publication(pair) : ordering(pair),
         .finding_kind = pair.hazard == Hazard::equal_writes ? FindingKind::same_value : FindingKind::usual},
        other, {{pair.then, "written here by " + pair.past}});
}

void Report::written_under_mma(const Pair& pair) {
    const std::uint32_t other = pair.other.pc();
    add(rules::WG_RACE_02, other,
        rules::overwritten_while_read(
            fmt::format("{} writes {}", who(), pair.place),
            fmt::format("warp {}", pair.other.actor() % (threads_per_cta_ / isa::lanes))),
        Fix(fmt::format("the warpgroup of {} has to wait for its wgmma (wgmma.wait_group 0), and then to {}, "
                        "before {}",
                        line(other),
                        subject_ == Subject::copy ? "arrive where the copy's thread waits"
                                                  : "meet " + who() + " at a barrier",
                        line(pc_)),
            {{insert_before(pair.now, {rules::bar_sync()})},
             {insert_after(pair.then, {rules::wgmma_wait_group(0)})},
             {insert_before(pair.now, {rules::wgmma_wait_group(0), rules::bar_sync()})}}),
        {{pair.then, "issued here"}});
}

void Report::written_under_copy(const Pair& pair) {
    const std::string there = line(pair.other.pc());
    add(rules::WG_RACE_03, pair.other.pc(),
        fmt::format("{} writes {}, which the bulk copy of {} may still be reading", who(), pair.place, there),
        Fix(fmt::format("the thread of {} has to commit its copy and to wait until it has read "
                        "(cp.async.bulk.wait_group.read 0), and then to meet {} at a barrier, before {}",
                        there, who(), line(pc_)),
            {{insert_before(pair.now, {rules::bar_sync()})},
             {insert_before(pair.now, {rules::bulk_wait_for_reads(), rules::bar_sync()})},
             {insert_before(pair.now,
                            {rules::bulk_commit_group(), rules::bulk_wait_for_reads(), rules::bar_sync()})}}),
        {{pair.then, "issued here"}});
}

void Report::without_fence(const Pair& pair) {
    const bool was_read = pair.hazard == Hazard::unfenced_read;
    const bool reads = pair.hazard == Hazard::missing_proxy_fence;
    add(was_read ? rules::WG_PROXY_02 : rules::WG_PROXY_01, pair.other.pc(),
        fmt::format("{} {} {}, which {} {} through the generic proxy: no fence.proxy.async orders the two",
                    who(), reads ? "reads" : "overwrites", pair.place, pair.past,
                    was_read ? "read" : "wrote"),
        rules::proxy_fence_between(pair.then, pair.now),
        {{pair.then, fmt::format("{} here by {}", was_read ? "read" : "written", pair.past)}});
}

// What orders the two: within a warp a meeting of its lanes, too.
Fix Report::ordering(const Pair& pair) const {
    Fix barrier = this->barrier(pair);
    if (!pair.own_warp) return barrier;
    Fix out(fmt::format("{} has to meet {}, by bar.warp.sync or a barrier, {}", who(), pair.past,
                        rules::between(pair.then, pair.now)),
            {{insert_after(pair.then, {rules::bar_warp_sync()})},
             {insert_before(pair.now, {rules::bar_warp_sync()})}});
    std::ranges::move(barrier.remedies, std::back_inserter(out.remedies));
    return out;
}

Fix Report::barrier(const Pair& pair) const {
    if (code_.sizes_differ(pc_, pair.other.pc())) return one_size;
    if (!by_copy(pair.other))
        if (const auto relaxed = relaxed_.between(pair.other, warp_at_hand()))
            return ordered_by(*relaxed, pair.same_cta);
    const std::vector<Phrase> meet_cluster{rules::cluster_arrive(), rules::cluster_wait()};
    if (!pair.same_cta) {
        if (code_.ops[pc_].order.strong)
            if (std::optional<std::string> fix = stronger(Epoch(), pair.other, isa::Scope::cluster))
                return {*fix};
        return {fmt::format("{} has to wait for {}: by the barrier of the cluster, or by an mbarrier, {}",
                            who(), pair.past, rules::between(pair.then, pair.now)),
                {{insert_before(pair.now, meet_cluster)}, {insert_after(pair.then, meet_cluster)}}};
    }
    Fix out = rules::barrier_between(pair.then, pair.now, pair.past, who());
    if (pair.one_told)
        out = {fmt::format("the lanes have to meet after {}, before one of them tells of the whole warp",
                           line(pair.other.pc())),
               {{insert_after(pair.then, {rules::bar_warp_sync()})}}};
    if (program_.cluster().volume() > 1) out.remedies.push_back({insert_before(pair.now, meet_cluster)});
    return out;
}

// What makes a write through the generic proxy visible to the async proxy of another thread.
Fix Report::publication(const Pair& pair) const {
    const bool of_warpgroup = subject_ == Subject::wgmma && !pair.one_told;
    constexpr int spare = sm_90a.barriers - 1;
    Fix out(fmt::format("a fence.proxy.async by {} after {}, then {}, before {}", pair.past,
                        line(pair.other.pc()),
                        pair.one_told   ? "a meeting of the lanes"
                        : of_warpgroup  ? "a barrier of all threads that write what the wgmma reads"
                        : pair.own_warp ? "bar.warp.sync or a barrier"
                                        : "a barrier, or an mbarrier for whose phase is waited",
                        pair.one_told ? "one lane tells of the whole warp" : line(pc_)),
            {});
    const auto publish = [&](const Phrase& by) {
        std::ranges::move(rules::barriers_between(pair.then, pair.now, {rules::fence_proxy_async(), by}),
                          std::back_inserter(out.remedies));
    };
    const Phrase meet = of_warpgroup                     ? rules::bar_sync(spare, sm_90a.warpgroup)
                        : pair.own_warp || pair.one_told ? rules::bar_warp_sync()
                                                         : rules::bar_sync();
    publish(meet);
    if (meet != rules::bar_sync()) publish(rules::bar_sync());
    return out;
}

}  // namespace wgrun::sim
