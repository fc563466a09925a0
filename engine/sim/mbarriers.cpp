#include "sim/mbarriers.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace wgrun::sim {

// --- objects -------------------------------------------------------------------------------------------

bool Mbarriers::holds(Cta& cta, std::uint64_t address, bool init) {
    if (cta.shared.declared(address, Mbarrier::bytes)) return true;
    report_.shared_out_of_bounds(init, Mbarrier::bytes, address);
    return false;
}

Mbarrier& Mbarriers::create(Cta& cta, std::uint32_t offset) {
    Mbarrier& mbarrier = cta.mbarriers.add(offset, watches() ? clocks_.add_actor() : -1);
    mbarrier.cta = scene_.rank(cta);
    if (!watches()) return mbarrier;
    mbarrier.arriving = clocks_.add_place();
    mbarrier.complete = clocks_.add_place();
    if (scene_.code.waits_near) {
        mbarrier.arriving_near = clocks_.add_place();
        mbarrier.complete_near = clocks_.add_place();
    }
    return mbarrier;
}

void Mbarriers::made(Cta& cta, Mbarrier& mbarrier, int lane) {
    if (!watches()) return;
    // For threads that access the bytes as data, this is a write like any other.
    cta.shadow.store(scene_.actor(lane), lane, mbarrier.offset(), Mbarrier::bytes);
    clocks_.learn(scene_.current, scene_.lanes(isa::Mask{1} << lane), mbarrier.actor(), mbarrier.clock());
}

void Mbarriers::absent(const Cta& cta, std::uint32_t offset) {
    if (!report_.said(rules::WG_MBAR_01))
        report_.fault(rules::mbarrier_absent(report_.place(offset, scene_.rank(cta))));
}

std::optional<std::string> Mbarriers::unpublished(const Mbarrier& mbarrier, int lane) const {
    if (mbarrier.published(known(mbarrier, lane)) == machine::Visible::not_yet) return report_.who();
    return std::nullopt;
}

void Mbarriers::announce() {
    if (!watches()) return;
    for (Mbarrier& mbarrier : scene_.cta->mbarriers.all())
        if (const auto clock = mbarrier.announce(scene_.current, scene_.active))
            clocks_.learn(scene_.current, scene_.active_lanes(), mbarrier.actor(), *clock);
}

void Mbarriers::release_announced(int place) {
    for (Cta& cta : scene_.ctas)
        for (const Mbarrier& mbarrier : cta.mbarriers.all())
            if (mbarrier.published(known_to_warp(mbarrier)) == machine::Visible::to_async)
                clocks_.learn(place, mbarrier.actor(), mbarrier.announced());
}

int Mbarriers::generic_actor(const Cta& cta, Mbarrier& mbarrier) {
    if (watches() && mbarrier.generic_actor < 0)
        mbarrier.generic_actor = clocks_.add_generic_actor(scene_.rank(cta));
    return std::max(mbarrier.generic_actor, 0);
}

// --- arrivals and phases -------------------------------------------------------------------------------

/// These lanes leave what they know at the object, once a step.
void Mbarriers::release(const Cta& cta, Mbarrier& mbarrier, int lane, isa::Mask lanes) {
    if (!watches() || (released_ >> lane & 1U) != 0) return;
    if (mbarrier.arriving_near >= 0 && &cta == scene_.cta)
        clocks_.release(scene_.current, mbarrier.arriving_near, scene_.lanes(lanes));
    clocks_.release(scene_.current, mbarrier.arriving, scene_.lanes(lanes));
    released_ |= lanes;
}

void Mbarriers::arrives(Cta& cta, Mbarrier& mbarrier, int lane, isa::Mask lanes) {
    // An arrival in the scope of its CTA releases nothing to the threads of another.
    const isa::MemoryOrder& order = scene_.code.ops[scene_.pc].order;
    if (&cta == scene_.cta || !order.strong || order.scope > isa::Scope::cta) {
        if (order.strong && !order.release)
            arrives_relaxed(cta, mbarrier, lane);
        else
            release(cta, mbarrier, lane, lanes);
    }
    scene_.signal({Signal::Kind::arrival, scene_.rank(cta), mbarrier.offset(), mbarrier.phase()});
}

