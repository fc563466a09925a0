// mbarriers in a rehearsal (PTX ISA 9.7.13.15): WG-MBAR-01, -02, -03, and the copies that they count.
#include <algorithm>
#include <bit>
#include <utility>

#include "check/rehearsal.hpp"
#include "program/wait_words.hpp"
#include "rules/barrier_words.hpp"
#include "rules/mbarrier_words.hpp"

namespace wgrun::check {

using isa::Mask;

namespace {

template <class Visit>
void for_each_lane(Mask mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

Where where_of(const Step* step) { return step != nullptr ? step->where : Where{}; }
Note made_here(const Step* made) { return {where_of(made), "initialised here"}; }

}  // namespace

// --- the mbarrier of an instruction --------------------------------------------------------------------

/// Returns the mbarrier at the lane's address. If the address is unknown, returns null and the step is
/// unclear; else as below.
Rehearsal::Mbarrier* Rehearsal::find(const isa::Addresses& address, std::size_t lane) {
    return address.knows(lane) ? find(address[lane], lane, false) : (refuse(), nullptr);
}

/// Returns the mbarrier at `address`; if there is none, reports that and returns null.
Rehearsal::Mbarrier* Rehearsal::find(std::uint64_t address, std::size_t lane, bool by_engine) {
    Cta* cta = peer(address);
    if (cta == nullptr) return nullptr;
    const auto offset = static_cast<std::uint32_t>(address) - base;
    if (address % Mbarrier::bytes != 0) {
        add(wait_words::mbarrier_misaligned(program_, place(offset), offset), op_->step);
        return nullptr;
    }
    const auto found =
        std::ranges::find_if(cta->mbarriers, [&](const auto& m) { return m->offset() == offset; });
    if (found == cta->mbarriers.end() || !(*found)->live()) {
        // A warp that has left may have initialised it.
        if (anybody_left_)
            refuse();
        else
            add(rules::mbarrier_absent(place(offset)), op_->step);
        return nullptr;
    }
    Mbarrier& mbarrier = **found;
    if (!anybody_left_ && !told(rules::WG_MBAR_02, op_->step)) {
        const std::uint32_t known = warp_->known.of(mbarrier.actor());
        const bool other_lane = made_by_other_lane(mbarrier, lane);
        if (!mbarrier.is_told(known) || other_lane)
            add(rules::mbarrier_untold((other_lane ? "the other lanes of " : "") + name(*warp_),
                                       place(offset), where_of(mbarrier.made), ctas_.size() > 1),
                op_->step, {made_here(mbarrier.made)});
        else if (by_engine && !mbarrier.is_told_to_engine(known))
            add(rules::mbarrier_untold_to_engine(place(offset), where_of(mbarrier.made), ctas_.size() > 1),
                op_->step, {made_here(mbarrier.made)});
    }
    return &mbarrier;
}

/// Returns whether another lane of this warp initialised the mbarrier and the lanes have not converged since.
bool Rehearsal::made_by_other_lane(const Mbarrier& mbarrier, std::size_t lane) const {
    return mbarrier.init_warp == warp_->number && mbarrier.init_lane != lane && !mbarrier.known_to_warp &&
           mbarrier.init_clock > warp_->gathered;
}

void Rehearsal::mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) {
    for_each_lane(active_, [&](std::size_t lane) {
        if (!address.knows(lane) || !arrivals.knows(lane)) return refuse();
        const std::uint64_t at = address[lane];
        if (isa::window_of(at) != 0) {
            const auto place =
                machine::locate(at, static_cast<std::uint32_t>(warp_->cta->rank), ctas_.size());
            const bool nobodys = place.whose == machine::SharedPlace::Whose::nobodys;
            return add(nobodys ? rules::outside_cluster(name(*warp_), place.rank, ctas_.size())
                               : rules::peer_as_own(name(*warp_), at),
                       op_->step);
        }
        const auto offset = static_cast<std::uint32_t>(at) - base;
        if (at % Mbarrier::bytes != 0)
            return add(wait_words::mbarrier_misaligned(program_, place(offset), offset), op_->step);
        auto& all = warp_->cta->mbarriers;
        auto found = std::ranges::find_if(all, [&](const auto& m) { return m->offset() == offset; });
        if (found == all.end()) {
            all.push_back(std::make_unique<Mbarrier>(offset, actors_++));
            found = all.end() - 1;
            (*found)->cta = warp_->cta;
        }
        Mbarrier& mbarrier = **found;
        if (mbarrier.live())
            add(rules::mbarrier_made_again(place(offset)), op_->step, {made_here(mbarrier.made)});
        if (!mbarrier.init(arrivals[lane], warps_per_cta_))
            add(rules::too_many_arrivals_asked(place(offset), arrivals[lane], Mbarrier::most), op_->step);
        mbarrier.init_warp = warp_->number;
        mbarrier.init_lane = lane;
        mbarrier.init_clock = warp_->now;
        mbarrier.known_to_warp = false;
        mbarrier.made = op_->step;
        mbarrier.arrived = mbarrier.expecting = mbarrier.copied = mbarrier.brought = nullptr;
        waits_.forget(mbarrier);
        warp_->known.learn(mbarrier.actor(), mbarrier.clock());
    });
}

void Rehearsal::mbarrier_inval(const isa::Addresses& address) {
    for_each_lane(active_, [&](std::size_t lane) {
        Mbarrier* mbarrier = find(address, lane);
        if (mbarrier == nullptr) return;
        if (mbarrier->under_way() != 0)
            add(rules::mbarrier_ended_early(place(mbarrier->offset()), mbarrier->under_way()), op_->step,
                {{where_of(mbarrier->copied), "copied here"}});
        mbarrier->end();
    });
}

/// Handles fence.mbarrier_init and proxy fences: warps that learn of the fence know the inits of the active
/// lanes.
void Rehearsal::announce() {
    for (auto& mbarrier : warp_->cta->mbarriers) {
        if (mbarrier->announced() != 0 || !mbarrier->live() || mbarrier->init_warp != warp_->number ||
            (active_ >> mbarrier->init_lane & 1U) == 0)
            continue;
        warp_->known.learn(mbarrier->actor(), mbarrier->announce());
    }
}

void Rehearsal::proxy_fence(std::optional<isa::Space> space) {
    if (space != isa::Space::global) announce();
}

// --- phases --------------------------------------------------------------------------------------------

/// Reports an operation of a phase that follows no wait for the previous phase: it might count for that one.
void Rehearsal::phase_known(const Mbarrier& mbarrier, std::string_view what) {
    if (anybody_left_ || !mbarrier.is_early(warp_->known.of(mbarrier.actor()))) return;
    early(mbarrier, rules::phase_not_awaited(name(*warp_), what, mbarrier.phase(), place(mbarrier.offset())));
}

void Rehearsal::mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                                const isa::Counts& arrivals) {
    bool released = false;
    for_each_lane(active_, [&](std::size_t lane) {
        if (!bytes.knows(lane) || !arrivals.knows(lane)) return refuse();
        Mbarrier* found = find(address, lane);
        if (found == nullptr) return;
        Mbarrier& mbarrier = *found;
        fruitless_ = 0;
        phase_known(mbarrier, "arrives at");
        if (!mbarrier.arrive(arrivals[lane])) {
            early(mbarrier,
                  rules::arrival_too_many(name(*warp_), arrivals[lane], place(mbarrier.offset()),
                                          mbarrier.pending(), mbarrier.expected(), mbarrier.phase()));
            return;
        }
        if (bytes[lane] != 0) {
            fits_count(mbarrier, mbarrier.expect(bytes[lane]), op_->step);
            mbarrier.expecting = op_->step;
        }
        mbarrier.arrived = op_->step;
        if (arrivals[lane] != 0) {
            if (!released)
                release(mbarrier.arriving);
            else
                mbarrier.arriving.learn(warp_->known);
            released = true;
        }
        waits_.arrives_at(warp_->number, mbarrier);
        advance(mbarrier);
    });
    waits_.arrives(warp_->number);
}

