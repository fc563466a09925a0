#include "sim/mbarrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "rules/mbarrier_words.hpp"
#include "sim/cluster.hpp"

namespace wgrun::sim {

using isa::lanes;

namespace {
std::uint32_t offset_of(const Mbarrier& mbarrier) { return mbarrier.offset(); }
}  // namespace

Mbarrier* Mbarriers::find(std::uint32_t offset) {
    const auto found = std::ranges::lower_bound(objects_, offset, {}, offset_of);
    return found != objects_.end() && found->offset() == offset ? &*found : nullptr;
}

Mbarrier& Mbarriers::add(std::uint32_t offset, int actor) {
    const auto place = std::ranges::lower_bound(objects_, offset, {}, offset_of);
    begin_ = objects_.empty() ? offset : std::min(begin_, offset);
    end_ = std::max(end_, offset + Mbarrier::bytes);
    return *objects_.emplace(place, offset, actor);
}

const Mbarrier* Mbarriers::search(std::uint32_t offset, std::uint32_t size) const {
    const auto first = std::ranges::lower_bound(
        objects_, offset + 1, {}, [](const Mbarrier& m) { return m.offset() + Mbarrier::bytes; });
    for (auto m = first; m != objects_.end() && m->offset() < offset + size; ++m)
        if (m->live()) return &*m;
    return nullptr;
}

// Finds the object that an instruction names. Faults are reported. The result is null if the instruction
// cannot be executed.
Cluster::Found Cluster::find_mbarrier(std::uint64_t address, User user, int lane) {
    Cta* cta = peer(address, lane, user == User::thread);
    if (cta == nullptr) return {};
    const std::uint32_t offset = static_cast<std::uint32_t>(address) - SharedMemory::base;
    if (address % Mbarrier::bytes != 0) {
        report_.fault(report_.misaligned_mbarrier(address));
        return {};
    }
    if (!cta->shared.declared(address, Mbarrier::bytes)) {
        report_.shared_out_of_bounds(false, Mbarrier::bytes, address);
        return {};
    }
    Mbarrier* mbarrier = cta->mbarriers.find(offset);
    if (mbarrier == nullptr || !mbarrier->live()) {
        if (report_.said(rules::WG_MBAR_01)) return {};
        report_.fault(rules::mbarrier_absent(report_.place(offset)));
        return {};
    }
    if (launch_.detect_races && !report_.said(rules::WG_MBAR_02, mbarrier->made.pc())) {
        const std::uint32_t known = clocks_.of(current_, lane).seen[mbarrier->actor()];
        if (!mbarrier->is_told(known))
            report_.fault(rules::mbarrier_untold(report_.who(), report_.place(offset),
                                                 report_.where(mbarrier->made.pc()), report_.of_cluster()),
                          mbarrier->made.pc(), "initialised here");
        else if (user == User::engine && !mbarrier->is_told_to_engine(known))
            report_.fault(
                rules::mbarrier_untold_to_engine(report_.place(offset), report_.where(mbarrier->made.pc()),
                                                 report_.of_cluster()),
                mbarrier->made.pc(), "initialised here");
    }
    return {cta, mbarrier};
}

void Cluster::mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint64_t at = address[lane];
        report_.lane(current_ * lanes + static_cast<int>(lane));
        if (at % Mbarrier::bytes != 0) {
            report_.fault(report_.misaligned_mbarrier(at));
            continue;
        }
        if (!cta_->shared.declared(at, Mbarrier::bytes)) {
            report_.shared_out_of_bounds(true, Mbarrier::bytes, at);
            continue;
        }
        const std::uint32_t offset = static_cast<std::uint32_t>(at) - SharedMemory::base;
        if (const Mbarrier* other = cta_->mbarriers.touched(offset, Mbarrier::bytes))
            report_.fault(rules::mbarrier_made_again(report_.place(offset)), other->made.pc(),
                          "initialised here");
        Mbarrier* mbarrier = cta_->mbarriers.find(offset);
        if (mbarrier == nullptr) {
            mbarrier = &cta_->mbarriers.add(offset, launch_.detect_races ? clocks_.add_actor() : -1);
            if (launch_.detect_races) {
                mbarrier->arriving = clocks_.add_place();
                mbarrier->complete = clocks_.add_place();
            }
        }
        if (!mbarrier->init(arrivals[lane], warps_per_cta_,
                            {current_, static_cast<int>(lane), clocks_.now(current_), pc_}))
            report_.fault(
                rules::too_many_arrivals_asked(report_.place(offset), arrivals[lane], Mbarrier::most));
        mbarrier->made = Epoch(clocks_.now(current_), pc_, current_, static_cast<int>(lane));
        if (!launch_.detect_races) continue;
        waits_.forget(*mbarrier);
        // For threads that access the bytes as data, this is a write like any other.
        cta_->shadow.store(actor(static_cast<int>(lane)), static_cast<int>(lane), offset, Mbarrier::bytes);
        clocks_.learn(current_, {isa::Mask{1} << lane, warp().all}, mbarrier->actor(), mbarrier->clock());
    }
}