/// It passes on which phases the lane knows to be complete, and of memory and of inits what a fence has
/// released.
void Mbarriers::arrives_relaxed(const Cta& cta, Mbarrier& mbarrier, int lane) {
    if (!watches()) return;
    std::vector<int> inits;
    for (Cta& any : scene_.ctas)
        for (const Mbarrier& other : any.mbarriers.all())
            if (!other.passed_on(known(other, lane))) inits.push_back(other.actor());
    const auto leave = [&](int place) {
        clocks_.release_actors(scene_.current, lane, place, inits);
        scene_.release_acquire.arrive_relaxed(scene_.current, place, &cta != scene_.cta);
    };
    mbarrier.arriving_relaxed.push_back({scene_.current, clocks_.now(scene_.current), scene_.pc});
    leave(mbarrier.arriving);
    if (mbarrier.arriving_near >= 0 && &cta == scene_.cta) leave(mbarrier.arriving_near);
}

void Mbarriers::turned(Cta& cta, Mbarrier& mbarrier) {
    released_ = 0;
    if (watches()) {
        mbarrier.relaxed = std::exchange(mbarrier.arriving_relaxed, {});
        const auto complete = [&](int arriving, int place) {
            clocks_.drain(arriving, place);
            clocks_.learn(place, mbarrier.actor(), mbarrier.clock());
            if (mbarrier.generic_actor >= 0) clocks_.learn(place, mbarrier.generic_actor, mbarrier.clock());
        };
        complete(mbarrier.arriving, mbarrier.complete);
        if (mbarrier.arriving_near >= 0) complete(mbarrier.arriving_near, mbarrier.complete_near);
    }
    scene_.wake(&cta, Warp::Wait::mbarrier, [&](const Warp& warp) {
        return warp.barrier == mbarrier.offset() || warp.barrier == Warp::several;
    });
}

// WG-MBAR-06
void Mbarriers::wrong_wait(Mbarrier& mbarrier, rules::RuleMessage message) {
    if (watches()) report_.wrong_wait(mbarrier, std::move(message));
}

void Mbarriers::wait_begins() {
    places_ = 0;
    too_soon_ = false;
    once_more_.reset();
    told_ = nullptr;
    scene_.warp().barrier = Warp::none;
}

void Mbarriers::passes(Cta& cta, Mbarrier& mbarrier, int lane) {
    if (watches()) {
        // In the scope of its CTA a wait acquires nothing from the threads of another.
        const sim::Op& op = scene_.code.ops[scene_.pc];
        const int place = op.waits_near ? mbarrier.complete_near : mbarrier.complete;
        const bool relaxed = op.order.strong && !op.order.acquire;
        if (relaxed || !mbarrier.relaxed.empty())
            report_.handed_over(mbarrier, relaxed, relaxed ? clocks_.snapshot(place) : Snapshot());
        if (relaxed) {
            passes_relaxed(mbarrier, place);
        } else {
            if (places_ == 0 || past_[places_ - 1].first != place) past_[places_++] = {place, 0};
            past_[places_ - 1].second |= isa::Mask{1} << lane;
        }
    }
    if (std::exchange(told_, &mbarrier) == &mbarrier) return;
    scene_.signal({Signal::Kind::passed, scene_.rank(cta), mbarrier.offset(),
                   mbarrier.phase() == 0 ? Signal::no_phase : mbarrier.phase() - 1});
}

