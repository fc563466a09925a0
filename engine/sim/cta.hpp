// A CTA: the cluster runs its warps; its memory and its barriers are its own.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "isa/machine.hpp"
#include "machine/barriers.hpp"
#include "machine/register_pool.hpp"
#include "machine/together.hpp"
#include "sim/clocks.hpp"
#include "sim/livelock.hpp"
#include "sim/mbarrier.hpp"
#include "sim/memory.hpp"
#include "sim/registers.hpp"
#include "sim/retries.hpp"
#include "sim/shadow.hpp"
#include "sim/swizzled_boxes.hpp"

namespace wgrun::sim {

/// A warp: where it is, which lanes run, and what it waits for.
struct Warp {
    /// A warp at_barrier waits after its step; one that is asleep waits before its step and will execute it
    /// again. One that stands back is ready, but others run first.
    enum class State : std::uint8_t { ready, stands_back, at_barrier, at_collective, asleep, ended };
    /// What a sleeping warp waits for.
    enum class Wait : std::uint8_t { mbarrier, copies, cluster, registers, memory };
    /// Values of `barrier` where it is the offset of an mbarrier: several mbarriers, or none.
    static constexpr std::uint32_t several = UINT32_MAX - 1, none = UINT32_MAX;
    /// A strong access that found this in memory, if the warp has done nothing since.
    struct Poll {
        std::uint32_t pc = UINT32_MAX;
        bool global = false;
        std::uint64_t digest = 0;  ///< of the addresses and the values found there
        bool operator==(const Poll&) const = default;
    };

    /// What lanes do at a barrier that need not be aligned: wait at one of the CTA or arrive there, or the
    /// same at the barrier of the cluster.
    struct Meeting {
        enum class Kind : std::uint8_t { wait, arrival, cluster_wait, cluster_arrival } kind = Kind::wait;
        std::uint32_t barrier = 0;  ///< of the CTA
        bool operator==(const Meeting&) const = default;
    };
    struct Part {
        isa::Mask come = 0;     ///< they wait for the others of the warp
        isa::Mask counted = 0;  ///< the barrier has counted the warp, and they have not gone on
        Meeting at;             ///< where `come` are
        // Of those that vote:
        isa::Mask voters = 0, ayes = 0;
        std::vector<std::pair<isa::Reg, isa::Mask>> to{};  ///< destinations, and the lanes that have them
    };

    Warp(const Code& code, std::byte* registers_at) : registers(code, registers_at) {}

    /// Puts the warp at the start of the kernel. threads: those of the CTA from this warp on.
    void reset(int threads) {
        pc = 0;
        whole = all = running = threads >= isa::lanes ? UINT32_MAX : (1U << threads) - 1;
        exited = 0;
        state = State::ready;
        give_up = put_off = false;
        attempts.reset();
        diverged = retries = false;
        part = {};
        polled = looked = {};
        looks = 0;
        parted.clear();
        turns.reset();
        registers.reset();
    }

    std::uint32_t pc = 0;
    isa::Mask whole = 0;    ///< lanes that exist
    isa::Mask all = 0;      ///< lanes of `whole` that have not ended
    isa::Mask exited = 0;   ///< lanes that have ended at a branch, without doing anything else behind it
    isa::Mask running = 0;  ///< lanes of the current path
    isa::Mask active = 0;   ///< lanes that execute the collective step at which the warp waits
    State state = State::ready;
    Wait wait = Wait::mbarrier;
    bool give_up = false;  ///< its next wait for an mbarrier or for memory returns without success
    Retries attempts;
    bool put_off = false;   ///< it stood back before its step, and executes that now
    bool retries = false;   ///< it sleeps at a step that it has begun together with its warpgroup
    bool diverged = false;  ///< it has been reported that its lanes are apart
    Part part;
    Poll polled;
    Poll looked;                ///< the last one, whatever the warp has done since
    std::uint32_t looks = 0;    ///< how often in a row it found the same
    std::uint32_t barrier = 0;  ///< at which it waits: the number, or the offset of the mbarrier
    std::int64_t parity = 0;    ///< that it waits for there
    flow::Divergence parted;
    Registers registers;
    Livelock turns;
};

struct Cta {
    Cta(const Program& program, Shadow::Warps warps, bool watched, HazardSink& sink)
        : shared(program), shadow(warps, watched ? shared.bytes() : 0, sink), first(warps.first) {}

    void reset(Dim3 at, int warps, int entry_registers) {
        position = at;
        shared.poison();
        shadow.reset();
        barriers.reset(warps);
        meetings.fill(-1);
        ballots.clear();
        registers.reset(warps, entry_registers);
        groups.assign(static_cast<std::size_t>(warps / machine::Together::warps), {});
        mbarriers.reset();
        boxes.clear();
        owed.clear();
        running = warps;
    }

    /// The kernel must know the actor to be past this access before the CTA ends (copies, accesses of other
    /// CTAs).
    void owe(Epoch access) {
        const auto actor = static_cast<std::size_t>(access.actor());
        if (owed.size() <= actor) owed.resize(actor + 1);
        owed[actor] = access;
    }

    SharedMemory shared;
    Shadow shadow;
    machine::NamedBarriers barriers;
    std::array<int, sm_90a.barriers> meetings{};  ///< their places in Clocks; -1: none so far
    /// What the warps that wait at a barrier have voted.
    struct Ballot {
        isa::Vote vote = isa::Vote::count;
        std::uint32_t ayes = 0, voters = 0;  ///< threads
        struct To {
            int warp;  ///< in the CTA
            isa::Reg reg;
            isa::Mask lanes;
        };
        std::vector<To> to{};
    };
    std::map<std::uint32_t, Ballot> ballots;  ///< by barrier
    machine::RegisterPool registers;
    std::vector<machine::Together> groups;  ///< whole warpgroups
    MbarrierTable mbarriers;
    SwizzledBoxes boxes;
    std::vector<Epoch> owed;  ///< the last access of each actor
    Dim3 position;            ///< in the grid
    int first;                ///< its first warp, numbered in the cluster
    int running = 0;          ///< warps that have not ended
};

}  // namespace wgrun::sim