void Cluster::mbarrier_inval(const isa::Addresses& address) {
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        report_.lane(current_ * lanes + lane);
        const Found found = find_mbarrier(address[static_cast<std::size_t>(lane)], User::thread, lane);
        if (found.mbarrier == nullptr) continue;
        if (found.mbarrier->under_way() != 0)
            report_.fault(rules::mbarrier_ended_early(report_.place(found.mbarrier->offset()),
                                                      found.mbarrier->under_way()),
                          found.mbarrier->copy_pc, "copied here");
        found.mbarrier->end();
    }
}

// fence.mbarrier_init or a proxy fence: the inits of these lanes are known to every thread that knows of the
// fence.
void Cluster::announce_mbarriers() {
    if (!launch_.detect_races) return;
    for (Mbarrier& mbarrier : cta_->mbarriers.all()) {
        if (const auto clock = mbarrier.announce(current_, active_))
            clocks_.learn(current_, active_lanes(), mbarrier.actor(), *clock);
    }
}

void Cluster::mbarrier_fence_init() { announce_mbarriers(); }

void Cluster::mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                              const isa::Counts& arrivals) {
    isa::Mask released = 0;  // lanes that have released
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        report_.lane(current_ * lanes + static_cast<int>(lane));
        const Found found = find_mbarrier(address[lane], User::thread, static_cast<int>(lane));
        if (found.mbarrier == nullptr) continue;
        Mbarrier& mbarrier = *found.mbarrier;
        fruitless_ = 0;
        mbarrier.pc = pc_;
        check_phase_known(mbarrier, static_cast<int>(lane), "arrives at");
        if (!mbarrier.arrive(arrivals[lane])) {
            arrives_too_early(mbarrier, arrivals[lane]);
            continue;
        }
        if (bytes[lane] != 0) {
            check_bytes(mbarrier, mbarrier.expect(bytes[lane]));
            mbarrier.expect_pc = pc_;
        }
        if (arrivals[lane] != 0 && launch_.detect_races && (released >> lane & 1U) == 0) {
            const isa::Mask same = lanes_at(address, left, address[lane]);
            clocks_.release(current_, mbarrier.arriving, {same, warp().all});
            released |= same;
        }
        if (arrivals[lane] != 0)
            signal({Signal::Kind::arrival, rank(*found.cta), mbarrier.offset(), mbarrier.phase()});
        waits_.arrives_at(current_, mbarrier);
        if (advance(*found.cta, mbarrier)) released = 0;
    }
    waits_.arrives(current_);
}

// Reports an arrival beyond the expected number.
void Cluster::arrives_too_early(const Mbarrier& mbarrier, std::int64_t arrivals) {
    report_.early(mbarrier,
                  rules::arrival_too_many(report_.who(), arrivals, report_.place(mbarrier.offset()),
                                          mbarrier.pending(), mbarrier.expected(), mbarrier.phase()));
}

// What belongs to a phase comes after the completion of the phase before: a thread has waited for that, and
// the executing warp knows it. Otherwise it might count for the phase before.
void Cluster::check_phase_known(const Mbarrier& mbarrier, int lane, std::string_view what) {
    if (!launch_.detect_races) return;
    if (!mbarrier.is_early(clocks_.of(current_, lane).seen[mbarrier.actor()])) return;
    report_.early(mbarrier, rules::phase_not_awaited(report_.who(), what, mbarrier.phase(),
                                                     report_.place(mbarrier.offset())));
}