void Rehearsal::fits_count(const Mbarrier& mbarrier, std::optional<std::int64_t> too_many, const Step* by) {
    if (too_many) add(rules::too_many_bytes(place(mbarrier.offset()), *too_many, Mbarrier::most), by);
}

/// Completes the phase when everything that it expects has arrived.
void Rehearsal::advance(Mbarrier& mbarrier) {
    const std::optional<Mbarrier::Turn> turn = mbarrier.turn();
    if (!turn) return;
    if (turn->under_way != 0) {
        const Step* blamed = mbarrier.expecting != nullptr ? mbarrier.expecting : mbarrier.arrived;
        add(rules::phase_complete_early(place(mbarrier.offset()), turn->phase, turn->under_way,
                                        turn->to_expect, turn->to_bring),
            blamed, {{where_of(mbarrier.copied), "copied here"}});
    }
    mbarrier.expecting = mbarrier.copied = nullptr;
    mbarrier.complete.learn(mbarrier.arriving);
    mbarrier.complete.learn(mbarrier.actor(), mbarrier.clock());
    mbarrier.arriving.clear();
    wake(Warp::Wait::mbarrier,
         [&](const Warp& warp) { return warp.mbarrier == &mbarrier || warp.mbarrier == nullptr; });
}

std::optional<Mask> Rehearsal::mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity) {
    Mask complete = 0;
    bool several = false;
    const Mbarrier *waits_for = nullptr, *watched = nullptr;
    std::vector<const Mbarrier*> past;  // those whose phases are complete
    for_each_lane(active_, [&](std::size_t lane) {
        if (!parity.knows(lane)) return refuse();
        Mbarrier* mbarrier = find(address, lane);
        if (mbarrier != nullptr && mbarrier->cta == warp_->cta &&
            std::exchange(watched, mbarrier) != mbarrier)
            watch_phase(*mbarrier, parity[lane]);
        if (mbarrier != nullptr && mbarrier->cta != warp_->cta) {
            add(rules::waits_for_foreign_mbarrier(name(*warp_)), op_->step);
        } else if (mbarrier != nullptr && !mbarrier->is_complete(parity[lane])) {
            several |= waits_for != nullptr && waits_for != mbarrier;
            waits_for = mbarrier;
            warp_->parity = parity[lane] & 1;
            return;
        } else if (mbarrier != nullptr && (past.empty() || past.back() != mbarrier)) {
            past.push_back(mbarrier);
        }
        complete |= Mask{1} << lane;
    });
    for (const Mbarrier* mbarrier : past) acquire(*warp_, mbarrier->complete);
    if (complete != 0 || unclear_ || std::exchange(warp_->give_up, false)) return complete;
    warp_->mbarrier = several ? nullptr : waits_for;
    sleep(Warp::Wait::mbarrier);
    return std::nullopt;
}

