#include "sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/peer_window.hpp"
#include "isa/wgmma.hpp"
#include "program/wait_words.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "rules/wait_words.hpp"
#include "rules/wgmma_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::sim {

Report::Report(const Program& program, const Code& code, const SimulatedLaunch& launch,
               const machine::Waits& waits)
    : program_(program),
      code_(code),
      waits_(waits),
      grid_(launch.grid),
      devices_(launch.devices),
      threads_per_cta_((program.threads() + isa::lanes - 1) / isa::lanes * isa::lanes),
      warps_(threads_per_cta_ / isa::lanes * static_cast<int>(program.cluster().volume())) {}

void Report::reset(Dim3 cluster, std::uint32_t device) {
    cluster_ = cluster;
    device_ = device;
    copies_in_flight_ = -1;
    reductions_.clear();
    seen_.clear();
    described_.clear();
    last_described_.reset();
    findings_.clear();
    reported_.clear();
    further_.clear();
    facts_.clear();
    relaxed_.clear();
    settled_ = copy_refused_ = write_refused_ = false;
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

std::string Report::cta_name(std::uint32_t rank, Dim3 cluster, std::uint32_t device) const {
    const Dim3 size = program_.cluster();
    return fmt::format("CTA ({}, {}, {}){}", cluster.x * size.x + rank % size.x,
                       cluster.y * size.y + rank / size.x % size.y,
                       cluster.z * size.z + rank / size.x / size.y,
                       devices_.count > 1 ? fmt::format(" on device {}", device) : "");
}

std::string Report::who(int thread, Dim3 cluster, std::uint32_t device) const {
    const int in_cta = thread % threads_per_cta_;
    if (grid_.volume() == 1 && devices_.count == 1) return fmt::format("thread {}", in_cta);
    const auto rank = static_cast<std::uint32_t>(thread / threads_per_cta_);
    return fmt::format("thread {} of {}", in_cta, cta_name(rank, cluster, device));
}

std::string Report::place(std::uint32_t offset, int rank) const {
    if (program_.cluster().volume() == 1) return place(offset);
    return fmt::format("{} of {}", place(offset),
                       cta_name(static_cast<std::uint32_t>(rank), cluster_, device_));
}

std::string Report::who() const {
    switch (subject_) {
        case Subject::wgmma: return "the wgmma";
        case Subject::copy: return "the bulk copy";
        default: return who(thread_);
    }
}

Report::Key Report::place_of(const Key& steps) const {
    const auto& [rule, pc, other] = steps;
    return {rule, code_.ops[pc].place, other == no_pc ? no_pc : code_.ops[other].place};
}

void Report::tell(const Key& steps, Diagnostic finding) {
    const auto same = [&](const Key& told) { return place_of(told) == place_of(steps); };
    if (std::ranges::any_of(reported_, same)) {
        further_.emplace_back(steps, std::move(finding));
        return;
    }
    reported_.push_back(steps);
    findings_.push_back(std::move(finding));
}

template <class Which>
void Report::retract(Which which) {
    std::erase_if(further_, [&](const auto& one) { return which(one.first); });
    for (std::size_t i = 0; i < reported_.size();) {
        if (!which(reported_[i])) {
            ++i;
            continue;
        }
        const Key place = place_of(reported_[i]);
        const auto next =
            std::ranges::find_if(further_, [&](const auto& one) { return place_of(one.first) == place; });
        if (next == further_.end()) {
            reported_.erase(reported_.begin() + static_cast<std::ptrdiff_t>(i));
            findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            reported_[i] = next->first;
            findings_[i++] = std::move(next->second);
            further_.erase(next);
        }
    }
}

void Report::written_too_late(std::uint32_t read) {
    retract([&](const Key& one) { return one == Key{rules::WG_MEM_04.id, read, no_pc}; });
}

void Report::retract_write_after_read(std::uint32_t write) {
    if (!follows(write, pc_)) return;
    retract([&](const Key& one) { return one == Key{rules::WG_RACE_01.id, write, pc_}; });
}

void Report::add(rules::RuleMessage message, std::uint32_t other, std::vector<Note> notes) {
    std::vector<Fact> facts = std::exchange(facts_, {});
    if (message.facts.empty()) message.facts = std::move(facts);
    const Key steps = key(message.rule.id, other);
    if (settled_ || seen(steps)) return;
    tell(steps, rules::finding(std::move(message), code_.where(pc_), std::move(notes)));
}

void Report::said(Diagnostic finding) {
    reported_.push_back(key({}, no_pc));
    findings_.push_back(std::move(finding));
}

std::string Report::warp() const { return fmt::format("warp {}", thread_ % threads_per_cta_ / isa::lanes); }

rules::RuleMessage Report::misaligned_mbarrier(std::uint64_t address) const {
    const auto offset = static_cast<std::uint32_t>(address) - SharedMemory::base;
    return wait_words::mbarrier_misaligned(program_, place(offset), offset);
}

void Report::overlapping_store(const Rule& rule, const std::string& place, int other_thread) {
    add({rule,
         fmt::format("threads {} and {} write different values to {} in one step",
                     other_thread % threads_per_cta_, thread_ % threads_per_cta_, place),
         "give each lane an address of its own, or let one lane write", FindingKind::same_step},
        pc_);
}

void Report::global_out_of_bounds(bool store, int bytes, const std::string& place) {
    add(rules::WG_MEM_01, no_pc,
        fmt::format("{} {} {} at {}", who(), store ? "stores" : "loads", count_of(bytes, "byte"), place),
        "guard the access with a predicate on the index, or make the tensor larger");
}

void Report::constant_store(int bytes, const std::string& place) {
    add(rules::WG_MEM_05, no_pc,
        fmt::format("{} stores {} at {}, a parameter that the kernel declares const", who(),
                    count_of(bytes, "byte"), place),
        "declare the parameter without const");
}

void Report::misaligned(bool store, int bytes, std::uint64_t address, int align) {
    if (store) write_refused();
    add(rules::WG_MEM_02, no_pc,
        fmt::format("{} {} {} at {:#x}, which is not a multiple of {}", who(), store ? "stores" : "loads",
                    count_of(bytes, "byte"), address, align),
        fmt::format("align the address to {}{}", count_of(align, "byte"),
                    align == bytes ? ", or use a narrower vector" : ""));
}

void Report::shared_out_of_bounds(bool store, int bytes, std::uint64_t address, const Mbarrier* into) {
    // The address is one that map_shared returns, or invalid.
    const std::uint64_t mapped = isa::window_of(address), ctas = program_.cluster().volume();
    if (mapped > ctas && mapped <= std::uint64_t{sm_90a.cluster})
        return fault(rules::outside_cluster(who(), mapped - 1, ctas));
    if (mapped != 0 && mapped <= ctas) return fault(rules::peer_as_own(who(), address));
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    const std::string does = fmt::format("{} {} {} at", who(),
                                         subject_ == Subject::copy ? "moves"
                                         : store                   ? "stores"
                                                                   : "loads",
                                         count_of(bytes, "byte"));
    const SharedBuffer* buffer =
        offset < 0 ? nullptr : wait_words::buffer_at(program_, static_cast<std::uint32_t>(offset));
    add(rules::WG_MEM_03, no_pc,
        buffer == nullptr
            ? fmt::format("{} byte {} of the shared memory, outside every buffer declared (the last ends at "
                          "{})",
                          does, offset, program_.shared_bytes())
            : fmt::format("{} {}, of which the last {} lie past the end of `{}` ({}){}", does,
                          place(static_cast<std::uint32_t>(offset)),
                          offset + bytes - buffer->offset - buffer->bytes, buffer->name,
                          count_of(buffer->bytes, "byte"),
                          into == nullptr ? "" : ", in the mbarrier " + place(*into)),
        "check the index, or declare the buffer larger");
}

void Report::local_out_of_bounds(bool store, int bytes, std::int64_t offset) {
    add(rules::WG_MEM_07, no_pc,
        fmt::format("{} {} {} at byte {} of its local memory, which has {}", who(),
                    store ? "stores" : "loads", count_of(bytes, "byte"), offset, program_.local_bytes()),
        "check the index, or declare more local memory");
}

void Report::local_unwritten(int bytes, std::int64_t offset) {
    if (write_refused_) return;
    add(rules::WG_MEM_04, no_pc,
        fmt::format("{} loads {} at byte {} of its local memory, which nothing has written", who(),
                    count_of(bytes, "byte"), offset),
        "store there before");
}

void Report::param_out_of_bounds(bool store, int bytes, std::int64_t offset, std::int64_t size) {
    if (store)
        add(rules::WG_MEM_07, no_pc,
            fmt::format("{} stores {} to the parameters, which are constant", who(), count_of(bytes, "byte")),
            "copy the value to local or shared memory first");
    else
        add(rules::WG_MEM_07, no_pc,
            fmt::format("{} loads {} at byte {} of the parameters, which have {}", who(),
                        count_of(bytes, "byte"), offset, size),
            "check the offset in the structure");
}

void Report::operand_out_of_bounds(std::uint64_t address) {
    const std::int64_t offset = static_cast<std::int64_t>(address) - SharedMemory::base;
    add(rules::WG_DESC_03, no_pc,
        fmt::format(
            "a matrix descriptor makes the wgmma read byte {} of the shared memory, outside every buffer "
            "declared (the last ends at {})",
            offset, program_.shared_bytes()),
        "check start address, LBO, SBO and swizzle: tile:descriptor() knows them");
}

void Report::unwritten_register(isa::Reg reg) {
    add(rules::WG_REG_01, no_pc,
        subject_ == Subject::wgmma ? std::string("the wgmma reads a register that nothing has written")
                                   : fmt::format("{} reads a register that nothing has written", who()),
        rules::write_before(code_.where(pc_),
                            code_.ops[pc_].step != nullptr && isa::is_accumulator(*code_.ops[pc_].step, reg)),
        {{program_.registers()[reg.id].where, "the register is made here"}});
}

namespace {

rules::MmaOperand part_of(const RegisterUse& state) {
    return state.accumulator ? rules::MmaOperand::accumulator : rules::MmaOperand::fragment;
}

}  // namespace

void Report::register_in_flight(const RegisterUse& state, bool write) {
    const Where issued = code_.where(state.mma_pc);
    add(rules::accessed_in_flight(part_of(state), write ? "written" : "read", issued, code_.where(pc_)),
        state.mma_pc, {{issued, "issued here"}});
}

void Report::wait_without_commit(const RegisterUse& state, std::uint32_t wait_pc, bool write) {
    const std::uint32_t here = std::exchange(pc_, state.mma_pc);
    add(rules::never_committed(code_.where(state.mma_pc), false), no_pc,
        {{code_.where(wait_pc), "this wait_group does not cover it"},
         {code_.where(here),
          fmt::format("{} is {} here", name_of(part_of(state)), write ? "written" : "read")}});
    pc_ = here;
}

void Report::uncommitted(std::uint32_t mma_pc) {
    pc_ = mma_pc;
    add(rules::never_committed(code_.where(mma_pc), true), no_pc);
}

void Report::left_over(const Registers::Closed& group) {
    pc_ = group.commit_pc;
    add(rules::group_at_end(warp(), code_.where(pc_), end()), no_pc,
        {{code_.where(group.mma_pc), "issued here"}});
}

void Report::copy_left_over() {
    const bool told = std::ranges::any_of(seen_, [&](const Key& one) {
        return std::get<0>(one) == rules::WG_GROUP_04.id && std::get<2>(one) == pc_;
    });
    if (told) return;
    add(rules::thread_copy_at_end("the CTA", " of " + who(), code_.where(pc_), end()), no_pc);
}

void Report::missing_fence(const RegisterUse& state, bool accumulator) {
    const bool touched = state.last == RegisterUse::touched;
    const std::uint32_t other = touched ? state.accessed - 1 : state.mma_pc;  // no_pc: nothing has
    const Where here = code_.where(pc_);
    const rules::MmaOperand part = accumulator ? rules::MmaOperand::accumulator : rules::MmaOperand::fragment;
    if (other == no_pc) return add(rules::no_fence_at_all(here), no_pc);
    add(touched ? rules::no_fence_since_access(part, here) : rules::no_fence_between(part, here), other,
        {{code_.where(other), touched ? "accessed here" : "issued here"}});
}

void Report::diverged(const isa::Instruction& op, isa::Mask active, isa::Mask all, std::uint32_t waiting) {
    std::vector<Note> notes;
    if (waiting != no_pc)
        notes.push_back({code_.where(waiting), "others look at memory here until it changes"});
    add(rules::cited(
            {rules::WG_SYNC_01,
             fmt::format("{} is executed by {} of the {} of warp {}: all must execute it together", op.name,
                         std::popcount(active), count_of(std::popcount(all), "lane"),
                         thread_ % threads_per_cta_ / isa::lanes),
             waiting == no_pc
                 ? "move it out of the divergent branch, or make the condition the same for the whole warp"
                 : fmt::format(
                       "write what {} looks for before, by somebody who does not wait for these lanes",
                       line(waiting))},
            op.section),
        no_pc, std::move(notes));
}

void Report::parted(const machine::Together::Apart& apart) {
    if (std::ranges::any_of(findings_, [](const Diagnostic& f) { return breaks(f, rules::WG_SYNC_01); }))
        return;
    // The first of two places in the code, whichever is executed first.
    const auto [here, there] = std::minmax(apart.pc, apart.theirs);
    const std::string_view name = code_.ops[here].step->op->name;
    const int first =
        thread_ % threads_per_cta_ / isa::lanes / machine::Together::warps * machine::Together::warps;
    const std::string group =
        fmt::format("{} is executed by some warps of the warpgroup of warps {} to {}, and ", name, first,
                    first + machine::Together::warps - 1);
    std::vector<Note> notes;
    if (here != there)
        notes.push_back({code_.where(there), fmt::format("{} here", code_.ops[there].step->op->name)});
    pc_ = here;
    add(rules::cited(
            {rules::WG_SYNC_01,
             here == there ? fmt::format("{}warp {} ends without it: all must execute it together", group,
                                         first + apart.other)
                           : group + "others execute another step: all must execute the same together",
             std::string(wait_words::whole_warpgroup)},
            code_.ops[here].step->op->section),
        no_pc, std::move(notes));
    settled_ = true;
}

void Report::too_many_turns(std::uint64_t turns) { add(rules::too_many_turns(warp(), turns), no_pc); }

void Report::endless_loop() {
    add(rules::WG_SYNC_07, no_pc,
        fmt::format(
            "{} goes round this loop without an end: its registers are what they were, and it looks at "
            "nothing else",
            warp()),
        "let the body change what the condition looks at");
}

void Report::no_warpgroup(const isa::Instruction& op, int threads) {
    add(rules::cited(rules::no_whole_warpgroup(op.name, threads), op.section), no_pc);
}

void Report::refused(Diagnostic finding) {
    const Rule* rule = find_rule(finding.rule);
    const Key steps = key(rule == nullptr ? "refused" : rule->id, no_pc);
    if (settled_ || seen(steps)) return;
    finding.where = code_.where(pc_);
    tell(steps, std::move(finding));
}

}  // namespace wgrun::sim
