// What steps do besides accessing their registers: WG-FENCE, WG-GROUP, WG-PROXY, WG-RACE.
#include <fmt/format.h>

#include <algorithm>

#include "check/walker.hpp"
#include "isa/generic.hpp"
#include "program/end.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"

namespace wgrun::check {

std::string Walker::buffer_name(int cell) const {
    return program_.shared()[static_cast<std::size_t>(cells_.buffer_of(cell))].name;
}

// --- what threads do to shared memory ------------------------------------------------------------------

void Walker::memory(const isa::MemoryAccess& access) {
    if (remarks_ != nullptr) bank_conflicts(access);
    if (!access.write) reads_memory_ = true;
    if (access.space == isa::Space::global || access.space == isa::Space::local) return;
    if (access.write) note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    if (!access.write) {
        copied(region, step_->op->name, "");
        return;
    }
    overwritten(region);
    state_.write(*step_, region, Fact::always());
}

/// Notes which buffers may be written through this address.
void Walker::note_stored(const Operand& address) {
    int buffer = value_of(address).buffer;
    if (address.reg && state_.values[address.reg.id].origin >= 0)
        buffer = state_.values[address.reg.id].origin;
    if (buffer >= 0)
        stored_[static_cast<std::size_t>(buffer)] = true;
    else
        stored_.assign(stored_.size(), true);
}

void Walker::copy_async(const isa::MemoryAccess& access) {
    note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    overwritten(region);
    state_.copy(*step_, region);
}

void Walker::commit_copies() { state_.commit_copies(); }
void Walker::wait_copies(std::optional<int> pending) { state_.wait_copies(pending); }

// Threads that wait for the mbarrier see the copies; whether the right threads wait is left to the simulator.
void Walker::arrive_copies(const Operand&) { state_.wait_copies(std::nullopt); }

/// Reports a read of bytes that a cp.async may still write: WG-GROUP-04. Returns whether it did.
bool Walker::copied(const Region& region, std::string_view who, std::string_view fence) {
    if (region.cell < 0) return false;
    // If a part of the buffer has been filled, the read may be of that part.
    if (state_.cells[static_cast<std::size_t>(region.cell)].arrived) return false;
    for (CopyFlight& flight : state_.copies) {
        if (!holds(flight.pending) || !flight.region.overlaps(region)) continue;
        findings_.add(
            rules::WG_GROUP_04, step_->where,
            fmt::format("{} reads `{}` while a cp.async may still bring it", who, buffer_name(region.cell)),
            fmt::format("k:cp_async_wait_{}{} and k:bar_sync(0) {}",
                        flight.age == Grouped::uncommitted ? "all()" : fmt::format("group({})", flight.age),
                        fence, before(step_->where)),
            {{flight.step->where, "issued here"}});
        flight.pending = {};
        return true;
    }
    return false;
}

/// Returns the bytes of shared memory that the threads access.
Region Walker::accessed(const isa::MemoryAccess& access) const {
    const Operand& operand = *access.address;
    const isa::Value address = value_of(operand);
    if (operand.reg) {
        const Known& base = state_.values[operand.reg.id];
        if (base.origin >= 0 && base.exact.known()) {
            auto [least, greatest] = base.exact.range();
            if (access.space == isa::Space::generic)
                for (std::int64_t* at : {&least, &greatest})
                    *at = static_cast<std::int64_t>(isa::within_space(static_cast<std::uint64_t>(*at)));
            return cells_.access(base.origin, least + operand.offset,
                                 greatest + operand.offset + access.bytes, least == greatest);
        }
    }
    if (address.is_descriptor || address.buffer < 0) return {};
    if (!address.offset) return cells_.somewhere(address.buffer);
    return cells_.access(address.buffer, *address.offset, *address.offset + access.bytes, true);
}

namespace {
/// Returns the calls that wait for `flight`, after a commit_group if there is none.
template <class... Calls>
std::vector<Remedy> mended_before(Where here, const Flight& flight, Calls... wait) {
    std::vector<Phrase> calls;
    if (flight.age == Flight::uncommitted) calls.push_back(rules::wgmma_commit_group());
    (calls.push_back(std::move(wait)), ...);
    return {{insert_before(here, std::move(calls))}};
}
}  // namespace

/// Reports a write to memory that a wgmma may still read.
void Walker::overwritten(const Region& region) {
    for (const Flight& flight : state_.flights) {
        const bool b = flight.b.overlaps(region);
        if (!b && !flight.a.overlaps(region)) continue;
        const std::string name = buffer_name(region.cell);
        const Where here = step_->where;
        if (holds(flight.pending)) {
            const int pending = std::max(flight.age, 0);
            findings_.add(rules::WG_RACE_02, here,
                          fmt::format("`{}` is written while a wgmma may still read it as operand {}", name,
                                      b ? 'B' : 'A'),
                          mended_before(here, flight, rules::wgmma_wait_group(pending), rules::bar_sync()),
                          {{flight.mma->where, "issued here"}});
            assume_waited(flight);
        } else if (b && holds(flight.retired)) {
            // The wait covers its own warpgroup's reads. Others read their own rows of A, but the same B.
            findings_.add(
                rules::WG_RACE_02, here,
                fmt::format("`{}` is written while the wgmma of another warpgroup may still read it: "
                            "wgmma.wait_group waits for the warpgroup that executes it",
                            name),
                std::vector<Remedy>{{insert_before(here, {rules::bar_sync()})}},
                {{flight.mma->where, "issued here"}});
        } else {
            continue;
        }
        for (Flight& other : state_.flights) other.retired = {};
        return;
    }
}

void Walker::proxy_fence(std::optional<isa::Space> space) {
    if (!space || *space != isa::Space::global) state_.fence_proxies();
    state_.proxy_fence = step_;
}

// Arrivals are not attributed to threads: whether the right threads arrive is left to the simulator.
void Walker::await_arrivals() {
    state_.barrier();
    meets_others_ = false;
}

// --- wgmma ---------------------------------------------------------------------------------------------

namespace {

/// Calls visit(register, its part in the wgmma), accumulators first.
template <class Visit>
void for_each_register(const isa::AsyncMma& mma, Visit visit) {
    for (Reg reg : *mma.accumulators) visit(reg, Part::accumulator);
    if (mma.a_fragment)
        for (Reg reg : *mma.a_fragment) visit(reg, Part::fragment);
    if (mma.metadata) visit(mma.metadata->reg, Part::metadata);
}

std::string_view used_as(Part part) {
    switch (part) {
        case Part::accumulator: return "used as an accumulator";
        case Part::fragment: return "read as a fragment of A";
        default: return "read as metadata";
    }
}

}  // namespace

void Walker::order_registers() {
    state_.order_registers();
    meets_others_ = false;
}

void Walker::commit_mma() {
    state_.commit(*step_);
    meets_others_ = false;
}

void Walker::wait_mma(int pending) {
    constexpr int most = 7;
    if (pending > most)
        findings_.add(rules::WG_GROUP_03, step_->where,
                      fmt::format("wait_group {} waits as wait_group {} does: the hardware counts to {}",
                                  pending, most, most),
                      fmt::format("k:wgmma_wait_group({})", most));
    drained(pending);
    state_.wait(*step_, std::min(pending, most), program_.threads() > 128 && !in_role());
}

/// Reports what is pending at the end of the kernel, after line `end`: WG-GROUP-02, -05 and -06.
void Walker::left_over(Where end) {
    for (const Flight& flight : state_.flights) {
        if (!holds(flight.pending)) continue;
        if (flight.age == Flight::uncommitted) {
            uncommitted(flight, flight.waited == nullptr, {});
            continue;
        }
        const Where committed = flight.committed->where;
        findings_.add(rules::group_at_end("the kernel", committed, end), committed,
                      {{flight.mma->where, "issued here"}});
    }
    for (const CopyFlight& flight : state_.copies)
        if (holds(flight.pending))
            findings_.add(rules::thread_copy_at_end("the kernel", "", flight.step->where, end),
                          flight.step->where);
}

void Walker::issue_mma(const isa::AsyncMma& mma) {
    const auto known = [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::reg) return state_.values[operand.reg.id];
        Known immediate;
        immediate.exact = operand.imm;
        return immediate;
    };
    Flight flight;
    flight.mma = step_;
    flight.shape = mma.same_shape_key;
    flight.pending = Fact::always();
    // Threads that do not get here count too: a value of theirs that differs within a warpgroup is no
    // accident.
    const auto common = [&](const Operand& operand, std::string_view name) {
        const Exact& exact = known(operand).exact;
        if (!exact.known() || exact.spread() >= isa::Uniform::warpgroup) return;
        findings_.add(rules::WG_DESC_05, step_->where,
                      fmt::format("{} is the same in each {}, but not in the warpgroup", name,
                                  to_string(exact.spread())),
                      "make it of values that are the same in the whole warpgroup");
    };
    if (mma.a_descriptor) common(*mma.a_descriptor, "the descriptor of A");
    common(*mma.b_descriptor, "the descriptor of B");
    common(step_->operands.back(), "scale-d");
    if (mma.a_descriptor) flight.a = matrix_(*step_, Matrix::a(mma), known(*mma.a_descriptor));
    flight.b = matrix_(*step_, Matrix::b(mma), known(*mma.b_descriptor));
    drained_for(mma);
    mma_registers(mma);
    mma_fence(mma);
    mma_memory(flight.a, flight.b);

