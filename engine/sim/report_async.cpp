// What is reported about unordered accesses, and about the asynchronous machine.
#include <fmt/format.h>

#include <algorithm>

#include "program/wait_words.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"
#include "rules/wgmma_words.hpp"
#include "sim/report.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::sim {

namespace {
constexpr const char* one_size = "access the place by steps of one size, or let something order the two";
}

void Report::deadlock(wait_words::Law broken, std::uint32_t pc, std::string message, Fix fix,
                      std::vector<Note> notes, std::vector<Fact> facts) {
    if (copy_refused_ && has_errors()) return;
    pc_ = pc;
    rules::Saying saying = rules::of({*broken.rule, std::move(message), std::move(fix)}, std::move(facts));
    if (saying.fix.text.empty()) saying.fix = std::string(broken.fix);
    if (broken.rule == &rules::WG_SYNC_01) saying.section = code_.ops[pc].step->op->section;
    add(std::move(saying), no_pc, std::move(notes));
}

bool Report::said(const Rule& rule, std::uint32_t other) const { return seen_.contains(key(rule.id, other)); }

bool Report::said_of_any(const Rule& rule) const {
    const auto found = seen_.lower_bound(key(rule.id, 0));
    return found != seen_.end() && std::get<0>(*found) == rule.id && std::get<1>(*found) == pc_;
}

void Report::fault_at(std::uint32_t pc, rules::Saying saying, std::uint32_t other, std::string note) {
    const std::uint32_t here = std::exchange(pc_, pc);
    fault(std::move(saying), other, std::move(note));
    pc_ = here;
}

void Report::fault(rules::Saying saying, std::uint32_t other, std::string note) {
    std::vector<Note> notes;
    if (other != no_pc && !note.empty()) notes.push_back({code_.where(other), std::move(note)});
    add(std::move(saying), other, std::move(notes));
}

void Report::mbarrier_touched(std::uint32_t offset, const Mbarrier& mbarrier, std::string_view how) {
    const std::string name = place(mbarrier);
    add(rules::WG_MBAR_04, no_pc,
        offset == mbarrier.offset() ? fmt::format("{} {} {}, which belongs to an mbarrier", who(), how, name)
        : offset > mbarrier.offset()
            ? fmt::format("{} {} {}, inside the mbarrier {}", who(), how, place(offset), name)
            : fmt::format("{} {} {}, and the bytes go on into the mbarrier {}", who(), how, place(offset),
                          name),
        "leave its 8 bytes to the mbarrier instructions, or end it with mbarrier.inval");
}

// The ISA promises that atomics which overlap in part do not tear each other, and nothing else of them
// (8.7.2).
std::string Report::sizes(std::uint32_t other) const {
    if (!code_.sizes_differ(pc_, other)) return {};
    return fmt::format(" (strong accesses of {} and of {} overlap in part, and race as others do)",
                       code_.ops[pc_].order.unit, count_of(code_.ops[other].order.unit, "byte"));
}

std::string Report::past(Epoch access) const {
    if (by_copy(access) && access.generic())
        return fmt::format("the {}", code_.ops[access.pc()].step->op->name);
    if (by_copy(access)) return "the bulk copy";
    if (access.several() && access.thread() == thread_) return "another lane of its warp";
    return program_.cluster().volume() == 1 ? fmt::format("thread {}", access.thread())
                                            : who(access.thread());
}

void Report::misread_box(std::uint32_t copy, std::uint32_t offset, std::uint32_t width) {
    constexpr std::uint32_t lines = 8;  // after which the pattern of a swizzle comes again
    fault_at(copy, rules::box_read_by_rows(place(offset), offset % (lines * width), lines * width), pc_,
             "read here");
}

void Report::global_race(const GlobalRace& race, const std::string& place) {
    const bool copied = by_copy(race.other);
    const Where there = code_.where(race.other.pc());
    speaks_of(race.reads, place, past(race.other), race.other_reads);
    add(rules::WG_RACE_04, race.other.pc(),
        fmt::format("{} {} {}, which {} {}: nothing orders the two{}", who(), race.reads ? "reads" : "writes",
                    place, past(race.other),
                    race.other_reads ? "reads"
                    : copied         ? "writes"
                                     : "wrote",
                    sizes(race.other.pc())),
        code_.sizes_differ(pc_, race.other.pc()) ? Fix(one_size)
        : copied ? Fix(fmt::format("the thread of {} has to wait until its copy has written (cp.async.bulk."
                                   "wait_group without .read), and then to meet {} at a barrier",
                                   line(race.other.pc()), who()),
                       {{insert_after(there, {rules::bulk_commit_group(), rules::bulk_wait_group(0),
                                              rules::bar_sync()})},
                        {insert_before(code_.where(pc_), {rules::bulk_wait_group(0), rules::bar_sync()})}})
                 : rules::barrier_between(there, code_.where(pc_), past(race.other), who()),
        {{there, race.other_reads ? "read here" : "written here"}});
}