void Cluster::check_bytes(const Mbarrier& mbarrier, std::optional<std::int64_t> too_many) {
    if (too_many)
        report_.fault(rules::too_many_bytes(report_.place(mbarrier.offset()), *too_many, Mbarrier::most));
}

// Completes the phase when everything that it expects has arrived. Returns whether it did.
bool Cluster::advance(Cta& cta, Mbarrier& mbarrier) {
    const std::optional<Mbarrier::Turn> turn = mbarrier.turn();
    if (!turn) return false;
    const std::uint32_t expected_at = std::exchange(mbarrier.expect_pc, no_pc);
    if (turn->under_way != 0)
        report_.fault_at(expected_at != no_pc ? expected_at : mbarrier.pc,
                         rules::phase_complete_early(report_.place(mbarrier.offset()), turn->phase,
                                                     turn->under_way, turn->to_expect, turn->to_bring),
                         mbarrier.copy_pc, "copied here");
    if (launch_.detect_races) {
        clocks_.drain(mbarrier.arriving, mbarrier.complete);
        clocks_.learn(mbarrier.complete, mbarrier.actor(), mbarrier.clock());
        if (mbarrier.generic_actor >= 0)
            clocks_.learn(mbarrier.complete, mbarrier.generic_actor, mbarrier.clock());
    }
    wake(&cta, Warp::Wait::mbarrier, [&](const Warp& warp) {
        return warp.barrier == mbarrier.offset() || warp.barrier == Warp::several;
    });
    return true;
}

// WG-MBAR-06
void Cluster::watch_phase(Mbarrier& mbarrier, std::int64_t parity) {
    if (parity != 0 && parity != 1) return report_.bad_parity(mbarrier, parity);
    const std::uint32_t known = clocks_.of(current_).seen[mbarrier.actor()];
    if (waits_.wait(current_, local(), mbarrier, parity, known, pc_) == Mbarrier::Wait::skipped)
        report_.phase_skipped(mbarrier, parity, local());
}

std::optional<isa::Mask> Cluster::mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity) {
    // try_wait may return early; test_wait always does.
    constexpr std::uint32_t early = 4;
    isa::Mask complete = 0;
    std::array<std::pair<int, isa::Mask>, lanes>
        past;  // places of complete phases, and the lanes that waited there
    std::size_t places = 0;
    const Mbarrier *watched = nullptr, *told = nullptr;
    Warp& warp = this->warp();
    warp.barrier = Warp::none;
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        report_.lane(current_ * lanes + static_cast<int>(lane));
        const Found found = find_mbarrier(address[lane], User::thread, static_cast<int>(lane));
        if (launch_.detect_races && found.cta == cta_ &&
            std::exchange(watched, found.mbarrier) != found.mbarrier)
            watch_phase(*found.mbarrier, parity[lane]);
        if (found.mbarrier != nullptr && found.cta != cta_) {
            report_.fault(rules::waits_for_foreign_mbarrier(report_.who()));
        } else if (found.mbarrier != nullptr && !found.mbarrier->is_complete(parity[lane])) {
            const std::uint32_t offset = found.mbarrier->offset();
            warp.barrier = warp.barrier == Warp::none || warp.barrier == offset ? offset : Warp::several;
            warp.parity = parity[lane] & 1;
            continue;
        } else if (found.mbarrier != nullptr && launch_.detect_races) {
            if (places == 0 || past[places - 1].first != found.mbarrier->complete)
                past[places++] = {found.mbarrier->complete, 0};
            past[places - 1].second |= 1U << lane;
        }
        complete |= 1U << lane;
        if (found.mbarrier != nullptr && std::exchange(told, found.mbarrier) != found.mbarrier)
            signal({Signal::Kind::passed, rank(*found.cta), found.mbarrier->offset(),
                    found.mbarrier->phase() == 0 ? Signal::no_phase : found.mbarrier->phase() - 1});
    }
    for (std::size_t i = 0; i < places; ++i)
        clocks_.acquire(current_, past[i].first, {past[i].second, warp.all});
    if (complete != 0 || warp.give_up || draw(early) == 0) {
        warp.give_up = false;
        return complete;
    }
    sleep(Warp::Wait::mbarrier);
    return std::nullopt;
}

}  // namespace wgrun::sim
