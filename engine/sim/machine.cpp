// The machine that a record's `run` sees: registers, memories, barriers and wgmma, each access checked.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "sim/cta.hpp"

namespace wgrun::sim {

using isa::lanes;

Cta::Cta(const Program& program, const Code& code, const Launch& launch)
    : program_(program),
      code_(code),
      launch_(launch),
      global_(program, launch),
      shared_(program),
      report_(program, code, shared_, launch.grid),
      clocks_((program.threads() + lanes - 1) / lanes),
      shadow_((program.threads() + lanes - 1) / lanes, launch.detect_races ? shared_.bytes() : 0, report_),
      warps_(static_cast<std::size_t>((program.threads() + lanes - 1) / lanes), Warp(code)) {}

// --- registers -----------------------------------------------------------------------------------------

void Cta::in_flight(const Registers& registers, const RegisterState& state, bool write) {
    if (const std::uint32_t wait = registers.waited_in_vain(state); wait != no_pc)
        report_.waited_in_vain(state, wait, write);
    else
        report_.register_in_flight(state, write);
}

void Cta::touch(Registers& registers, RegisterState& state, bool write) {
    if (registers.in_flight(state)) in_flight(registers, state, write);
    state.fence = registers.fences();
    state.pc = pc_;
    state.last = RegisterState::touched;
}

const void* Cta::read(Reg reg) {
    Registers& registers = warp().registers;
    RegisterState& state = registers.state(reg);
    touch(registers, state, false);
    if (const isa::Mask missing = active_ & ~state.written) {
        report_.lane(current_ * lanes + std::countr_zero(missing));
        report_.unwritten_register(reg);
    }
    return registers.data(reg);
}

void* Cta::write(Reg reg) {
    Registers& registers = warp().registers;
    RegisterState& state = registers.state(reg);
    touch(registers, state, true);
    state.written |= active_;
    return registers.data(reg);
}

std::uint32_t Cta::special(int sreg, int lane) {
    const auto thread = static_cast<std::uint32_t>(current_ * lanes + lane);
    const Dim3& grid = launch_.grid;
    const std::array<std::uint32_t, 13> values{thread,
                                               0,
                                               0,
                                               static_cast<std::uint32_t>(program_.threads()),
                                               1,
                                               1,
                                               position_.x,
                                               position_.y,
                                               position_.z,
                                               grid.x,
                                               grid.y,
                                               grid.z,
                                               static_cast<std::uint32_t>(lane)};
    return values[static_cast<std::size_t>(sreg)];
}

// --- memory --------------------------------------------------------------------------------------------

Actor Cta::actor() const {
    return {current_, pc_, clocks_.now(current_), clocks_.seen(current_), clocks_.finished(current_)};
}

namespace {

/// memcpy of 1, 2, 4, 8 or 16 bytes, without a call.
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

/// Calls move(where it is, lane) for each active lane whose access is legal.
template <class Move>
void Cta::for_each_access(bool store, isa::Space space, const std::array<std::uint64_t, lanes>& address,
                          int bytes, Move move) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t at = address[static_cast<std::size_t>(lane)];
        std::byte* place = nullptr;
        report_.lane(current_ * lanes + lane);
        if ((at & static_cast<std::uint64_t>(bytes - 1)) != 0) {
            report_.misaligned(store, bytes, at);
        } else if (space == isa::Space::global) {
            place = global_.find(at, bytes);
            if (place == nullptr) report_.global_out_of_bounds(store, bytes, global_.describe(at, bytes));
        } else if (shared_.declared(at, bytes)) {
            place = shared_.at(static_cast<std::uint32_t>(at));
        } else {
            report_.shared_out_of_bounds(store, bytes, at);
        }
        if (place != nullptr) move(place, lane);
    }
}

void Cta::load(isa::Space space, const std::array<std::uint64_t, lanes>& address, int bytes, void* data,
               int stride) {
    const Actor actor = this->actor();
    const bool watched = launch_.detect_races && space != isa::Space::global;
    for_each_access(false, space, address, bytes, [&](const std::byte* place, int lane) {
        copy(static_cast<std::byte*>(data) + lane * stride, place, bytes);
        if (watched)
            shadow_.load(
                actor, lane,
                static_cast<std::uint32_t>(address[static_cast<std::size_t>(lane)]) - SharedMemory::base,
                bytes);
    });
}

void Cta::store(isa::Space space, const std::array<std::uint64_t, lanes>& address, int bytes,
                const void* data, int stride) {
    const Actor actor = this->actor();
    const bool watched = launch_.detect_races && space != isa::Space::global;
    bool overlap = false;
    for_each_access(true, space, address, bytes, [&](std::byte* place, int lane) {
        copy(place, static_cast<const std::byte*>(data) + lane * stride, bytes);
        if (watched)
            overlap |= shadow_.store(
                actor, lane,
                static_cast<std::uint32_t>(address[static_cast<std::size_t>(lane)]) - SharedMemory::base,
                bytes);
    });
    if (overlap) check_overlap(address, bytes, data, stride);
}