void Report::global_unfenced(const GlobalRace& race, const std::string& place) {
    unfenced(race.other.pc(), who(), race.reads, place, past(race.other));
}

void Report::unfenced(std::uint32_t other, const std::string& who, bool reads, const std::string& place,
                      const std::string& past) {
    const Where where = code_.where(other);
    add(rules::WG_PROXY_03, other,
        fmt::format(
            "{} {} {}, which {} wrote through the generic proxy: no fence.proxy.async of global memory "
            "orders the two",
            who, reads ? "reads" : "overwrites", place, past),
        rules::proxy_fence_between(where, code_.where(pc_)), {{where, "written here by " + past}});
}

void Report::global_discarded(Epoch by, const std::string& place) {
    add(rules::WG_MEM_04, by.pc(),
        fmt::format("{} reads {}, which nothing has written since it was discarded", who(), place),
        fmt::format("write it before {}", line(pc_)), {{code_.where(by.pc()), "discarded here"}});
}

void Report::global_stale(const GlobalRace& race, const std::string& place) {
    stale(race.other.pc(), who(), race.reads, place, past(race.other));
}

void Report::stale(std::uint32_t other, const std::string& who, bool reads, const std::string& place,
                   const std::string& past) {
    add(rules::WG_MEM_06, other,
        fmt::format("{} {} {}, which {} {}", who, reads ? "reads through ld.global.nc" : "writes", place,
                    past, reads ? "writes in this launch" : "reads through ld.global.nc"),
        fmt::format("ld.global without nc in {}", line(reads ? pc_ : other)),
        {{code_.where(other), reads ? "written here" : "read here"}});
}

void Report::stale_launch_before(const std::string& place, Where written, const std::string& kernel) {
    add(rules::WG_MEM_06, no_pc,
        fmt::format(
            "{} reads through ld.global.nc {}, which the launch of {} before it, which may still run, "
            "writes: griddepcontrol.wait does not order the two",
            who(), place, kernel),
        fmt::format("ld.global without nc in {}, behind griddepcontrol.wait", line(pc_)),
        {{written, "written here"}});
}

void Report::launch_before(bool write, const std::string& place, const Touched::Step& other,
                           const std::string& kernel) {
    add(rules::WG_RACE_05, no_pc,
        fmt::format(
            "{} {} {} before griddepcontrol.wait, and the launch of {} before it, which may still run, "
            "{} there",
            who(), write ? "writes" : "reads", place, kernel, other.writes ? "writes" : "reads"),
        std::vector<Remedy>{{insert_before(code_.where(pc_), {rules::griddepcontrol_wait()})}},
        {{other.where, other.writes ? "written here" : "read here"}});
}

void Report::global_conflict(const Conflict& conflict, const std::string& place) {
    const auto name = [&](const Side& side) {
        const int thread = by_copy(side.by) ? 0 : side.by.thread();
        return (by_copy(side.by) ? "a bulk copy of " : "") +
               who(thread, cluster_position(grid_, program_.cluster(), side.cluster));
    };
    const auto& [wrong, address, access, other] = conflict;
    pc_ = access.by.pc();
    const std::uint32_t there = other.by.pc();
    if (wrong == Wrong::unfenced) return unfenced(there, name(access), !access.writes, place, name(other));
    if (wrong == Wrong::stale) return stale(there, name(access), !access.writes, place, name(other));
    if (code_.sizes_differ(pc_, there))
        return add(rules::WG_RACE_04, there,
                   fmt::format("{} {} {}, which {} {}: nothing orders the two{}", name(access),
                               access.writes ? "writes" : "reads", place, name(other),
                               other.writes ? "writes" : "reads", sizes(there)),
                   one_size, {{code_.where(there), other.writes ? "written here" : "read here"}});
    if (access.writes && !other.writes)
        return add(rules::WG_RACE_04, there,
                   fmt::format("{} overwrites {}, which {} reads: nothing orders the two", name(access),
                               place, name(other)),
                   fmt::format("let {} wait until the reader says that it has read: an atomic or a "
                               "store with .release.gpu after {}, and a load with .acquire.gpu before "
                               "{}",
                               line(pc_), line(there), line(pc_)),
                   {{code_.where(there), "read here"}});
    const std::optional<std::string> scoped = stronger(access.by, other.by, isa::Scope::gpu);
    add(rules::WG_RACE_04, there,
        fmt::format("{} {} {}, which {} {}: nothing orders CTAs of a launch", name(access),
                    access.writes ? "writes" : "reads", place, name(other),
                    other.writes ? "writes" : "reads"),
        scoped ? Fix(*scoped) : handed_over(conflict),
        {{code_.where(there), other.writes ? "written here" : "read here"}});
}

