#include "sim/async_copies.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace wgrun::sim {

using isa::lanes;

namespace {

/// Returns when the copy has written, until a thread has waited for it.
Epoch epoch_of(const ThreadCopy& copy, int actor, int lane) {
    return {copy.clock, copy.pc, actor, lane, true};
}

bool is_done(const std::unique_ptr<ThreadCopy>& copy) { return copy->landed && copy->unseen == 0; }

}  // namespace

// --- issue and landing ---------------------------------------------------------------------------------

void AsyncCopies::copy_async(const isa::Addresses& to, const isa::Addresses& from, int bytes,
                             const isa::Counts& from_bytes) {
    if (scene_.launch.detect_races && copy_actor_ < 0) {
        copy_actor_ = clocks_.add_generic_actor(0);
        report_.copies_in_flight(copy_actor_);
    }
    ThreadCopies& own = of(scene_.current);
    auto made = std::make_unique<ThreadCopy>();
    ThreadCopy& copy = *made;
    copy.warp = scene_.current;
    copy.pc = scene_.pc;
    copy.serial = own.groups.issue();
    copy.clock = ++copy_clock_;
    copy.bytes = bytes;
    const Scene::Actors actors = scene_.actors();
    accesses_.for_each_access(
        true, isa::Space::shared, to, bytes, [&](std::byte*, int lane, Cta* cta, std::uint32_t offset) {
            const auto l = static_cast<std::size_t>(lane);
            const std::int64_t count = from_bytes[l];
            if (count > bytes) {
                report_.write_refused();
                return report_.fault({rules::WG_FORM_02,
                                      fmt::format("cp.async of {} is to take {} from global memory",
                                                  count_of(bytes, "byte"), count_of(count, "byte")),
                                      "src_size is at most the bytes that are copied"});
            }
            if (count > 0) {
                if (from[l] % static_cast<std::uint64_t>(bytes) != 0) {
                    report_.write_refused();
                    return report_.misaligned(false, bytes, from[l]);
                }
                copy.from[l] = scene_.global.find(from[l], static_cast<int>(count));
                if (copy.from[l] == nullptr) copy.from[l] = scene_.nowhere(static_cast<int>(count));
                if (copy.from[l] == nullptr) {
                    report_.write_refused();
                    return report_.global_out_of_bounds(
                        false, static_cast<int>(count),
                        scene_.global.describe(from[l], static_cast<int>(count)));
                }
            }
            if (count > 0 && scene_.dependents.watches())
                scene_.dependents.access(false, lane, copy.from[l], from[l],
                                         static_cast<std::uint64_t>(count));
            if (const std::uint64_t at = count > 0 ? scene_.global_shadow.watched(from[l]) : 0)
                for (int byte = 0, piece = 16; byte < count; byte += piece) {
                    while (piece > count - byte) piece /= 2;
                    scene_.global_shadow.load(actors.of(lane), lane, at + static_cast<std::uint64_t>(byte),
                                              piece);
                }
            copy.lanes |= 1U << lane;
            copy.to[l] = offset;
            copy.from_bytes[l] = static_cast<std::uint8_t>(count);
            if (scene_.launch.detect_races)
                cta->shadow.write_later(actors.of(lane), epoch_of(copy, copy_actor_, lane), offset,
                                        static_cast<std::uint32_t>(bytes));
        });
    if (copy.lanes == 0) return;
    copy.unseen = copy.lanes;
    flying_.push_back(&copy);
    own.copies.push_back(std::move(made));
}

void AsyncCopies::land(std::size_t index) {
    scene_.landed();
    ThreadCopy& copy = *flying_[index];
    flying_[index] = flying_.back();
    flying_.pop_back();
    Cta& cta = scene_.cta_of(copy.warp);
    machine::for_each_lane(copy.lanes, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* to = cta.shared.at(SharedMemory::base + copy.to[l]);
        const std::size_t taken = copy.from_bytes[l];
        if (taken != 0) std::memcpy(to, copy.from[l], taken);
        std::memset(to + taken, 0, static_cast<std::size_t>(copy.bytes) - taken);
    });
    copy.landed = true;
    scene_.wake_all(&cta, Warp::Wait::copies);
    scene_.signal_landed(copy.pc, copy.warp * lanes + std::countr_zero(copy.lanes));
    complete_arrivals(copy.warp);
}

// From now on, what the copy has written for a lane counts as written at that epoch.
void AsyncCopies::seen_by(ThreadCopy& copy, int lane, Epoch epoch) {
    copy.unseen &= ~(1U << lane);
    if (!scene_.launch.detect_races) return;
    Cta& cta = scene_.cta_of(copy.warp);
    cta.shadow.rewrite(epoch_of(copy, copy_actor_, lane), epoch, copy.to[static_cast<std::size_t>(lane)],
                       static_cast<std::uint32_t>(copy.bytes));
}

// --- groups --------------------------------------------------------------------------------------------