// CTAs run on several host threads: one at a time updates global memory.
void Cta::update(isa::Space space, const isa::Addresses& address, int bytes,
                 const std::function<void(int, std::byte*)>& change) {
    static std::mutex one_at_a_time;
    std::unique_lock lock(one_at_a_time, std::defer_lock);
    if (space == isa::Space::global) lock.lock();
    const Actor actor = this->actor();
    const bool watched = launch_.detect_races && space != isa::Space::global;
    for_each_access(true, space, address, bytes, [&](std::byte* place, int lane) {
        change(lane, place);
        if (!watched) return;
        const std::uint32_t offset =
            static_cast<std::uint32_t>(address[static_cast<std::size_t>(lane)]) - SharedMemory::base;
        shadow_.load(actor, lane, offset, bytes);
        shadow_.store(actor, lane, offset, bytes);
    });
}

// Lanes of one step may write one byte only if they write the same value. Sizes are equal and addresses
// aligned, so that accesses overlap whole or not at all.
void Cta::check_overlap(const std::array<std::uint64_t, lanes>& address, int bytes, const void* data,
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
            return report_.overlapping_store(static_cast<std::uint32_t>(at) - SharedMemory::base,
                                             current_ * lanes + lane);
        }
}

// --- barriers and fences -------------------------------------------------------------------------------

void Cta::barrier(std::uint32_t id, std::uint32_t threads) {
    if (id >= barriers || threads % lanes != 0)
        return report_.bad_barrier(
            fmt::format("barrier {} of {} threads: there are barriers 0 to 15, and they count "
                        "multiples of 32 threads",
                        id, threads));
    Barrier& barrier = barriers_[id];
    if (threads == 0) threads = static_cast<std::uint32_t>(warps_.size() * lanes);
    if (barrier.waiting != 0 && barrier.expected != threads)
        report_.bad_barrier(
            fmt::format("barrier {} of {} threads: others wait at it for {}", id, threads, barrier.expected));
    if (barrier.waiting == 0) barrier.expected = threads;
    barrier.waiting |= 1U << current_;
    if (static_cast<std::uint32_t>(std::popcount(barrier.waiting) * lanes) < barrier.expected) {
        warp().state = Warp::State::at_barrier;
        warp().barrier = id;
        return;
    }
    if (launch_.detect_races) clocks_.join(barrier.waiting);
    for (std::uint32_t left = barrier.waiting; left != 0; left &= left - 1)
        warps_[static_cast<std::size_t>(std::countr_zero(left))].state = Warp::State::ready;
    barrier.waiting = 0;
}

void Cta::proxy_fence(std::optional<isa::Space> space) {
    if (space != isa::Space::global) clocks_.proxy_fence(current_, active_, active_ == warp().all);
}

// --- wgmma ---------------------------------------------------------------------------------------------

void Cta::order_registers() { warp().registers.order(); }

void Cta::select(int warp_of_group) {
    current_ = current_ / 4 * 4 + warp_of_group;
    active_ = warp().active;
}

void Cta::begin_mma(const isa::AsyncMma& mma) {
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

// A wgmma takes a register. Ordered: by a wgmma.fence since the last access, or as an accumulator by that the
// last access was a wgmma of the same shape. Two wgmma that read the same fragment do not disturb each other.
void Cta::use(Registers& registers, RegisterState& state, const isa::AsyncMma& mma, bool accumulator) {
    const int purpose = accumulator ? mma.same_shape_key : RegisterState::read_as_a;
    if (!accumulator && state.accumulator && registers.in_flight(state)) in_flight(registers, state, false);
    if (state.fence >= registers.fences() && state.last != purpose) report_.missing_fence(state, accumulator);
    state.fence = registers.fences();
    state.last = purpose;
    state.mma = serial_;
    state.mma_pc = pc_;
    state.accumulator = accumulator;
}

const std::byte* Cta::async_read_shared(std::uint32_t address, int bytes, unsigned warps) {
    if (!shared_.declared(address, bytes)) {
        report_.operand_out_of_bounds(address);
        outside_.resize(std::max(outside_.size(), static_cast<std::size_t>(bytes)), std::byte{0xFF});
        return outside_.data();
    }
    if (launch_.detect_races)
        shadow_.async_read({current_ / 4, pc_, serial_}, warps, clocks_, address - SharedMemory::base, bytes);
    return shared_.at(address);
}

const void* Cta::async_read(Reg reg, isa::Mask read) {
    Registers& registers = warp().registers;
    if ((read & ~registers.state(reg).written) != 0) report_.unwritten_register(reg);
    return registers.data(reg);
}

void* Cta::async_write(Reg reg) {
    Registers& registers = warp().registers;
    registers.state(reg).written = UINT32_MAX;
    return registers.data(reg);
}

void Cta::end_mma() {}

void Cta::commit_mma() { warp().registers.commit(); }

void Cta::wait_mma(int pending) {
    Registers& registers = warp().registers;
    registers.wait(pending, pc_);
    clocks_.finish(current_, registers.finished());
}

}  // namespace wgrun::sim
