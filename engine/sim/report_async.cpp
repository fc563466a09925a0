// What is said of accesses that nothing orders, and of the asynchronous machine.
#include <fmt/format.h>

#include "program/end.hpp"
#include "program/wait_words.hpp"
#include "sim/report.hpp"

namespace wgrun::sim {
namespace {

constexpr const char* bulk_wait = "cp_async_bulk_wait_group(0, {read=1})";

struct Law {
    std::string_view rule, fix;
};

Law law(Fault fault) {
    switch (fault) {
        case Fault::mbarrier_life:
            return {"WG-MBAR-01",
                    "one thread initialises it once, before all others use it; mbarrier.inval ends it"};
        case Fault::mbarrier_unknown:
            return {"WG-MBAR-02",
                    "after the inits k:fence_mbarrier_init(), then a barrier of all who use the mbarriers"};
        case Fault::mbarrier_count:
            return {"WG-MBAR-03",
                    "count the arrivals of a phase in mbarrier.init and the bytes of all its copies in "
                    "expect_tx, and wait for a phase before arriving in the next"};
        case Fault::copy_operands:
            return {"WG-TMA-01",
                    "linear copies move multiples of 16 bytes between multiples of 16; boxes start at a "
                    "multiple of 128 in shared memory"};
        case Fault::source_size: return {"WG-FORM-02", "src_size is at most the bytes that are copied"};
        case Fault::unfinished_load:
            return {"WG-TMA-03", "wait for the last phase of every mbarrier before the kernel ends"};
        case Fault::unfinished_store:
            return {"WG-TMA-03",
                    "the thread that issues it: k:cp_async_bulk_commit_group() and "
                    "k:cp_async_bulk_wait_group(0, {read=1}) before the kernel ends"};
        case Fault::registers:
            return {"WG-REG-02", "inc to no fewer and dec to no more registers than the warp has"};
        case Fault::meeting: return {"WG-SYNC-04", "each warp arrives once, waits once, and so on"};
        default:
            return {"WG-SYNC-05",
                    "mapa with a rank of the cluster, accesses with shared::cluster, and a barrier of the "
                    "cluster before any of its CTAs ends"};
    }
}

}  // namespace

/// The calls that are missing, where they can be told from the places alone.
std::vector<Remedy> Report::remedies(Fault fault, std::uint32_t other) const {
    if (fault == Fault::unfinished_store)
        return {{insert_after(end_of(program_), {bulk_wait})},
                {insert_after(code_.where(pc_), {"cp_async_bulk_commit_group()", bulk_wait})}};
    if (fault == Fault::peer)
        return {{insert_after(end_of(program_), {"barrier_cluster_arrive()", "barrier_cluster_wait()"})}};
    if (fault != Fault::mbarrier_unknown || other == no_pc) return {};
    const Where made = code_.where(other);
    return {{insert_after(made, {"fence_mbarrier_init()"})},
            {insert_after(made, {"bar_sync(0)"})},
            {insert_after(made, {"fence_mbarrier_init()", "bar_sync(0)"})},
            {insert_after(made, {"bar_warp_sync()"})}};
}

void Report::deadlock(isa::Awaits wait, std::uint32_t pc, std::string message, std::vector<Note> notes) {
    pc_ = pc;
    const wait_words::Law broken = wait_words::law(wait);
    add(broken.rule, no_pc, std::move(message), std::string(broken.fix), std::move(notes));
}

bool Report::said(Fault fault, std::uint32_t other) const {
    return seen_.contains(key(law(fault).rule, other));
}

void Report::fault(Fault fault, std::string message, std::uint32_t other, std::string note) {
    const Law broken = law(fault);
    std::vector<Note> notes;
    if (other != no_pc && !note.empty()) notes.push_back({code_.where(other), std::move(note)});
    add(broken.rule, other, std::move(message), {std::string(broken.fix), remedies(fault, other)},
        std::move(notes));
}

void Report::mbarrier_touched(std::uint32_t offset, std::string_view how) {
    add("WG-MBAR-04", no_pc, fmt::format("{} {} {}, which belongs to an mbarrier", who(), how, place(offset)),
        "leave its 8 bytes to the mbarrier instructions, or end it with mbarrier.inval");
}

std::string Report::past(Epoch access) const {
    if (by_copy(access) && access.generic())
        return fmt::format("the {}", code_.ops[access.pc()].step->op->name);
    if (by_copy(access)) return "the bulk copy";
    if (access.several() && access.thread() == thread_) return "another lane of its warp";
    return program_.cluster().volume() == 1 ? fmt::format("thread {}", access.thread())
                                            : who(access.thread());
}

void Report::global_race(const GlobalRace& race, const std::string& place) {
    const bool copied = by_copy(race.other);
    add("WG-RACE-04", race.other.pc(),
        fmt::format("{} {} {}, which {} {}: nothing orders the two", who(), race.reads ? "reads" : "writes",
                    place, past(race.other),
                    race.other_reads ? "reads"
                    : copied         ? "writes"
                                     : "wrote"),
        copied
            ? fmt::format("k:cp_async_bulk_wait_group(0), without read, by the thread of line {}, then a "
                          "barrier before line {}",
                          line(race.other.pc()), line(pc_))
            : fmt::format("k:bar_sync(0) after line {} and before line {}", line(race.other.pc()), line(pc_)),
        {{code_.where(race.other.pc()), race.other_reads ? "read here" : "written here"}});
}

void Report::global_unfenced(const GlobalRace& race, const std::string& place) {
    const Where where = code_.where(race.other.pc());
    add("WG-PROXY-03", race.other.pc(),
        fmt::format(
            "{} {} {}, which {} wrote through the generic proxy: no fence.proxy.async of global memory "
            "orders the two",
            who(), race.reads ? "reads" : "overwrites", place, past(race.other)),
        Fix(fmt::format("k:fence_proxy_async() after line {}, before the barrier", line(race.other.pc())),
            {{insert_after(where, {"fence_proxy_async()"})},
             {insert_before(code_.where(pc_), {"fence_proxy_async()"})}}),
        {{where, "written here by " + past(race.other)}});
}

void Report::global_conflict(const LaunchShadow::Conflict& conflict, const std::string& place) {
    const auto name = [&](Epoch access, Dim3 cluster) {
        const int thread = by_copy(access) ? 0 : access.thread();
        return (by_copy(access) ? "a bulk copy of " : "") + who(thread, cluster);
    };
    pc_ = conflict.access.pc();
    const Dim3 other = cluster_position(grid_, program_.cluster(), conflict.other_cluster);
    add("WG-RACE-04", conflict.other.pc(),
        fmt::format("{} {} {}, which {} {}: nothing orders CTAs of a launch", name(conflict.access, cluster_),
                    conflict.writes ? "writes" : "reads", place, name(conflict.other, other),
                    conflict.other_writes ? "writes" : "reads"),
        "give each CTA a part of the tensor of its own, or let atomics combine what they write; what another "
        "CTA is to read is for the next launch, or for atomics that release and acquire",
        {{code_.where(conflict.other.pc()), conflict.other_writes ? "written here" : "read here"}});
}

void Report::describe(Hazard hazard, std::uint32_t offset, Epoch other, bool one_told) {
    const std::string place = this->place(offset);
    if (hazard == Hazard::uninitialised)
        return add("WG-MEM-04", no_pc, fmt::format("{} reads {}, which nothing has written", who(), place),
                   fmt::format("write the whole tile before line {}", line(pc_)));
    const bool same_cta = by_copy(other) || other.thread() / threads_per_cta_ == thread_ / threads_per_cta_;
    if (code_.meet(pc_, other.pc(), same_cta)) return;  // whichever comes first
    const int here = line(pc_), there = line(other.pc());
    const Where where = code_.where(other.pc());
    const std::string past = this->past(other);
    const bool reads = hazard == Hazard::read_after_write || hazard == Hazard::async_after_write;
    const std::string what = fmt::format("{} {} {}", who(), reads ? "reads" : "writes", place);
    const std::string unordered =
        fmt::format("{}, which {} {}: nothing orders the two", what, past,
                    hazard != Hazard::write_after_read ? by_copy(other) ? "writes" : "wrote" : "reads");
    const bool fenceless = hazard == Hazard::missing_proxy_fence || hazard == Hazard::unfenced_overwrite ||
                           hazard == Hazard::unfenced_read;
    if (const LetThrough* wait = fenceless ? nullptr : culprit(other)) return blame(*wait, unordered);
    const Where now = code_.where(pc_);
    Fix barrier(fmt::format("k:bar_sync(0) after line {} and before line {}", there, here),
                {{insert_after(where, {"bar_sync(0)"})}, {insert_before(now, {"bar_sync(0)"})}});
    if (one_told)
        barrier = {
            fmt::format("k:bar_warp_sync() after line {}, before one lane tells of the whole warp", there),
            {{insert_after(where, {"bar_warp_sync()"})}}};
    if (program_.cluster().volume() > 1)
        barrier.remedies.push_back(
            {insert_before(now, {"barrier_cluster_arrive()", "barrier_cluster_wait()"})});
    const bool own_warp = !by_copy(other) && other.actor() == thread_ / isa::lanes;
    const Fix meeting(
        fmt::format("k:bar_warp_sync() after line {} and before line {}", there, here),
        {{insert_after(where, {"bar_warp_sync()"})}, {insert_before(now, {"bar_warp_sync()"})}});
    const std::string_view meet = own_warp || one_told ? "bar_warp_sync()" : "bar_sync(0)";
    const Fix published(
        fmt::format("k:fence_proxy_async() after line {}, then k:{} before {}", there, meet,
                    one_told ? "one lane tells of the whole warp" : fmt::format("line {}", here)),
        {{insert_after(where, {"fence_proxy_async()", std::string(meet)})}});
    const Fix fence(fmt::format("k:fence_proxy_async() after line {}, before the barrier", there),
                    {{insert_after(where, {"fence_proxy_async()"})},
                     {insert_after(where, {"fence_proxy_async()", "bar_sync(0)"})},
                     {insert_before(now, {"fence_proxy_async()"})}});
    switch (hazard) {
        case Hazard::write_after_write:
        case Hazard::read_after_write:
        case Hazard::async_after_write:
            if (other.generic() && other.actor() == copies_under_way_)
                return add("WG-GROUP-04", other.pc(), unordered,
                           fmt::format("k:cp_async_wait_all() by the threads of line {}, then k:bar_sync(0) "
                                       "before line {}",
                                       there, here),
                           {{where, "issued here"}});
            if (by_copy(other))
                return add("WG-TMA-02", other.pc(), unordered,
                           fmt::format("wait for the phase of its mbarrier before line {}", here),
                           {{where, "copied here"}});
            return add("WG-RACE-01", other.pc(), unordered,
                       hazard == Hazard::async_after_write ? published
                       : own_warp                          ? meeting
                                                           : barrier,
                       {{where, "written here by " + past}});
        case Hazard::write_after_read:
            return add("WG-RACE-01", other.pc(), unordered, own_warp ? meeting : barrier,
                       {{where, "read here by " + past}});
        case Hazard::write_under_mma:
            return add("WG-RACE-02", other.pc(),
                       fmt::format("{}, which the wgmma of warp {} may still be reading", what,
                                   other.actor() % (threads_per_cta_ / isa::lanes)),
                       Fix(fmt::format("k:wgmma_wait_group(0) after line {}, then {} before line {}", there,
                                       subject_ == Subject::copy ? "an arrival that the copy waits for"
                                                                 : "k:bar_sync(0)",
                                       here),
                           {{insert_before(now, {"wgmma_wait_group(0)", "bar_sync(0)"})},
                            {insert_before(now, {"bar_sync(0)"})},
                            {insert_after(where, {"wgmma_wait_group(0)"})}}),
                       {{where, "issued here"}});
        case Hazard::write_under_copy:
            return add(
                "WG-RACE-03", other.pc(),
                fmt::format("{}, which the bulk copy of line {} may still be reading", what, there),
                Fix(fmt::format(
                        "k:cp_async_bulk_commit_group() and k:cp_async_bulk_wait_group(0, {{read=1}}) "
                        "by the thread of line {}, then k:bar_sync(0) before line {}",
                        there, here),
                    {{insert_before(now, {"bar_sync(0)"})},
                     {insert_before(now, {bulk_wait, "bar_sync(0)"})},
                     {insert_before(now, {"cp_async_bulk_commit_group()", bulk_wait, "bar_sync(0)"})}}),
                {{where, "issued here"}});
        case Hazard::missing_proxy_fence:
        case Hazard::unfenced_overwrite:
            return add("WG-PROXY-01", other.pc(),
                       fmt::format("{} {} {}, which {} wrote through the generic proxy: no fence.proxy.async "
                                   "orders the two",
                                   who(), hazard == Hazard::missing_proxy_fence ? "reads" : "overwrites",
                                   place, past),
                       fence, {{where, "written here by " + past}});
        case Hazard::unfenced_read:
            return add("WG-PROXY-02", other.pc(),
                       fmt::format("{} overwrites {}, which {} read through the generic proxy: no "
                                   "fence.proxy.async orders the two",
                                   who(), place, past),
                       fence, {{where, "read here by " + past}});
        case Hazard::uninitialised: return;
    }
}

}  // namespace wgrun::sim