void AsyncCopies::commit_copies() { of(scene_.current).groups.commit(scene_.active); }

void AsyncCopies::wait_copies(std::optional<int> pending) {
    ThreadCopies& own = of(scene_.current);
    std::array<std::uint32_t, lanes> last{};  // the copy that each lane waits for, with those before it
    machine::for_each_lane(scene_.active, [&](int lane) {
        last[static_cast<std::size_t>(lane)] =
            pending ? own.groups.awaited(lane, *pending) : own.groups.issued();
    });
    const auto waited_for = [&](isa::Mask among, std::uint32_t serial) {
        isa::Mask out = 0;
        machine::for_each_lane(among & scene_.active, [&](int lane) {
            if (serial <= last[static_cast<std::size_t>(lane)]) out |= 1U << lane;
        });
        return out;
    };
    for (const auto& copy : own.copies)
        if (!copy->landed && waited_for(copy->lanes, copy->serial) != 0)
            return scene_.sleep(Warp::Wait::copies);
    // A thread that has waited for copies is treated as if it had written their bytes itself now.
    for (const auto& copy : own.copies)
        machine::for_each_lane(waited_for(copy->unseen, copy->serial), [&](int lane) {
            seen_by(*copy, lane, Epoch(clocks_.now(scene_.current), copy->pc, scene_.current, lane));
        });
    std::erase_if(own.copies, is_done);
    for (ThreadCopies::Delivery& delivery : own.deliveries) {
        const isa::Mask waiting = waited_for(delivery.lanes, delivery.serial);
        if (waiting != 0)
            clocks_.learn(scene_.current, scene_.lanes(waiting), delivery.actor, delivery.clock);
        delivery.lanes &= ~waiting;
    }
    std::erase_if(own.deliveries, [](const auto& delivery) { return delivery.lanes == 0; });
    machine::for_each_lane(scene_.active,
                           [&](int lane) { own.groups.finish(lane, last[static_cast<std::size_t>(lane)]); });
}

// --- mbarriers -----------------------------------------------------------------------------------------

void AsyncCopies::arrive_copies(const isa::Addresses& address, bool increase) {
    ThreadCopies& own = of(scene_.current);
    mbarriers_.promise(address, increase, [&](int lane, const Mbarrier& mbarrier) {
        own.arrivals.push_back({lane, own.groups.issued(), scene_.pc, mbarrier.offset()});
    });
    complete_arrivals(scene_.current);
}

// Performs those arrivals of the warp whose copies have all landed.
void AsyncCopies::complete_arrivals(int warp) {
    ThreadCopies& own = of(warp);
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

void AsyncCopies::arrive_for(ThreadCopies& own, int warp, const ThreadCopies::Arrival& arrival) {
    Cta& cta = scene_.cta_of(warp);
    report_.at(arrival.pc, warp * lanes + arrival.lane);
    mbarriers_.arrive_late(cta, arrival.mbarrier, arrival.pc, [&](std::uint32_t clock, int actor) {
        std::uint32_t last = no_pc;
        for (const auto& copy : own.copies) {
            if (copy->serial > arrival.serial || (copy->unseen >> arrival.lane & 1U) == 0) continue;
            seen_by(*copy, arrival.lane, Epoch(clock, copy->pc, actor, arrival.lane, true));
            last = copy->pc;
        }
        if (last == no_pc || !scene_.launch.detect_races) return;
        const auto same = std::ranges::find(own.deliveries, actor, &ThreadCopies::Delivery::actor);
        ThreadCopies::Delivery& delivery =
            same != own.deliveries.end()
                ? *same
                : *own.deliveries.insert(own.deliveries.end(), {actor, 0U, 0U, no_pc, isa::Mask{0}});
        delivery.clock = clock;
        delivery.serial = arrival.serial;
        delivery.pc = last;
        delivery.lanes |= 1U << arrival.lane;
    });
}

void AsyncCopies::left_over(const Cta& cta) {
    const auto report = [&](std::uint32_t pc, int warp, isa::Mask lanes_of_it) {
        report_.at(pc, warp * lanes + std::countr_zero(lanes_of_it));
        report_.copy_left_over();
    };
    for (int w = cta.first; w < cta.first + scene_.warps_per_cta; ++w) {
        const ThreadCopies& own = of(w);
        for (const auto& copy : own.copies)
            if (copy->unseen != 0) report(copy->pc, w, copy->unseen);
        for (const ThreadCopies::Delivery& delivery : own.deliveries) {
            bool known = false;
            for (int by = cta.first; by < cta.first + scene_.warps_per_cta; ++by)
                known |= clocks_.of(by).seen[delivery.actor] >= delivery.clock;
            if (!known) report(delivery.pc, w, delivery.lanes);
        }
    }
}

void AsyncCopies::reset() {
    flying_.clear();
    warps_.clear();
    warps_.resize(scene_.warps.size());
    copy_actor_ = -1;
    copy_clock_ = 0;
}

}  // namespace wgrun::sim
