// The machine that the `run` functions of records use: registers, memories, barriers and wgmma. Each access
// is checked.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "rules/barrier_words.hpp"
#include "sim/access.hpp"

namespace wgrun::sim {

using isa::lanes;

Cluster::Cluster(const Program& program, const Code& code, const Launch& launch, Turns& turns,
                 Allowance& allowance)
    : program_(program),
      code_(code),
      launch_(launch),
      allowance_(allowance),
      turns_(turns),
      warps_per_cta_((program.threads() + lanes - 1) / lanes),
      entry_registers_(sm_90a.registers_at_entry(program.threads())),
      global_(program, launch),
      report_(program, code, launch.grid, waits_),
      messages_(program, launch.grid, message_capacity(program)),
      global_shadow_(program, launch, warps_per_cta_ * static_cast<int>(program.cluster().volume()), *this),
      clocks_(warps_per_cta_ * static_cast<int>(program.cluster().volume()), warps_per_cta_),
      handoffs_(clocks_, warps_per_cta_),
      warps_(static_cast<std::size_t>(clocks_.warps()), Warp(code)) {
    const auto ctas = static_cast<int>(program.cluster().volume());
    ctas_.reserve(static_cast<std::size_t>(ctas));
    for (int rank = 0; rank < ctas; ++rank)
        ctas_.emplace_back(program, Shadow::Warps{clocks_.warps(), rank * warps_per_cta_, warps_per_cta_},
                           launch.detect_races, report_);
}

// --- registers -----------------------------------------------------------------------------------------

void Cluster::in_flight(Registers& registers, const RegisterState& state, bool write) {
    if (const std::uint32_t wait = registers.waited_in_vain(state); wait != no_pc)
        report_.waited_in_vain(state, wait, write);
    else
        report_.register_in_flight(state, write);
    registers.assume_waited(state.mma);
}

void Cluster::touch(Registers& registers, RegisterState& state, bool write) {
    if (registers.in_flight(state)) in_flight(registers, state, write);
    state.fence = registers.fences();
    state.pc = pc_;
    state.last = RegisterState::touched;
}

const void* Cluster::read(Reg reg) {
    Registers& registers = warp().registers;
    RegisterState& state = registers.state(reg);
    touch(registers, state, false);
    if (const isa::Mask missing = active_ & ~state.written) {
        report_.lane(current_ * lanes + std::countr_zero(missing));
        report_.unwritten_register(reg);
    }
    return registers.data(reg);
}

void* Cluster::write(Reg reg) {
    Registers& registers = warp().registers;
    RegisterState& state = registers.state(reg);
    touch(registers, state, true);
    state.written |= active_;
    return registers.data(reg);
}

std::uint32_t Cluster::special(isa::Special which, int lane) {
    return machine::special(
        {launch_.grid, program_.cluster(), position_, static_cast<std::uint32_t>(rank(*cta_)),
         static_cast<std::uint32_t>(program_.threads()), static_cast<std::uint32_t>(local())},
        which, lane);
}

// --- memory --------------------------------------------------------------------------------------------

Actor Cluster::actor(int lane) const {
    return {clocks_.of(current_, lane), current_, pc_, clocks_.now(current_)};
}

// The actors by lane: for those that know more than the others, and for the others.
Cluster::Actors Cluster::actors() const {
    const isa::Mask ahead = clocks_.ahead(current_);
    const Actor others = actor(ahead == UINT32_MAX ? 0 : std::countr_one(ahead));
    return {ahead, ahead == 0 ? others : actor(std::countr_zero(ahead)), others};
}

namespace {

/// A digest of what some lanes found in memory.
class Digest {
  public:
    void add(int lane, std::uint64_t address, const std::byte* place, int bytes) {
        mix(address * isa::lanes + static_cast<std::uint64_t>(lane));
        for (int i = 0; i < bytes; i += 8) {
            std::uint64_t part = 0;
            std::memcpy(&part, place + i, static_cast<std::size_t>(std::min(bytes - i, 8)));
            mix(part);
        }
    }
    std::uint64_t value() const { return value_; }

