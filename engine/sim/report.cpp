#include "sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "program/end.hpp"

namespace wgrun::sim {

Report::Report(const Program& program, const Code& code, Dim3 grid)
    : program_(program),
      code_(code),
      grid_(grid),
      threads_per_cta_((program.threads() + isa::lanes - 1) / isa::lanes * isa::lanes),
      warps_(threads_per_cta_ / isa::lanes * static_cast<int>(program.cluster().volume())) {}

void Report::reset(Dim3 cluster) {
    cluster_ = cluster;
    copies_under_way_ = -1;
    seen_.clear();
    findings_.clear();
    let_through_.assign(static_cast<std::size_t>(warps_), {});
    suspects_.clear();
    settled_ = false;
}

void Report::at(std::uint32_t pc, int thread, Subject subject) {
    pc_ = pc;
    thread_ = thread;
    subject_ = subject;
}

Dim3 cluster_position(Dim3 grid, Dim3 size, std::uint64_t index) {
    const std::uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
    return {static_cast<std::uint32_t>(index % columns), static_cast<std::uint32_t>(index / columns % rows),
            static_cast<std::uint32_t>(index / columns / rows)};
}

std::string Report::who(int thread, Dim3 cluster) const {
    const int in_cta = thread % threads_per_cta_;
    if (grid_.volume() == 1) return fmt::format("thread {}", in_cta);
    const auto rank = static_cast<std::uint32_t>(thread / threads_per_cta_);
    const Dim3 size = program_.cluster();
    return fmt::format("thread {} of CTA ({}, {}, {})", in_cta, cluster.x * size.x + rank % size.x,
                       cluster.y * size.y + rank / size.x % size.y,
                       cluster.z * size.z + rank / size.x / size.y);
}

std::string Report::who() const {
    switch (subject_) {
        case Subject::wgmma: return "the wgmma";
        case Subject::copy: return "the bulk copy";
        default: return who(thread_);
    }
}

Report::Key Report::key(std::string_view rule, std::uint32_t other) const {
    return {rule, code_.ops[pc_].place, other == no_pc ? no_pc : code_.ops[other].place};
}

bool Report::seen(std::string_view rule, std::uint32_t other) {
    return !seen_.insert(key(rule, other)).second;
}

void Report::add(std::string_view rule, std::uint32_t other, std::string message, Fix fix,
                 std::vector<Note> notes) {
    if (settled_ || seen(rule, other)) return;
    Diagnostic finding;
    finding.rule = rule;
    finding.where = code_.where(pc_);
    finding.message = std::move(message);
    finding.fix = std::move(fix.text);
    finding.remedies = std::move(fix.remedies);
    finding.notes = std::move(notes);
    findings_.push_back(std::move(finding));
}

void Report::overlapping_store(std::string_view rule, const std::string& place, int other_thread) {
    add(rule, pc_,
        fmt::format("threads {} and {} write different values to {} in one step",
                    other_thread % threads_per_cta_, thread_ % threads_per_cta_, place),
        "give each lane an address of its own, or let one lane write");
}

void Report::global_out_of_bounds(bool store, int bytes, const std::string& place) {
    add("WG-MEM-01", no_pc,
        fmt::format("{} {} {} bytes at {}", who(), store ? "stores" : "loads", bytes, place),
        "guard the access with a predicate on the index, or make the tensor larger");
}

void Report::constant_store(int bytes, const std::string& place) {
    add("WG-MEM-05", no_pc,
        fmt::format("{} stores {} bytes at {}, a parameter that the kernel declares const", who(), bytes,
                    place),
        "declare the parameter without const");
}

void Report::misaligned(bool store, int bytes, std::uint64_t address) {
    add("WG-MEM-02", no_pc,
        fmt::format("{} {} {} bytes at {:#x}, which is not a multiple of {}", who(),
                    store ? "stores" : "loads", bytes, address, bytes),
        fmt::format("align the address to {} bytes, or use a narrower vector", bytes));
}

void Report::shared_out_of_bounds(bool store, int bytes, std::uint64_t address) {
    // What map_shared gives, or nonsense.
    const std::uint64_t mapped = address >> 24, ctas = program_.cluster().volume();
    if (mapped > ctas && mapped <= 16)
        return fault(Fault::peer, fmt::format("{} accesses shared memory of rank {} of a cluster of {} CTAs",
                                              who(), mapped - 1, ctas));
    if (mapped != 0 && mapped <= ctas)
        return fault(
            Fault::peer,
            fmt::format("{} accesses {:#x}, an address of the cluster's shared memory, as one of its "
                        "own CTA",
                        who(), address));
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    add("WG-MEM-03", no_pc,
        fmt::format(
            "{} {} {} bytes at byte {} of the shared memory, outside every buffer declared (the last ends "
            "at {})",
            who(),
            subject_ == Subject::copy ? "moves"
            : store                   ? "stores"
                                      : "loads",
            bytes, offset, program_.shared_bytes()),
        "check the index, or declare the buffer larger");
}

void Report::operand_out_of_bounds(std::uint64_t address) {
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    add("WG-DESC-03", no_pc,
        fmt::format(
            "a matrix descriptor makes the wgmma read byte {} of the shared memory, outside every buffer "
            "declared (the last ends at {})",
            offset, program_.shared_bytes()),
        "check start address, LBO, SBO and swizzle: tile:descriptor() knows them");
}

void Report::unwritten_register(isa::Reg reg) {
    add("WG-REG-01", no_pc,
        subject_ == Subject::wgmma ? std::string("the wgmma reads a register that nothing has written")
                                   : fmt::format("{} reads a register that nothing has written", who()),
        fmt::format("write it on every path before line {}", line(pc_)),
        {{program_.registers()[reg.id].where, "the register is made here"}});
}

void Report::register_in_flight(const RegisterState& state, bool write) {
    add("WG-GROUP-01", state.mma_pc,
        fmt::format("{} is {} while its wgmma may still run",
                    state.accumulator ? "an accumulator" : "a register of an A fragment",
                    write ? "written" : "read"),
        std::vector<Remedy>{{insert_after(code_.where(state.mma_pc), {"wgmma_commit_group()"}),
                             insert_before(code_.where(pc_), {"wgmma_wait_group(0)"})},
                            {insert_before(code_.where(pc_), {"wgmma_wait_group(0)"})}},
        {{code_.where(state.mma_pc), "issued here"}});
}

void Report::waited_in_vain(const RegisterState& state, std::uint32_t wait_pc, bool write) {
    const std::uint32_t here = std::exchange(pc_, state.mma_pc);
    add("WG-GROUP-02", no_pc, "the wgmma is never committed to a wgmma-group, so no wait_group covers it",
        std::vector<Remedy>{{insert_after(code_.where(state.mma_pc), {"wgmma_commit_group()"})}},
        {{code_.where(wait_pc), "this wait_group does not cover it"},
         {code_.where(here),
          fmt::format("{} is {} here", state.accumulator ? "an accumulator" : "a register of the A fragment",
                      write ? "written" : "read")}});
    pc_ = here;
}

void Report::uncommitted(std::uint32_t mma_pc) {
    pc_ = mma_pc;
    add("WG-GROUP-02", no_pc, "the kernel ends and no wgmma.commit_group has closed this wgmma",
        std::vector<Remedy>{
            {insert_after(code_.where(mma_pc), {"wgmma_commit_group()", "wgmma_wait_group(0)"})}});
}

void Report::left_over(const Registers::Group& group) {
    pc_ = group.commit_pc;
    add("WG-GROUP-05", no_pc,
        fmt::format("warp {} ends, and no wgmma.wait_group has waited for this wgmma-group",
                    thread_ % threads_per_cta_ / isa::lanes),
        Fix("k:wgmma_wait_group(0) before the kernel ends",
            {{insert_after(end_of(program_), {"wgmma_wait_group(0)"})},
             {insert_after(code_.where(pc_), {"wgmma_wait_group(0)"})}}),
        {{code_.where(group.mma_pc), "issued here"}});
}

void Report::copy_left_over() {
    const std::uint32_t copy = code_.ops[pc_].place;
    const bool told = std::ranges::any_of(seen_, [&](const auto& finding) {
        return std::get<0>(finding) == "WG-GROUP-04" && std::get<2>(finding) == copy;
    });
    if (told) return;
    add("WG-GROUP-06", no_pc,
        fmt::format("the CTA ends, and nothing has waited for this cp.async of {}", who()),
        Fix("k:cp_async_wait_all() before the kernel ends",
            {{insert_after(end_of(program_), {"cp_async_wait_all()"})},
             {insert_after(code_.where(pc_), {"cp_async_wait_all()"})}}));
}

void Report::missing_fence(const RegisterState& state, bool accumulator) {
    const std::uint32_t other = state.last == RegisterState::touched ? state.pc : state.mma_pc;
    const Fix fix(std::vector<Remedy>{{insert_before(code_.where(pc_), {"wgmma_fence()"})}});
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
                    std::popcount(active), std::popcount(all), thread_ % threads_per_cta_ / isa::lanes),
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

void Report::refused(Diagnostic finding) {
    if (settled_ || seen("refused", no_pc)) return;
    finding.where = code_.where(pc_);
    findings_.push_back(std::move(finding));
}

}  // namespace wgrun::sim