    for_each_register(mma, [&](Reg reg, Part part) {
        RegisterState& state = state_.registers.at(static_cast<std::size_t>(plan_.slots[reg.id]));
        state.touched = {};
        if (part != Part::accumulator) return;
        state.used = {RegisterState::Use{Fact::always(), mma.same_shape_key, step_}, {}};
    });
    const auto same = std::find_if(state_.flights.begin(), state_.flights.end(),
                                   [&](const Flight& other) { return other.same_place(flight); });
    if (same == state_.flights.end()) {
        state_.flights.push_back(flight);
    } else {
        flight.retired = same->retired;
        *same = flight;
    }
}

/// Returns whether the wgmma certainly reads its accumulators: not if scale-d is an unknown predicate.
bool Walker::surely_reads_accumulators(const isa::AsyncMma& mma) const {
    if (!mma.reads_accumulators) return false;
    return std::none_of(step_->operands.begin(), step_->operands.end(), [&](const Operand& operand) {
        if (operand.kind != Operand::Kind::reg) return false;
        return program_.registers()[operand.reg.id].type == isa::Type::pred &&
               state_.values[operand.reg.id].constant() != 1 - (operand.negated ? 1 : 0);
    });
}

/// Reports registers that nothing has written, or that another wgmma still uses.
void Walker::mma_registers(const isa::AsyncMma& mma) {
    const bool reads_accumulators = surely_reads_accumulators(mma);
    for_each_register(mma, [&](Reg reg, Part part) {
        if (part != Part::accumulator || reads_accumulators) read(reg, step_->where);
    });
    // Successive wgmma may share accumulators, and several may read the same sources.
    const MmaRegisters& mine = plan_.mmas.at(step_);
    const Flight* flight = pending([&](const MmaRegisters& other) {
        return other.accumulators.meets(mine.sources) || mine.accumulators.meets(other.sources);
    });
    if (!flight) return;
    bool found = false;
    for_each_register(mma, [&](Reg reg, Part part) {
        const std::optional<Part> theirs = plan_.mmas.at(flight->mma).part(plan_.slots[reg.id]);
        if (found || !theirs || (*theirs == Part::accumulator) == (part == Part::accumulator)) return;
        found = true;
        overtaken(*flight, *theirs, used_as(part));
    });
}