// --- copies --------------------------------------------------------------------------------------------

void Rehearsal::bulk_copy(const isa::BulkCopy& copy) {
    using Direction = isa::BulkCopy::Direction;
    if (copy.direction == Direction::prefetch) return;
    std::int64_t bytes = copy.bytes;
    const TensorBox* its_box = nullptr;
    if (copy.dims != 0) {
        const auto map = static_cast<std::size_t>(copy.tensor_map) - 1;
        if (copy.known.tensor_map && map < program_.params().size() && program_.params()[map].box)
            its_box = &*program_.params()[map].box;
        else if (copy.direction != Direction::to_global)
            return refuse();
        if (its_box != nullptr) bytes = its_box->bytes();
    }
    if (!fits_shared(copy, its_box)) return;
    if (copy.direction == Direction::to_global) {
        auto& all = warp_->stores;
        auto found = std::ranges::find(all, copy.lane, &Warp::Stores::lane);
        if (found == all.end()) found = all.insert(all.end(), Warp::Stores{copy.lane});
        found->open = op_->step;
        return;
    }
    const bool size_known = its_box != nullptr || copy.known.bytes;
    if (!size_known || !copy.known.multicast || !copy.known.shared || !copy.known.mbarrier) return refuse();
    const auto lane = static_cast<std::size_t>(copy.lane);
    if (copy.multicast == 0) return copy_to(copy.shared, copy.mbarrier, lane, bytes, its_box, true);
    // Data and signal have the same offsets in each CTA.
    for (std::uint32_t left = copy.multicast; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        if (rank >= ctas_.size())
            return add(rules::multicast_outside_cluster(copy.multicast, rank, ctas_.size()), op_->step);
        copy_to(isa::peer_address(copy.shared, rank), isa::peer_address(copy.mbarrier, rank), lane, bytes,
                its_box, true);
    }
}