// Between CTAs nothing but a release and an acquire orders accesses, and what a thread releases, it has to
// know: of other threads by a barrier, of bulk copies by a wait for their writes.
Fix Report::handed_over(const Conflict& conflict) const {
    const auto& [wrong, address, access, other] = conflict;
    const Where there = code_.where(other.by.pc());
    if (!other.writes || access.writes)
        return fmt::format(
            "give each CTA a part of the tensor of its own, or let atomics combine what {} and "
            "{} write",
            line(other.by.pc()), line(access.by.pc()));
    const bool copied = by_copy(other.by);
    std::vector<Phrase> known{rules::bar_sync()};
    if (copied) known = {rules::bulk_commit_group(), rules::bulk_wait_group(0)};
    std::vector<Remedy> remedies{{insert_after(there, known)}};
    if (copied) {
        known.push_back(rules::bar_sync());
        remedies.push_back({insert_after(there, known)});
    }
    return {
        fmt::format("behind {} {}, then a .release at scope gpu (or a __threadfence and an atomic); before "
                    "{} an .acquire of that, then a barrier if other threads read. Or let the next launch "
                    "read it",
                    line(other.by.pc()),
                    copied ? "a wait for its writes (cp.async.bulk.wait_group without .read)"
                           : "a barrier of all threads that write",
                    line(access.by.pc())),
        std::move(remedies)};
}

// Returns the fix of two accesses, at the current step and another, one of which is strong: what they lack to
// be no race, in that scope.
std::optional<std::string> Report::stronger(Epoch access, Epoch other, isa::Scope needed) const {
    if (by_copy(access) || by_copy(other)) return std::nullopt;
    const isa::MemoryOrder &mine = code_.ops[pc_].order, &theirs = code_.ops[other.pc()].order;
    const std::string_view scope = needed == isa::Scope::gpu ? "gpu" : "cluster";
    if (mine.strong && theirs.strong) {
        std::string lines = mine.scope < needed ? line(pc_) : "";
        if (theirs.scope < needed && code_.where(other.pc()) != code_.where(pc_))
            lines += (lines.empty() ? "" : " and ") + line(other.pc());
        if (lines.empty()) return std::nullopt;
        return fmt::format("a scope that holds both, .{}, in {}", scope, lines);
    }
    if (mine.strong == theirs.strong) return std::nullopt;
    return fmt::format(
        "make the access of {0} strong, too: relaxed.{1}, or where it hands over what was written before, "
        "release.{1} for a store and acquire.{1} for a load; or a release and an acquire between the two",
        line(mine.strong ? other.pc() : pc_), scope);
}

// A write and a read behind it that nothing orders are one fault, whichever comes first: the read is the one
// that is told. Where something is waited for between them, the other way round is a fault of its own.
bool Report::follows(std::uint32_t write, std::uint32_t read) const {
    if (write >= read) return false;
    return std::none_of(code_.ops.begin() + write, code_.ops.begin() + read, [](const Op& op) {
        return op.step != nullptr && op.step->op->awaits != isa::Awaits::nothing;
    });
}

bool Report::told_as_read_after_write(std::uint32_t read) const {
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
    const bool by_thread_copy = other.generic() && other.actor() == copies_under_way_;
    const bool news =
        described_.insert({hazard, pc_, other ? other.pc() : no_pc, by_copy(other), by_thread_copy}).second;
    return settled_ || !news;
}

void Report::speaks_of(bool reads, const std::string& place, const std::string& other, bool other_reads) {
    facts_ = {{"who", who()},
              {"access", reads ? "read" : "write"},
              {"place", place},
              {"other", other},
              {"other_access", other_reads ? "read" : "write"}};
}