  private:
    void mix(std::uint64_t part) {
        value_ = (value_ ^ part) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 29;
    }
    std::uint64_t value_ = 0;
};

/// Copies 1, 2, 4, 8 or 16 bytes as memcpy does, without a call.
void copy(std::byte* to, const std::byte* from, int bytes) {
    switch (bytes) {
        case 1: *to = *from; return;
        case 2: std::memcpy(to, from, 2); return;
        case 4: std::memcpy(to, from, 4); return;
        case 8: std::memcpy(to, from, 8); return;
        default: std::memcpy(to, from, 16);
    }
}

}  // namespace

void Cluster::load(isa::Space space, const isa::Addresses& address, int bytes, void* data, int stride) {
    const bool strong = code_.ops[pc_].order.strong;
    std::unique_lock lock(turns_.global_memory(), std::defer_lock);
    if (strong && space == isa::Space::global) lock.lock();
    const Actors actors = this->actors();
    Digest seen;
    for_each_access(
        false, space, address, bytes, [&](const std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            copy(static_cast<std::byte*>(data) + lane * stride, place, bytes);
            if (strong) seen.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
            if (cta != nullptr && launch_.detect_races)
                cta->shadow.load(actors.of(lane), lane, offset, bytes);
            else if (const std::uint64_t at =
                         cta == nullptr ? global_shadow_.watched(address[static_cast<std::size_t>(lane)]) : 0)
                global_shadow_.load(actors.of(lane), lane, at, bytes);
        });
    if (!strong) return;
    strong_read(space, address);
    poll(space, seen.value());
}

void Cluster::store(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                    int stride) {
    const bool strong = code_.ops[pc_].order.strong;
    std::unique_lock lock(turns_.global_memory(), std::defer_lock);
    if (strong && space == isa::Space::global) lock.lock();
    const Actors actors = this->actors();
    bool overlap = false;
    for_each_access(
        true, space, address, bytes, [&](std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            const std::byte* from = static_cast<const std::byte*>(data) + lane * stride;
            copy(place, from, bytes);
            if (cta != nullptr && launch_.detect_races)
                overlap |= cta->shadow.store(actors.of(lane), lane, offset, bytes);
            else if (const std::uint64_t at =
                         cta == nullptr ? global_shadow_.watched(address[static_cast<std::size_t>(lane)]) : 0)
                overlap |= global_shadow_.store(actors.of(lane), lane, at, bytes, from);
        });
    acted();
    wrote_ |= space == isa::Space::global;
    if (strong) {
        strong_write(space, address, false);
        tell();
    } else if (overlap) {
        check_overlap(space, address, bytes, data, stride);
    }
}

void Cluster::update(isa::Space space, const isa::Addresses& address, int bytes,
                     const std::function<void(int, std::byte*)>& change) {
    std::unique_lock lock(turns_.global_memory(), std::defer_lock);
    if (space == isa::Space::global) lock.lock();
    strong_read(space, address);
    const Actors actors = this->actors();
    Digest before, after;
    for_each_access(
        true, space, address, bytes, [&](std::byte* place, int lane, Cta* cta, std::uint32_t offset) {
            before.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
            change(lane, place);
            after.add(lane, address[static_cast<std::size_t>(lane)], place, bytes);
            if (const std::uint64_t at =
                    cta == nullptr ? global_shadow_.watched(address[static_cast<std::size_t>(lane)]) : 0)
                global_shadow_.update(actors.of(lane), lane, at, bytes);
            if (cta == nullptr || !launch_.detect_races) return;
            cta->shadow.load(actors.of(lane), lane, offset, bytes);
            cta->shadow.store(actors.of(lane), lane, offset, bytes);
        });
    strong_write(space, address, true);
    // An operation that changes nothing only reads.
    if (before.value() == after.value()) return poll(space, before.value());
    acted();
    wrote_ |= space == isa::Space::global;
    tell();
}

isa::Mask Cluster::lanes_at(const isa::Addresses& address, isa::Mask among, std::uint64_t at) {
    isa::Mask out = 0;
    for (isa::Mask left = among; left != 0; left &= left - 1)
        if (address[static_cast<std::size_t>(std::countr_zero(left))] == at) out |= left & -left;
    return out;
}

void Cluster::global_race(const GlobalRace& race) {
    if (race.other.actor() < clocks_.warps() &&
        code_.meet(pc_, race.other.pc(), race.other.actor() / warps_per_cta_ == current_ / warps_per_cta_))
        return;
    report_.global_race(race, global_.place(race.address));
}

void Cluster::global_unfenced(const GlobalRace& race) {
    report_.global_unfenced(race, global_.place(race.address));
}

// Lanes of one step may write the same byte only if they write the same value. Sizes are equal and addresses
// aligned, so accesses overlap completely or not at all.
void Cluster::check_overlap(isa::Space space, const isa::Addresses& address, int bytes, const void* data,
                            int stride) {
    const auto* values = static_cast<const std::byte*>(data);
    for (int later = 1; later < lanes; ++later)
        for (int lane = 0; lane < later; ++lane) {
            const std::uint64_t at = address[static_cast<std::size_t>(lane)];
            if ((active_ >> lane & active_ >> later & 1U) == 0 ||
                at != address[static_cast<std::size_t>(later)])
                continue;
            if (std::memcmp(values + lane * stride, values + later * stride,
                            static_cast<std::size_t>(bytes)) == 0)
                continue;
            report_.lane(current_ * lanes + later);
            const bool global = space == isa::Space::global;
            return report_.overlapping_store(
                global ? rules::WG_RACE_04 : rules::WG_RACE_01,
                global ? global_.place(at)
                       : report_.place(static_cast<std::uint32_t>(at) - SharedMemory::base),
                current_ * lanes + lane);
        }
}

// --- barriers and fences -------------------------------------------------------------------------------

void Cluster::meet(std::uint32_t id, std::uint32_t threads, bool wait) {
    using Arrival = machine::NamedBarriers::Arrival;
    machine::NamedBarriers& barriers = cta_->barriers;
    switch (barriers.arrive(id, local(), threads, wait, pc_)) {
        case Arrival::illegal: return report_.fault(rules::barrier_out_of_range(id, threads));
        case Arrival::too_large:
            return report_.fault(rules::barrier_too_large(id, threads, program_.threads()));
        case Arrival::twice: return report_.fault(rules::barrier_twice(id, report_.warp()));
        case Arrival::counted_otherwise:
            report_.fault(rules::barrier_counted_otherwise(id, threads, barriers.expected(id)),
                          barriers.first(id), rules::barrier_counted_here(barriers.expected(id)));
            break;
        case Arrival::counted: break;
    }
    signal({Signal::Kind::meeting, rank(*cta_), id, 0, wait ? 1U : 0U});
    waits_.meets(current_);
    fruitless_ = 0;
    if (launch_.detect_races) {
        int& place = cta_->meetings[id];
        if (place < 0) place = clocks_.add_place();
        clocks_.release(current_, place, {warp().all, warp().all});
    }
    if (wait) {
        warp().state = Warp::State::at_barrier;
        warp().barrier = id;
    }
    complete_barrier(*cta_, id);
}

void Cluster::complete_barrier(Cta& cta, std::uint32_t id) {
    const std::optional<std::uint32_t> waiting = cta.barriers.complete(id);
    if (!waiting) return;
    const int place = cta.meetings[id];
    for (std::uint32_t left = *waiting; left != 0; left &= left - 1) {
        const int w = cta.first + std::countr_zero(left);
        Warp& warp = warps_[static_cast<std::size_t>(w)];
        if (launch_.detect_races) clocks_.acquire(w, place, {warp.all, warp.all});
        warp.state = Warp::State::ready;
    }
    signal({Signal::Kind::met, rank(cta), id});
    if (launch_.detect_races) clocks_.clear(place);
}

void Cluster::converge() { clocks_.meet(current_, active_lanes()); }

void Cluster::proxy_fence(std::optional<isa::Space> space) {
    if (!space || space == isa::Space::global) global_shadow_.proxy_fence(clocks_, current_, active_lanes());
    if (space == isa::Space::global) return;
    clocks_.proxy_fence(current_, active_lanes(),
                        space == isa::Space::shared || space == isa::Space::shared_cta);
    announce_mbarriers();
}

// --- messages ------------------------------------------------------------------------------------------

void Cluster::say(std::size_t index, isa::Mask who, const std::vector<Reg>& values) {
    const Message& message = program_.messages()[index];
    std::vector<const void*> lanes_of;
    for (Reg reg : values) lanes_of.push_back(read(reg));
    std::vector<std::uint64_t> words(values.size());
    MessageLog last(program_, launch_.grid, isa::lanes);
    for (isa::Mask left = who; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = isa::bits(message.types[i]) > 32
                           ? static_cast<const std::uint64_t*>(lanes_of[i])[lane]
                           : static_cast<const std::uint32_t*>(lanes_of[i])[lane];
        const auto thread = static_cast<std::uint32_t>(local() * lanes + lane);
        (message.kind == Message::Kind::print ? messages_ : last)
            .add(cta_->position, thread, static_cast<std::uint32_t>(index), words);
    }
    if (message.kind == Message::Kind::print) return;
    report_.said(*last.end());
    trapped_ = true;
}

// --- wgmma ---------------------------------------------------------------------------------------------

void Cluster::order_registers() { warp().registers.order(); }

void Cluster::select(int warp_of_group) {
    current_ = cta_->first + local() / 4 * 4 + warp_of_group;
    active_ = warp().active;
}

void Cluster::begin_mma(const isa::AsyncMma& mma) {
    for (int w = 0; w < 4; ++w) {
        select(w);
        Registers& registers = warp().registers;
        serial_ = registers.issue(pc_);
        for (Reg reg : *mma.accumulators) use(registers, registers.state(reg), mma, true);
        if (mma.a_fragment != nullptr)
            for (Reg reg : *mma.a_fragment) use(registers, registers.state(reg), mma, false);
        if (mma.metadata != nullptr) use(registers, registers.state(mma.metadata->reg), mma, false);
    }
}

// A wgmma uses a register. The access is ordered by a wgmma.fence since the last access, or, for an
// accumulator, if the last access was a wgmma of the same shape. Two wgmma that read the same fragment do not
// conflict.
void Cluster::use(Registers& registers, RegisterState& state, const isa::AsyncMma& mma, bool accumulator) {
    const int purpose = accumulator ? mma.same_shape_key : RegisterState::read_as_a;
    if (!accumulator && state.accumulator && registers.in_flight(state)) in_flight(registers, state, false);
    if (state.fence >= registers.fences() && state.last != purpose) report_.missing_fence(state, accumulator);
    state.fence = registers.fences();
    state.last = purpose;
    state.mma = serial_;
    state.mma_pc = pc_;
    state.accumulator = accumulator;
}

const std::byte* Cluster::async_read_shared(std::uint32_t address, int bytes, unsigned warps) {
    if (!cta_->shared.declared(address, bytes)) {
        report_.operand_out_of_bounds(address);
        outside_.resize(std::max(outside_.size(), static_cast<std::size_t>(bytes)), std::byte{0xFF});
        return outside_.data();
    }
    const std::uint32_t offset = address - SharedMemory::base;
    if (cta_->mbarriers.touched(offset, static_cast<std::uint32_t>(bytes)) != nullptr)
        report_.mbarrier_touched(offset, "reads");
    if (launch_.detect_races)
        cta_->shadow.async_read({cta_->first + local() / 4 * 4, pc_, serial_}, warps, clocks_, offset, bytes);
    return cta_->shared.at(address);
}

const void* Cluster::async_read(Reg reg, isa::Mask read) {
    Registers& registers = warp().registers;
    if ((read & ~registers.state(reg).written) != 0) report_.unwritten_register(reg);
    return registers.data(reg);
}

void* Cluster::async_write(Reg reg) {
    Registers& registers = warp().registers;
    registers.state(reg).written = UINT32_MAX;
    return registers.data(reg);
}

void Cluster::end_mma() {}

void Cluster::commit_mma() { warp().registers.commit(pc_); }

void Cluster::wait_mma(int pending) {
    Registers& registers = warp().registers;
    registers.wait(pending, pc_);
    clocks_.finish(current_, cta_->first + local() / 4 * 4, registers.finished());
}

}  // namespace wgrun::sim