/// Reports registers that no wgmma.fence orders: WG-FENCE-01.
void Walker::mma_fence(const isa::AsyncMma& mma) {
    const Where here = step_->where;
    const auto report = [&](rules::Saying saying, std::vector<Note> notes) {
        findings_.add(std::move(saying), here, std::move(notes));
        state_.order_registers();
    };
    if (holds(state_.unfenced)) return report(rules::no_fence_at_all(here), {});
    bool reported = false;
    for_each_register(mma, [&](Reg reg, Part part) {
        // The ISA names accumulators and fragments of A; metadata need no fence on the chip either
        // (docs/silicon.md).
        if (reported || part == Part::metadata) return;
        const RegisterState state = state_.registers[static_cast<std::size_t>(plan_.slots[reg.id])];
        const bool source = part != Part::accumulator;
        if (holds(state.touched)) {
            report(rules::no_fence_since_access(part, here), {{state.touched_by->where, "accessed here"}});
            reported = true;
            return;
        }
        for (const RegisterState::Use& use : state.used) {
            if (reported || !holds(use.fact) || (!source && use.shape == mma.same_shape_key)) continue;
            report(rules::no_fence_between(part, here), {{use.mma->where, "issued here"}});
            reported = true;
        }
    });
}

/// Reports matrices that are not yet visible to the wgmma that reads them: WG-PROXY-01 and WG-RACE-01.
void Walker::mma_memory(const Region& a, const Region& b) {
    const auto check = [&](const Rule& rule, const Region& region, CellState::Write CellState::*second,
                           const std::string& lacks, auto fix) {
        if (region.cell < 0) return false;
        const CellState& cell = state_.cells[static_cast<std::size_t>(region.cell)];
        for (const CellState::Write* write : {&cell.raw, &(cell.*second)}) {
            if (!holds(write->fact) || !write->region.overlaps(region)) continue;
            std::vector<Note> notes{{write->step->where, "written here"}};
            if (&rule == &rules::WG_PROXY_01 && state_.proxy_fence)
                notes.push_back({state_.proxy_fence->where, "this fence.proxy.async does not order it"});
            findings_.add(
                rule, step_->where,
                fmt::format("the wgmma reads `{}`, which was written {}", buffer_name(region.cell), lacks),
                fix(*write), std::move(notes));
            return true;
        }
        return false;
    };
    const Where here = step_->where;
    const auto fence = [&](const CellState::Write& write) {
        return rules::proxy_fence_between(write.step->where, here);
    };
    const auto barrier = [&](const CellState::Write& write) {
        return rules::barrier_between(write.step->where, here);
    };
    const std::string through = "through the generic proxy with no fence.proxy.async since";
    const std::string by_others = "by other warps with no barrier since";
    for (const Region& region : {a, b})
        if (copied(region, "the wgmma", ", k:fence_proxy_async()")) return;
    bool unfenced = check(rules::WG_PROXY_01, a, &CellState::ordered, through, fence);
    unfenced |= check(rules::WG_PROXY_01, b, &CellState::ordered, through, fence);
    // All four warps read B, but only their own rows of A, which may be written without a barrier.
    const bool unordered = check(rules::WG_RACE_01, b, &CellState::fenced, by_others, barrier);
    if (unfenced) state_.fence_proxies();
    if (unordered) state_.barrier();
}

}  // namespace wgrun::check