void Rehearsal::store_async(const isa::AsyncStore& store, const isa::Addresses& to,
                            const isa::Addresses& mbarrier, const void*, int) {
    for_each_lane(active_, [&](std::size_t lane) {
        if (!to.knows(lane) || !mbarrier.knows(lane)) return refuse();
        copy_to(to[lane], mbarrier[lane], lane, store.bytes, nullptr, false);
    });
}

/// Handles cp.async.mbarrier.arrive: the copies are complete when the phase is. With `increase`, the arrival
/// cancels out the expected arrival that it adds.
void Rehearsal::arrive_copies(const isa::Addresses& mbarrier, bool increase) {
    isa::Counts arrivals;
    arrivals.fill(increase ? 0 : 1);
    mbarrier_arrive(mbarrier, {}, arrivals);
}

void Rehearsal::copy_to(std::uint64_t shared, std::uint64_t address, std::size_t lane, std::int64_t bytes,
                        const TensorBox* box, bool by_engine) {
    Cta* cta = peer(shared);
    Mbarrier* mbarrier = cta == nullptr ? nullptr : find(address, lane, by_engine);
    if (mbarrier == nullptr) return;
    if (mbarrier->cta != cta) return add(rules::mbarrier_apart_from_bytes(), op_->step);
    phase_known(*mbarrier, "copies into");
    // Threads that see the bytes know of the phases that precede the copy.
    mbarrier->arriving.learn(warp_->known, static_cast<int>(warps_.size()));
    const auto lo = static_cast<std::uint32_t>(shared),
               hi = lo + static_cast<std::uint32_t>(box != nullptr ? box->span() : bytes);
    overwrites(*mbarrier, lo, hi);
    std::erase_if(cta->written, [&](const Written& other) { return other.lo < hi && lo < other.hi; });
    cta->written.push_back({lo, hi, mbarrier, mbarrier->next(), op_->step, box});
    if (box == nullptr)
        cta->bring(lo, hi);
    else
        box->for_each_run(lo, [&](std::uint32_t at, std::uint32_t size) { cta->bring(at, at + size); });
    mbarrier->brought = op_->step;
    mbarrier->landed = mbarrier->next();
    mbarrier->begin_copy(bytes);
    mbarrier->copied = op_->step;
    copies_.push_back({mbarrier, op_->step, bytes, mbarrier->phase()});
}

/// The oldest copy lands.
void Rehearsal::land() {
    fruitless_ = 0;
    const Copy copy = copies_.front();
    copies_.erase(copies_.begin());
    Mbarrier& mbarrier = *copy.mbarrier;
    const Mbarrier::Landing landing = mbarrier.land(copy.bytes, copy.phase);
    if (!landing.counts) return;
    fits_count(mbarrier, landing.too_many, copy.step);
    advance(mbarrier);
}

}  // namespace wgrun::check
