// Barriers of the CTA (bar.sync, bar.arrive; PTX ISA 9.7.13.1) and of the cluster (barrier.cluster;
// 9.7.13.3): which warps have arrived, and when all have.
//
// The abstract execution and the simulator drive them, as they do mbarriers: operations return what has
// happened.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "wgrun/target.hpp"

namespace wgrun::machine {

/// The barriers of a CTA. They count whole warps, in threads. Warps are numbered within the CTA, and bit w of
/// a mask stands for warp w.
class NamedBarriers {
  public:
    enum class Arrival : std::uint8_t {
        counted,
        counted_otherwise,  ///< it counts, although its number of threads differs from that of others
        illegal,    ///< there is no such barrier, or the threads are no whole warps; this and the next change
                    ///< nothing
        too_large,  ///< the barrier waits for more threads than the CTA has
    };

    void reset(int warps) { *this = NamedBarriers(warps); }
    explicit NamedBarriers(int warps = 0) : warps_(warps) {}

    /// The warp arrives for `threads` threads (0: all that have not ended), at step `pc`; `waits`: bar.sync.
    Arrival arrive(std::uint32_t id, int warp, std::uint32_t threads, bool waits, std::uint32_t pc) {
        if (id >= barriers_.size() || threads % sm_90a.lanes != 0) return Arrival::illegal;
        const std::uint32_t count = threads == 0 ? all() : threads, self = 1U << warp;
        Barrier& barrier = barriers_[id];
        const bool first = barrier.arrived == 0, otherwise = !first && barrier.expected != count;
        if (!otherwise && count > all()) return Arrival::too_large;
        if (first) barrier = {.expected = count, .first = pc};
        barrier.of_all &= threads == 0;
        // Arrivals are counted, not warps: one that arrives and then waits fills two places
        // (docs/silicon.md).
        barrier.again += (barrier.arrived & self) != 0 ? 1 : 0;
        barrier.arrived |= self;
        if (waits) barrier.waiting |= self;
        return otherwise ? Arrival::counted_otherwise : Arrival::counted;
    }
    /// The warp has ended. A barrier for all threads no longer waits for it: the caller asks each barrier
    /// whether it is complete now (PTX ISA 9.7.12.7, exit).
    void end(int warp) { ended_ |= 1U << warp; }
    /// Is the barrier complete? Then the warps that wait at it continue, and it is reset.
    std::optional<std::uint32_t> complete(std::uint32_t id) {
        Barrier& barrier = barriers_[id];
        if (barrier.arrived == 0) return {};
        const std::uint32_t ended = barrier.of_all ? threads_of(ended_ & ~barrier.arrived) : 0;
        if (arrived(id) + ended < barrier.expected) return {};
        const std::uint32_t waiting = barrier.waiting;
        barrier = {};
        return waiting;
    }

    std::uint32_t count() const { return static_cast<std::uint32_t>(barriers_.size()); }
    /// Threads that the barrier waits for. This and the following are known once a warp has arrived.
    std::uint32_t expected(std::uint32_t id) const {
        const Barrier& barrier = barriers_[id];
        return barrier.of_all ? barrier.expected - threads_of(ended_ & ~barrier.arrived) : barrier.expected;
    }
    std::uint32_t arrived(std::uint32_t id) const {
        const Barrier& barrier = barriers_[id];
        return threads_of(barrier.arrived) + barrier.again * sm_90a.lanes;
    }  ///< threads
    std::uint32_t first(std::uint32_t id) const {
        return barriers_[id].first;
    }  ///< the step of the first arrival

    /// Writes down who has arrived where.
    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(ended_);
        for (const Barrier& barrier : barriers_) {
            to.number(std::uint64_t{barrier.arrived} << 32 | barrier.waiting);
            to.number(std::uint64_t{barrier.expected} << 32 | barrier.again << 1 |
                      std::uint32_t{barrier.of_all});
        }
    }

  private:
    struct Barrier {
        std::uint32_t expected = 0;  ///< threads
        std::uint32_t arrived = 0, waiting = 0;
        std::uint32_t again = 0;  ///< arrivals of warps that had arrived
        std::uint32_t first = 0;
        bool of_all = true;  ///< no warp gave a number of threads
    };
    static std::uint32_t threads_of(std::uint32_t warps) {
        return static_cast<std::uint32_t>(std::popcount(warps) * sm_90a.lanes);
    }
    std::uint32_t all() const { return static_cast<std::uint32_t>(warps_ * sm_90a.lanes); }

    int warps_;
    std::uint32_t ended_ = 0;
    std::array<Barrier, sm_90a.barriers> barriers_{};
};

/// The barrier of a cluster. It counts warps, which are numbered through all CTAs; those that have ended
/// count as arrived.
class ClusterBarrier {
  public:
    enum class Wait : std::uint8_t {
        not_arrived,  ///< the warp has no phase to wait for
        blocked,
        passes,  ///< the phase that it arrived in is complete; it may arrive again
    };

    void reset(std::size_t warps) {
        warps_.assign(warps, {});
        running_ = missing_ = warps;
        here_ = 0;
        phase_ = 1;
    }
    /// False, without effect: the warp has arrived before and not waited.
    bool arrive(int warp) {
        Warp& own = warps_[static_cast<std::size_t>(warp)];
        if (own.phase != 0) return false;
        own.phase = phase_;
        ++here_;
        --missing_;
        return true;
    }
    /// The warp has ended.
    void end(int warp) {
        --running_;
        if (warps_[static_cast<std::size_t>(warp)].phase != phase_) --missing_;
    }
    /// Completes the current phase if all have arrived, at least one of them not by ending. The waiting warps
    /// then continue.
    bool turn() {
        if (missing_ != 0 || here_ == 0) return false;
        ++phase_;
        here_ = 0;
        missing_ = running_;
        return true;
    }
    Wait wait(int warp) {
        Warp& own = warps_[static_cast<std::size_t>(warp)];
        if (own.phase == 0) return Wait::not_arrived;
        if (own.phase == phase_) return Wait::blocked;
        own.phase = 0;
        return Wait::passes;
    }

    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(std::uint64_t{here_} << 40 | std::uint64_t{missing_} << 20 | running_);
        for (const Warp& warp : warps_) to.number(warp.phase == 0 ? 0 : phase_ - warp.phase + 1);
    }

    /// The phase in which the warp has arrived and not waited, counted from 1; 0: none.
    std::uint32_t arrived_in(int warp) const { return warps_[static_cast<std::size_t>(warp)].phase; }
    std::size_t arrived() const { return here_; }  ///< warps, in the current phase

  private:
    struct Warp {
        std::uint32_t phase = 0;
    };
    std::vector<Warp> warps_;
    std::size_t running_ = 0, missing_ = 0, here_ = 0;  ///< warps
    std::uint32_t phase_ = 1;                           ///< in progress
};

}  // namespace wgrun::machine
