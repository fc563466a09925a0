#include "sim/thread_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "rules/mbarrier_words.hpp"
#include "sim/access.hpp"

namespace wgrun::sim {

using isa::lanes;

namespace {

template <class Visit>
void for_each_lane(isa::Mask mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

Epoch under_way(const ThreadCopy& copy, int actor, int lane) {
    return {copy.clock, copy.pc, actor, lane, true};
}

bool is_done(const std::unique_ptr<ThreadCopy>& copy) { return copy->landed && copy->unseen == 0; }

}  // namespace

// --- issue and landing ---------------------------------------------------------------------------------

void Cluster::copy_async(const isa::Addresses& to, const isa::Addresses& from, int bytes,
                         const isa::Counts& from_bytes) {
    if (launch_.detect_races && copy_actor_ < 0) {
        copy_actor_ = clocks_.add_generic_actor(0);
        report_.copies_under_way(copy_actor_);
    }
    ThreadCopies& own = thread_copies_[static_cast<std::size_t>(current_)];
    auto made = std::make_unique<ThreadCopy>();
    ThreadCopy& copy = *made;
    copy.warp = current_;
    copy.pc = pc_;
    copy.serial = ++own.issued;
    copy.clock = ++copy_clock_;
    copy.bytes = bytes;
    const Actors actors = this->actors();
    for_each_access(
        true, isa::Space::shared, to, bytes, [&](std::byte*, int lane, Cta* cta, std::uint32_t offset) {
            const auto l = static_cast<std::size_t>(lane);
            const std::int64_t count = from_bytes[l];
            if (count > bytes)
                return report_.fault(
                    {rules::WG_FORM_02,
                     fmt::format("cp.async of {} bytes is to take {} bytes from global memory", bytes, count),
                     "src_size is at most the bytes that are copied"});
            if (count > 0) {
                if (from[l] % static_cast<std::uint64_t>(bytes) != 0)
                    return report_.misaligned(false, bytes, from[l]);
                copy.from[l] = global_.find(from[l], static_cast<int>(count));
                if (copy.from[l] == nullptr)
                    return report_.global_out_of_bounds(false, static_cast<int>(count),
                                                        global_.describe(from[l], static_cast<int>(count)));
            }
            if (const std::uint64_t at = count > 0 ? global_shadow_.watched(from[l]) : 0)
                for (int byte = 0, piece = 16; byte < count; byte += piece) {
                    while (piece > count - byte) piece /= 2;
                    global_shadow_.load(actors.of(lane), lane, at + static_cast<std::uint64_t>(byte), piece);
                }
            copy.lanes |= 1U << lane;
            copy.to[l] = offset;
            copy.from_bytes[l] = static_cast<std::uint8_t>(count);
            if (launch_.detect_races)
                cta->shadow.write_later(actors.of(lane), under_way(copy, copy_actor_, lane), offset,
                                        static_cast<std::uint32_t>(bytes));
        });
    if (copy.lanes == 0) return;
    copy.unseen = copy.lanes;
    flying_.push_back(&copy);
    own.copies.push_back(std::move(made));
}

void Cluster::land_thread_copy(std::size_t index) {
    fruitless_ = 0;
    if (pollers_) wake_pollers();
    ThreadCopy& copy = *flying_[index];
    flying_[index] = flying_.back();
    flying_.pop_back();
    Cta& cta = ctas_[static_cast<std::size_t>(copy.warp / warps_per_cta_)];
    for_each_lane(copy.lanes, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* to = cta.shared.at(SharedMemory::base + copy.to[l]);
        const std::size_t taken = copy.from_bytes[l];
        if (taken != 0) std::memcpy(to, copy.from[l], taken);
        std::memset(to + taken, 0, static_cast<std::size_t>(copy.bytes) - taken);
    });
    copy.landed = true;
    wake(&cta, Warp::Wait::copies, [](const Warp&) { return true; });
    if (launch_.observer != nullptr)
        launch_.observer->landed(View(*this), copy.pc, copy.warp * isa::lanes + std::countr_zero(copy.lanes));
    complete_arrivals(copy.warp);
}

// From now on, what the copy has written for a lane counts as written at that epoch.
void Cluster::seen_by(ThreadCopy& copy, int lane, Epoch epoch) {
    copy.unseen &= ~(1U << lane);
    if (!launch_.detect_races) return;
    Cta& cta = ctas_[static_cast<std::size_t>(copy.warp / warps_per_cta_)];
    cta.shadow.rewrite(under_way(copy, copy_actor_, lane), epoch, copy.to[static_cast<std::size_t>(lane)],
                       static_cast<std::uint32_t>(copy.bytes));
}

// --- groups --------------------------------------------------------------------------------------------

void Cluster::commit_copies() {
    ThreadCopies& own = thread_copies_[static_cast<std::size_t>(current_)];
    own.groups.push_back({active_, own.issued});
}

void Cluster::wait_copies(std::optional<int> pending) {
    ThreadCopies& own = thread_copies_[static_cast<std::size_t>(current_)];
    std::array<std::uint32_t, lanes> last{};  // the copy that each lane waits for, with those before it
    for_each_lane(active_, [&](int lane) {
        std::uint32_t& serial = last[static_cast<std::size_t>(lane)];
        if (!pending) {
            serial = own.issued;
            return;
        }
        int younger = 0;
        for (auto group = own.groups.rbegin(); group != own.groups.rend(); ++group) {
            if ((group->lanes >> lane & 1U) == 0 || younger++ < *pending) continue;
            serial = group->serial;
            return;
        }
    });
    const auto waited_for = [&](isa::Mask among, std::uint32_t serial) {
        isa::Mask out = 0;
        for_each_lane(among & active_, [&](int lane) {
            if (serial <= last[static_cast<std::size_t>(lane)]) out |= 1U << lane;
        });
        return out;
    };
    for (const auto& copy : own.copies)
        if (!copy->landed && waited_for(copy->lanes, copy->serial) != 0) return sleep(Warp::Wait::copies);
    // A thread that has waited for copies is treated as if it had written their bytes itself now.
    for (const auto& copy : own.copies)
        for_each_lane(waited_for(copy->unseen, copy->serial), [&](int lane) {
            seen_by(*copy, lane, Epoch(clocks_.now(current_), copy->pc, current_, lane));
        });
    std::erase_if(own.copies, is_done);
    for (ThreadCopies::Delivery& delivery : own.deliveries) {
        const isa::Mask waiting = waited_for(delivery.lanes, delivery.serial);
        if (waiting != 0) clocks_.learn(current_, {waiting, warp().all}, delivery.actor, delivery.clock);
        delivery.lanes &= ~waiting;
    }
    std::erase_if(own.deliveries, [](const auto& delivery) { return delivery.lanes == 0; });
    for (ThreadCopies::Group& group : own.groups) group.lanes &= ~waited_for(group.lanes, group.serial);
    std::erase_if(own.groups, [](const auto& group) { return group.lanes == 0; });
}

// --- mbarriers -----------------------------------------------------------------------------------------

void Cluster::arrive_copies(const isa::Addresses& address, bool increase) {
    ThreadCopies& own = thread_copies_[static_cast<std::size_t>(current_)];
    isa::Mask released = 0;  // lanes that have released
    for_each_lane(active_, [&](int lane) {
        report_.lane(current_ * lanes + lane);
        const Found found = find_mbarrier(address[static_cast<std::size_t>(lane)], User::thread, lane);
        if (found.mbarrier == nullptr) return;
        if (found.cta != cta_)
            return report_.fault({rules::WG_SYNC_05,
                                  fmt::format("{} arrives at an mbarrier of another CTA", report_.who()),
                                  "arrive at one of its own: the copies of a thread land in its own CTA"});
        Mbarrier& mbarrier = *found.mbarrier;
        check_phase_known(mbarrier, lane, "arrives at");
        if (increase && !mbarrier.expect_arrival())
            return report_.fault(
                rules::no_more_arrivals(report_.place(mbarrier.offset()), mbarrier.pending()));
        if (launch_.detect_races && (released >> lane & 1U) == 0) {
            const isa::Mask same = lanes_at(address, active_, address[static_cast<std::size_t>(lane)]);
            clocks_.release(current_, mbarrier.arriving, {same, warp().all});
            released |= same;
        }
        own.arrivals.push_back({lane, own.issued, pc_, mbarrier.offset()});
    });
    waits_.arrives(current_);
    complete_arrivals(current_);
}

// Performs those arrivals of the warp whose copies have all landed.
void Cluster::complete_arrivals(int warp) {
    ThreadCopies& own = thread_copies_[static_cast<std::size_t>(warp)];
    for (ThreadCopies::Arrival& arrival : own.arrivals) {
        const auto waits_for = [&](const auto& copy) {
            return !copy->landed && copy->serial <= arrival.serial && (copy->lanes >> arrival.lane & 1U) != 0;
        };
        if (std::ranges::any_of(own.copies, waits_for)) continue;
        arrival.arrived = true;
        arrive_for(own, warp, arrival);
    }
    std::erase_if(own.arrivals, [](const auto& arrival) { return arrival.arrived; });
    std::erase_if(own.copies, is_done);
}

void Cluster::arrive_for(ThreadCopies& own, int warp, const ThreadCopies::Arrival& arrival) {
    Cta& cta = ctas_[static_cast<std::size_t>(warp / warps_per_cta_)];
    Mbarrier* mbarrier = cta.mbarriers.find(arrival.mbarrier);
    if (mbarrier == nullptr || !mbarrier->live()) return;
    report_.at(arrival.pc, warp * lanes + arrival.lane);
    mbarrier->pc = arrival.pc;
    if (!mbarrier->arrive(1)) return arrives_too_early(*mbarrier, 1);
    // A thread that waits for the phase has seen what the copies wrote.
    const std::uint32_t clock = mbarrier->next();
    const int actor = generic_actor(cta, *mbarrier);
    std::uint32_t last = no_pc;
    for (const auto& copy : own.copies) {
        if (copy->serial > arrival.serial || (copy->unseen >> arrival.lane & 1U) == 0) continue;
        seen_by(*copy, arrival.lane, Epoch(clock, copy->pc, actor, arrival.lane, true));
        last = copy->pc;
    }
    if (last != no_pc && launch_.detect_races) {
        const auto same = std::ranges::find(own.deliveries, actor, &ThreadCopies::Delivery::actor);
        ThreadCopies::Delivery& delivery =
            same != own.deliveries.end()
                ? *same
                : *own.deliveries.insert(own.deliveries.end(), {actor, 0U, 0U, no_pc, isa::Mask{0}});
        delivery.clock = clock;
        delivery.serial = arrival.serial;
        delivery.pc = last;
        delivery.lanes |= 1U << arrival.lane;
    }
    advance(cta, *mbarrier);
}

// Reports copies of the CTA for which neither their own threads have waited, nor any thread at an mbarrier.
void Cluster::copies_left_over(const Cta& cta) {
    const auto report = [&](std::uint32_t pc, int warp, isa::Mask lanes_of_it) {
        report_.at(pc, warp * lanes + std::countr_zero(lanes_of_it));
        report_.copy_left_over();
    };
    for (int w = cta.first; w < cta.first + warps_per_cta_; ++w) {
        const ThreadCopies& own = thread_copies_[static_cast<std::size_t>(w)];
        for (const auto& copy : own.copies)
            if (copy->unseen != 0) report(copy->pc, w, copy->unseen);
        for (const ThreadCopies::Delivery& delivery : own.deliveries) {
            bool known = false;
            for (int by = cta.first; by < cta.first + warps_per_cta_; ++by)
                known |= clocks_.of(by).seen[delivery.actor] >= delivery.clock;
            if (!known) report(delivery.pc, w, delivery.lanes);
        }
    }
}

// Returns the actor of writes through the generic proxy that are known to threads that wait for the mbarrier.
int Cluster::generic_actor(const Cta& cta, Mbarrier& mbarrier) {
    if (launch_.detect_races && mbarrier.generic_actor < 0)
        mbarrier.generic_actor = clocks_.add_generic_actor(rank(cta));
    return std::max(mbarrier.generic_actor, 0);
}

}  // namespace wgrun::sim
