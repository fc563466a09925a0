#include "sim/report.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace wgrun::sim {

Report::Report(const Program& program, const Code& code, const SharedMemory& shared, Dim3 grid)
    : program_(program), code_(code), shared_(shared), grid_(grid) {}

void Report::reset(Dim3 cta) {
    cta_ = cta;
    seen_.clear();
    findings_.clear();
}

void Report::at(std::uint32_t pc, int thread, bool warpgroup) {
    pc_ = pc;
    thread_ = thread;
    warpgroup_ = warpgroup;
}

std::string Report::who(int thread) const {
    if (grid_.volume() == 1) return fmt::format("thread {}", thread);
    return fmt::format("thread {} of CTA ({}, {}, {})", thread, cta_.x, cta_.y, cta_.z);
}

std::string Report::who() const { return warpgroup_ ? "the wgmma" : who(thread_); }

bool Report::seen(std::string_view rule, std::uint32_t other) {
    return !seen_.emplace(rule, code_.ops[pc_].place, other == no_pc ? no_pc : code_.ops[other].place).second;
}

void Report::add(std::string_view rule, std::uint32_t other, std::string message, std::string fix,
                 std::vector<Note> notes) {
    if (seen(rule, other)) return;
    Diagnostic finding;
    finding.rule = rule;
    finding.where = code_.where(pc_);
    finding.message = std::move(message);
    finding.fix = std::move(fix);
    finding.notes = std::move(notes);
    findings_.push_back(std::move(finding));
}

void Report::hazard(Hazard hazard, std::uint32_t offset, Epoch other) {
    const std::string place = shared_.describe(offset);
    if (hazard == Hazard::uninitialised)
        return add("WG-MEM-04", no_pc, fmt::format("{} reads {}, which nothing has written", who(), place),
                   fmt::format("write the whole tile before line {}", line(pc_)));
    const auto atomic = [&](std::uint32_t pc) {
        const isa::Step* step = code_.ops[pc].step;
        return step != nullptr && step->op->atomic;
    };
    if (atomic(pc_) && atomic(other.pc())) return;  // whichever comes first
    const int here = line(pc_), there = line(other.pc());
    const Where where = code_.where(other.pc());
    const std::string past = fmt::format("thread {}", other.thread());
    const std::string barrier = fmt::format("k:bar_sync(0) after line {} and before line {}", there, here);
    switch (hazard) {
        case Hazard::write_after_write:
            return add(
                "WG-RACE-01", other.pc(),
                fmt::format("{} writes {}, which {} wrote: nothing orders the two", who(), place, past),
                barrier, {{where, "written here by " + past}});
        case Hazard::write_after_read:
            return add(
                "WG-RACE-01", other.pc(),
                fmt::format("{} writes {}, which {} reads: nothing orders the two", who(), place, past),
                barrier, {{where, "read here by " + past}});
        case Hazard::read_after_write:
            return add("WG-RACE-01", other.pc(),
                       fmt::format("{} reads {}, which {} wrote: nothing orders the two", who(), place, past),
                       barrier, {{where, "written here by " + past}});
        case Hazard::mma_after_write:
            return add("WG-RACE-01", other.pc(),
                       fmt::format("{} reads {}, which {} wrote: nothing orders the two", who(), place, past),
                       fmt::format("k:fence_proxy_async() after line {}, then k:bar_sync(0) before line {}",
                                   there, here),
                       {{where, "written here by " + past}});
        case Hazard::write_under_mma:
            return add("WG-RACE-02", other.pc(),
                       fmt::format("{} writes {}, which the wgmma of warp {} may still be reading", who(),
                                   place, other.warp()),
                       fmt::format("k:wgmma_wait_group(0) after line {}, then k:bar_sync(0) before line {}",
                                   there, here),
                       {{where, "issued here"}});
        case Hazard::missing_proxy_fence:
            return add(
                "WG-PROXY-01", other.pc(),
                fmt::format("{} reads {}, which {} wrote through the generic proxy: no fence.proxy.async "
                            "orders the two",
                            who(), place, past),
                fmt::format("k:fence_proxy_async() after line {}, before the barrier", there),
                {{where, "written here by " + past}});
        case Hazard::uninitialised: return;
    }
}

void Report::overlapping_store(std::uint32_t offset, int other_thread) {
    add("WG-RACE-01", pc_,
        fmt::format("threads {} and {} write different values to {} in one step", other_thread, thread_,
                    shared_.describe(offset)),
        "give each lane an address of its own, or let one lane write");
}

void Report::global_out_of_bounds(bool store, int bytes, const std::string& place) {
    add("WG-MEM-01", no_pc,
        fmt::format("{} {} {} bytes at {}", who(), store ? "stores" : "loads", bytes, place),
        "guard the access with a predicate on the index, or make the tensor larger");
}