/// The warp has seen the phase; of memory, its next acquiring fence learns.
void Mbarriers::passes_relaxed(Mbarrier& mbarrier, int place) {
    mbarrier.seen_relaxed.resize(scene_.warps.size());
    mbarrier.seen_relaxed[static_cast<std::size_t>(scene_.current)] = mbarrier.clock();
    scene_.release_acquire.wait_relaxed(scene_.current, place, !scene_.code.ops[scene_.pc].waits_near);
}

void Mbarriers::blocked(Mbarrier& mbarrier, std::int64_t parity) {
    Warp& warp = scene_.warp();
    const std::uint32_t offset = mbarrier.offset();
    warp.barrier = warp.barrier == Warp::none || warp.barrier == offset ? offset : Warp::several;
    warp.parity = parity;
}

// Nothing orders the attempt and what completes the phase: there is a schedule in which the attempt comes
// first. With odd seeds it does, so that a kernel with a limited number of attempts meets the case that all
// are in vain.
bool Mbarriers::comes_too_soon(const Mbarrier& mbarrier, int lane) {
    if (scene_.launch.seed % 2 == 0 || !watches() || !mbarrier.is_early(known(mbarrier, lane))) return false;
    Warp& warp = scene_.warp();
    if (!once_more_)
        once_more_ = warp.attempts.once_more(warp.registers.all(), scene_.code.ops[scene_.pc].attempts);
    too_soon_ |= *once_more_;
    return *once_more_;
}

bool Mbarriers::returns(isa::Mask complete) {
    // try_wait may return early; test_wait always does.
    constexpr std::uint32_t early = 4;
    Warp& warp = scene_.warp();
    for (std::size_t i = 0; i < places_; ++i)
        clocks_.acquire(scene_.current, past_[i].first, scene_.lanes(past_[i].second));
    warp.attempts.came(too_soon_);
    const bool patient = scene_.code.ops[scene_.pc].attempts == Attempts::trapped;
    if (complete != 0 || too_soon_ || warp.give_up || (!patient && scene_.draw(early) == 0)) {
        warp.give_up = false;
        return true;
    }
    scene_.sleep(Warp::Wait::mbarrier);
    return false;
}

// --- copies --------------------------------------------------------------------------------------------

void Mbarriers::begin_copy(Mbarrier& mbarrier, int lane, std::optional<std::int64_t> bytes, bool by_other) {
    if (watches()) clocks_.release_actors(scene_.current, lane, mbarrier.arriving);
    if (watches() && mbarrier.arriving_near >= 0)
        clocks_.release_actors(scene_.current, lane, mbarrier.arriving_near);
    if (bytes)
        mbarrier.begin_copy(*bytes, scene_.pc, by_other);
    else
        mbarrier.begin_unsized(scene_.pc);
}

void Mbarriers::land(Cta& cta, std::uint32_t offset, std::optional<std::int64_t> bytes, std::uint32_t phase,
                     std::uint32_t pc) {
    Mbarrier* mbarrier = cta.mbarriers.find(offset);
    if (mbarrier == nullptr) return;
    if (bytes)
        MbarrierUnit::land(cta, *mbarrier, *bytes, phase, pc);
    else
        MbarrierUnit::land_unsized(cta, *mbarrier, phase, pc);
}

void Mbarriers::left_over(Cta& cta) {
    for (const Mbarrier& mbarrier : cta.mbarriers.all()) {
        const std::int64_t missing = mbarrier.tx() - mbarrier.in_flight();
        if (!mbarrier.live() || missing == 0) continue;
        const std::uint32_t last = mbarrier.arrived_at();
        report_.at(last != no_pc ? last : mbarrier.copied_at(), scene_.thread(0));
        report_.fault(
            {rules::WG_MBAR_03,
             fmt::format("the CTA ends in phase {} of {}, which {} {}", mbarrier.phase(),
                         report_.place(mbarrier), missing > 0 ? "still expects" : "has not expected",
                         count_of(std::abs(missing), "byte")),
             "expect the bytes of all copies of the phase, and wait for it before the kernel ends"});
    }
}

}  // namespace wgrun::sim
