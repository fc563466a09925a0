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

void Report::deadlock(wait_words::Law broken, std::uint32_t pc, std::string text, Fix fix,
                      std::vector<Note> notes, std::vector<Fact> facts) {
    if (copy_refused_ && has_errors()) return;
    pc_ = pc;
    rules::RuleMessage message = rules::of({*broken.rule, std::move(text), std::move(fix)}, std::move(facts));
    if (message.fix.text.empty()) message.fix = std::string(broken.fix);
    if (broken.rule == &rules::WG_SYNC_01) message.section = code_.ops[pc].step->op->section;
    add(std::move(message), no_pc, std::move(notes));
}

bool Report::said(const Rule& rule, std::uint32_t other) const { return seen_.contains(key(rule.id, other)); }

bool Report::said_of_any(const Rule& rule) const {
    const auto found = seen_.lower_bound(key(rule.id, 0));
    return found != seen_.end() && std::get<0>(*found) == rule.id && std::get<1>(*found) == pc_;
}

void Report::fault_at(std::uint32_t pc, rules::RuleMessage message, std::uint32_t other, std::string note) {
    const std::uint32_t here = std::exchange(pc_, pc);
    fault(std::move(message), other, std::move(note));
    pc_ = here;
}

void Report::fault(rules::RuleMessage message, std::uint32_t other, std::string note) {
    std::vector<Note> notes;
    if (other != no_pc && !note.empty()) notes.push_back({code_.where(other), std::move(note)});
    add(std::move(message), other, std::move(notes));
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
        fmt::format("ld.global without nc in {}, after griddepcontrol.wait", line(pc_)),
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
               who(thread, cluster_position(grid_, program_.cluster(), devices_.in_grid(side.cluster)),
                   devices_.of(side.cluster));
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
                   fmt::format("let {0} wait until the reader says that it has read: an atomic or a "
                               "store with .release.{2} after {1}, and a load with .acquire.{2} before "
                               "{0}",
                               line(pc_), line(there), isa::name_of(holds_both(conflict))),
                   {{code_.where(there), "read here"}});
    const isa::Scope needed = holds_both(conflict);
    const std::optional<std::string> scoped = stronger(access.by, other.by, needed);
    add(rules::WG_RACE_04, there,
        fmt::format("{} {} {}, which {} {}: nothing orders CTAs of {}", name(access),
                    access.writes ? "writes" : "reads", place, name(other), other.writes ? "writes" : "reads",
                    needed == isa::Scope::sys ? "two devices" : "a launch"),
        scoped ? Fix(*scoped) : handed_over(conflict),
        {{code_.where(there), other.writes ? "written here" : "read here"}});
}

// Returns the scope that holds the CTAs of both accesses.
isa::Scope Report::holds_both(const Conflict& conflict) const {
    return devices_.of(conflict.access.cluster) == devices_.of(conflict.other.cluster) ? isa::Scope::gpu
                                                                                       : isa::Scope::sys;
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
    const isa::Scope scope = holds_both(conflict);
    std::vector<Phrase> known{rules::bar_sync()};
    if (copied) known = {rules::bulk_commit_group(), rules::bulk_wait_group(0)};
    std::vector<Remedy> remedies{{insert_after(there, known)}};
    if (copied) {
        known.push_back(rules::bar_sync());
        remedies.push_back({insert_after(there, known)});
    }
    return {
        fmt::format("behind {} {}, then a .release at scope {} (or a __threadfence{} and an atomic); before "
                    "{} an .acquire of that, then a barrier if other threads read. Or let the next launch "
                    "read it",
                    line(other.by.pc()),
                    copied ? "a wait for its writes (cp.async.bulk.wait_group without .read)"
                           : "a barrier of all threads that write",
                    isa::name_of(scope), scope == isa::Scope::sys ? "_system" : "", line(access.by.pc())),
        std::move(remedies)};
}

// Returns the fix of two accesses, at the current step and another, one of which is strong: what they lack to
// be no race, in that scope.
std::optional<std::string> Report::stronger(Epoch access, Epoch other, isa::Scope needed) const {
    if (by_copy(access) || by_copy(other)) return std::nullopt;
    const isa::MemoryOrder &mine = code_.ops[pc_].order, &theirs = code_.ops[other.pc()].order;
    const std::string_view scope = isa::name_of(needed);
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

}  // namespace wgrun::sim