void Report::misaligned(bool store, int bytes, std::uint64_t address) {
    add("WG-MEM-02", no_pc,
        fmt::format("{} {} {} bytes at {:#x}, which is not a multiple of {}", who(),
                    store ? "stores" : "loads", bytes, address, bytes),
        fmt::format("align the address to {} bytes, or use a narrower vector", bytes));
}

void Report::shared_out_of_bounds(bool store, int bytes, std::uint64_t address) {
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    add("WG-MEM-03", no_pc,
        fmt::format(
            "{} {} {} bytes at byte {} of the shared memory, outside every buffer declared (the last ends "
            "at {})",
            who(), store ? "stores" : "loads", bytes, offset, shared_.bytes()),
        "check the index, or declare the buffer larger");
}

void Report::operand_out_of_bounds(std::uint64_t address) {
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    add("WG-DESC-03", no_pc,
        fmt::format(
            "a matrix descriptor makes the wgmma read byte {} of the shared memory, outside every buffer "
            "declared (the last ends at {})",
            offset, shared_.bytes()),
        "check start address, LBO, SBO and swizzle: tile:descriptor() knows them");
}

void Report::unwritten_register(isa::Reg reg) {
    add("WG-REG-01", no_pc,
        warpgroup_ ? std::string("the wgmma reads a register that nothing has written")
                   : fmt::format("{} reads a register that nothing has written", who()),
        fmt::format("write it on every path before line {}", line(pc_)),
        {{program_.registers()[reg.id].where, "the register is made here"}});
}

void Report::register_in_flight(const RegisterState& state, bool write) {
    add("WG-GROUP-01", state.mma_pc,
        fmt::format("{} is {} while its wgmma may still run",
                    state.accumulator ? "an accumulator" : "a register of an A fragment",
                    write ? "written" : "read"),
        fmt::format("k:wgmma_commit_group() after line {}, k:wgmma_wait_group(0) before line {}",
                    line(state.mma_pc), line(pc_)),
        {{code_.where(state.mma_pc), "issued here"}});
}

void Report::waited_in_vain(const RegisterState& state, std::uint32_t wait_pc, bool write) {
    const std::uint32_t here = std::exchange(pc_, state.mma_pc);
    add("WG-GROUP-02", no_pc, "the wgmma is never committed to a wgmma-group, so no wait_group covers it",
        fmt::format("k:wgmma_commit_group() after line {}", line(state.mma_pc)),
        {{code_.where(wait_pc), "this wait_group does not cover it"},
         {code_.where(here),
          fmt::format("{} is {} here", state.accumulator ? "an accumulator" : "a register of the A fragment",
                      write ? "written" : "read")}});
    pc_ = here;
}

void Report::uncommitted(std::uint32_t mma_pc) {
    pc_ = mma_pc;
    add("WG-GROUP-02", no_pc, "the kernel ends and no wgmma.commit_group has closed this wgmma",
        fmt::format("k:wgmma_commit_group() and k:wgmma_wait_group(0) after line {}", line(mma_pc)));
}

void Report::missing_fence(const RegisterState& state, bool accumulator) {
    const std::uint32_t other = state.last == RegisterState::touched ? state.pc : state.mma_pc;
    const std::string fix = fmt::format("k:wgmma_fence() before line {}", line(pc_));
    if (other == no_pc)
        return add("WG-FENCE-01", no_pc, "no wgmma.fence precedes the first wgmma of the warp", fix);
    add("WG-FENCE-01", other,
        fmt::format("{} of this wgmma was accessed with no wgmma.fence since",
                    accumulator ? "an accumulator" : "a register of the A fragment"),
        fix, {{code_.where(other), "accessed here"}});
}

void Report::diverged(const isa::Instruction& op, isa::Mask active, isa::Mask all) {
    add("WG-SYNC-01", no_pc,
        fmt::format("{} is executed by {} of the {} lanes of warp {}: all must execute it together", op.name,
                    std::popcount(active), std::popcount(all), thread_ / isa::lanes),
        "move it out of the divergent branch, or make the condition the same for the whole warp");
}

void Report::no_warpgroup(const isa::Instruction& op, int threads) {
    add("WG-SYNC-03", no_pc,
        fmt::format("{} needs a warpgroup of four whole warps; the CTA has {} threads", op.name, threads),
        "make the number of threads a multiple of 128");
}

void Report::bad_barrier(const std::string& message) {
    add("WG-SYNC-02", no_pc, message,
        "barriers are 0 to 15; all who meet at one name the same number of threads");
}

void Report::deadlock(std::uint32_t pc, std::string message, std::vector<Note> notes) {
    pc_ = pc;
    add("WG-SYNC-02", no_pc, std::move(message),
        "let every warp that a barrier counts reach it, or give its count with threads =", std::move(notes));
}

void Report::refused(Diagnostic finding) {
    if (seen("refused", no_pc)) return;
    finding.where = code_.where(pc_);
    findings_.push_back(std::move(finding));
}

}  // namespace wgrun::sim