void Report::describe(Hazard hazard, std::uint32_t offset, Epoch other, bool one_told) {
    if (hazard == Hazard::uninitialised && (write_refused_ || is_described(hazard, other))) return;
    if (hazard == Hazard::uninitialised && other)
        return add(rules::WG_MEM_04, other.pc(),
                   fmt::format("{} reads {}, which a copy has brought from where nothing has written", who(),
                               this->place(offset)),
                   fmt::format("write what it copies before {}", line(other.pc())),
                   {{code_.where(other.pc()), "copied here"}});
    if (hazard == Hazard::uninitialised)
        return add(rules::WG_MEM_04, no_pc,
                   fmt::format("{} reads {}, which nothing has written", who(), this->place(offset)),
                   fmt::format("write the whole tile before {}", line(pc_)));
    const bool same_cta = by_copy(other) || other.thread() / threads_per_cta_ == thread_ / threads_per_cta_;
    if (code_.meet(pc_, other.pc(), same_cta)) return;  // whichever comes first
    if (by_copy(other) && reductions_.contains(pc_) && reductions_.contains(other.pc())) return;
    if (hazard == Hazard::write_after_read && told_as_read_after_write(other.pc())) return;
    if (hazard == Hazard::read_after_write) retract_write_after_read(other.pc());
    const bool fenceless = hazard == Hazard::missing_proxy_fence || hazard == Hazard::unfenced_overwrite ||
                           hazard == Hazard::unfenced_read;
    const machine::LetThrough* wait = fenceless ? nullptr : culprit(other);
    if (wait == nullptr ? is_described(hazard, other) : settled_) return;
    const std::string place = this->place(offset);
    const std::string here = line(pc_), there = line(other.pc());
    const Where where = code_.where(other.pc());
    const std::string past = this->past(other);
    const bool reads = hazard == Hazard::read_after_write || hazard == Hazard::async_after_write;
    const std::string what = fmt::format("{} {} {}", who(), reads ? "reads" : "writes", place);
    speaks_of(reads, place, past, hazard == Hazard::write_after_read || hazard == Hazard::unfenced_read);
    const std::string unordered =
        rules::unordered(who(), reads ? "reads" : "writes", place, past,
                         hazard == Hazard::equal_writes       ? "wrote with the same value"
                         : hazard == Hazard::write_after_read ? "reads"
                         : by_copy(other)                     ? "writes"
                                                              : "wrote") +
        sizes(other.pc());
    if (wait != nullptr) return blame(*wait, unordered);
    const Where now = code_.where(pc_);
    Fix barrier = rules::barrier_between(where, now, past, who());
    if (one_told)
        barrier = {
            fmt::format("the lanes have to meet after {}, before one of them tells of the whole warp", there),
            {{insert_after(where, {rules::bar_warp_sync()})}}};
    const auto relaxed = by_copy(other) ? std::nullopt : relaxed_.between(other, warp_at_hand());
    if (relaxed) barrier = ordered_by(*relaxed, same_cta);
    if (code_.sizes_differ(pc_, other.pc())) barrier = one_size;
    const std::vector<Phrase> meet_cluster{rules::cluster_arrive(), rules::cluster_wait()};
    const bool told = relaxed || code_.sizes_differ(pc_, other.pc());
    if (!same_cta && !told)
        barrier = {fmt::format("{} has to wait for {}: by the barrier of the cluster, or by an mbarrier, {}",
                               who(), past, rules::between(where, now)),
                   {{insert_before(now, meet_cluster)}, {insert_after(where, meet_cluster)}}};
    else if (program_.cluster().volume() > 1 && !told)
        barrier.remedies.push_back({insert_before(now, meet_cluster)});
    if (!same_cta && !told && code_.ops[pc_].order.strong)
        if (std::optional<std::string> fix = stronger(Epoch(), other, isa::Scope::cluster)) barrier = {*fix};
    const bool own_warp = !by_copy(other) && other.actor() == thread_ / isa::lanes;
    Fix meeting(
        fmt::format("{} has to meet {}, by bar.warp.sync or a barrier, {}", who(), past,
                    rules::between(where, now)),
        {{insert_after(where, {rules::bar_warp_sync()})}, {insert_before(now, {rules::bar_warp_sync()})}});
    if (own_warp) std::ranges::move(barrier.remedies, std::back_inserter(meeting.remedies));
    const bool of_warpgroup = subject_ == Subject::wgmma && !one_told;
    constexpr int spare = sm_90a.barriers - 1;
    const Phrase meet = of_warpgroup           ? rules::bar_sync(spare, sm_90a.warpgroup)
                        : own_warp || one_told ? rules::bar_warp_sync()
                                               : rules::bar_sync();
    Fix published(fmt::format("a fence.proxy.async by {} after {}, then {}, before {}", past, there,
                              one_told       ? "a meeting of the lanes"
                              : of_warpgroup ? "a barrier of all threads that write what the wgmma reads"
                              : own_warp     ? "bar.warp.sync or a barrier"
                                             : "a barrier, or an mbarrier for whose phase is waited",
                              one_told ? "one lane tells of the whole warp" : here),
                  {});
    const auto publish = [&](const Phrase& by) {
        std::ranges::move(rules::barriers_between(where, now, {rules::fence_proxy_async(), by}),
                          std::back_inserter(published.remedies));
    };
    publish(meet);
    if (meet != rules::bar_sync()) publish(rules::bar_sync());
    const Fix fence = rules::proxy_fence_between(where, now);
    switch (hazard) {
        case Hazard::write_after_write:
        case Hazard::equal_writes:
        case Hazard::read_after_write:
        case Hazard::async_after_write:
            if (other.generic() && other.actor() == copies_under_way_)
                return add(
                    rules::WG_GROUP_04, other.pc(), unordered,
                    Fix(fmt::format("the threads of {} have to wait for their cp.async, then to meet "
                                    "{} at a barrier, before {}",
                                    there, who(), here),
                        rules::barriers_between(where, now, {rules::cp_async_wait_all(), rules::bar_sync()})),
                    {{where, "issued here"}});
            if (by_copy(other))
                return add(rules::copy_not_awaited(unordered, now), other.pc(), {{where, "copied here"}});
            return add({.rule = rules::WG_RACE_01,
                        .message = unordered,
                        .fix = hazard == Hazard::async_after_write ? published
                               : own_warp                          ? meeting
                                                                   : barrier,
                        .circumstance =
                            hazard == Hazard::equal_writes ? Circumstance::same_value : Circumstance::usual},
                       other.pc(), {{where, "written here by " + past}});
        case Hazard::write_after_read:
            written_too_late(other.pc());
            return add(rules::WG_RACE_01, other.pc(), unordered, own_warp ? meeting : barrier,
                       {{where, "read here by " + past}});
        case Hazard::write_under_mma:
            return add(rules::WG_RACE_02, other.pc(),
                       rules::overwritten_while_read(
                           what, fmt::format("warp {}", other.actor() % (threads_per_cta_ / isa::lanes))),
                       Fix(fmt::format("the warpgroup of {} has to wait for its wgmma (wgmma.wait_group 0), "
                                       "and then to {}, before {}",
                                       there,
                                       subject_ == Subject::copy ? "arrive where the copy's thread waits"
                                                                 : "meet " + who() + " at a barrier",
                                       here),
                           {{insert_before(now, {rules::bar_sync()})},
                            {insert_after(where, {rules::wgmma_wait_group(0)})},
                            {insert_before(now, {rules::wgmma_wait_group(0), rules::bar_sync()})}}),
                       {{where, "issued here"}});
        case Hazard::write_under_copy:
            return add(
                rules::WG_RACE_03, other.pc(),
                fmt::format("{}, which the bulk copy of {} may still be reading", what, there),
                Fix(fmt::format(
                        "the thread of {} has to commit its copy and to wait until it has read "
                        "(cp.async.bulk.wait_group.read 0), and then to meet {} at a barrier, before {}",
                        there, who(), here),
                    {{insert_before(now, {rules::bar_sync()})},
                     {insert_before(now, {rules::bulk_wait_for_reads(), rules::bar_sync()})},
                     {insert_before(now, {rules::bulk_commit_group(), rules::bulk_wait_for_reads(),
                                          rules::bar_sync()})}}),
                {{where, "issued here"}});
        case Hazard::missing_proxy_fence:
        case Hazard::unfenced_overwrite:
            return add(rules::WG_PROXY_01, other.pc(),
                       fmt::format("{} {} {}, which {} wrote through the generic proxy: no fence.proxy.async "
                                   "orders the two",
                                   who(), hazard == Hazard::missing_proxy_fence ? "reads" : "overwrites",
                                   place, past),
                       fence, {{where, "written here by " + past}});
        case Hazard::unfenced_read:
            return add(rules::WG_PROXY_02, other.pc(),
                       fmt::format("{} overwrites {}, which {} read through the generic proxy: no "
                                   "fence.proxy.async orders the two",
                                   who(), place, past),
                       fence, {{where, "read here by " + past}});
        case Hazard::uninitialised: return;
    }
}

}  // namespace wgrun::sim
