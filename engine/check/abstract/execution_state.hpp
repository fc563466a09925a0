// What the parts of an abstract execution share: the warps and CTAs, the step that is executed, and how warps
// sleep, wake up and learn from each other.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/abstract/encoder.hpp"
#include "check/knowledge.hpp"
#include "check/sizes.hpp"
#include "check/skeleton.hpp"
#include "isa/warp.hpp"
#include "machine/peers.hpp"
#include "machine/waits.hpp"

namespace wgrun::check::abstract {

using Op = SkeletonOp;

struct Warp {
    /// at_barrier waits after its step; asleep waits before its step, and executes it again. A warp that has
    /// left may do anything that the program allows. parked waits before a comparison with a number of the
    /// launch, where an exploration decides who goes on.
    enum class State : std::uint8_t { ready, at_barrier, asleep, ended, left, parked };
    /// The likeliest cause first; products never alone.
    enum class Wait : std::uint8_t { registers, mbarrier, cluster, products };
    int number = 0;  ///< in the cluster
    int cta = 0;     ///< its rank
    std::uint32_t pc = 0;
    isa::Mask all = 0, running = 0;  ///< all: lanes that have not ended; running: the active ones
    State state = State::ready;
    Wait wait = Wait::mbarrier;
    /// The comparison at which it is parked: the number, and how much of that is left.
    struct Parked {
        int root = 0;
        std::int64_t left = 0;
    } parked = {};
    bool goes_on = false;        ///< it passes the comparison at which it was parked
    bool give_up = false;        ///< its next wait for an mbarrier returns without success
    std::uint32_t barrier = 0;   ///< at which it waits
    std::uint32_t now = 1;       ///< its clock
    std::uint32_t gathered = 0;  ///< its clock when its lanes last synchronised
    flow::Divergence parted;
    /// In a proof, of accesses to shared memory: the clock that counts them, and up to which of its values
    /// all lanes know of each other's, and their proxies do.
    std::uint32_t accesses = 1, together = 0, published = 0;
    std::uint32_t multiplied = 0;  ///< its waits for wgmma, each of all lanes
    isa::Mask touched = 0;         ///< the lanes that have accessed it since all lanes met
    isa::Mask some = 0;            ///< lanes that know more than the others...
    Clocks of_some;                ///< ...since they met: this
    Knowledge known;
    Knowledge fenced;  ///< at its last releasing fence
    Knowledge seen;    ///< what relaxed waits have found, for the next acquiring fence
};

/// In Knowledge::memory: the accesses of a warp that others come after, and that their proxies see; its waits
/// for wgmma; and the landed copies of an mbarrier, among so many warps.
constexpr int ordered_by(int warp) { return 3 * warp; }
constexpr int fenced_by(int warp) { return 3 * warp + 1; }
constexpr int multiplied_by(int warp) { return 3 * warp + 2; }
constexpr int landed_at(int mbarrier, std::size_t warps) { return 3 * static_cast<int>(warps) + mbarrier; }

/// Why something was not proved.
struct Stop {
    Where where;
    std::string reason;
};

class SharedMemory;  // shared_memory.hpp
class ShownNumbers;  // shown_numbers.hpp

/// One thread uses a scene at a time.
class ExecutionState {
  public:
    ExecutionState(const Program& program, const Skeleton& skeleton, LaunchSizes sizes, Dim3 cluster);

    const Program& program;
    const Skeleton& skeleton;
    const LaunchSizes sizes;
    const Dim3 at;  ///< position of the cluster in the grid of clusters
    const int warps_per_cta;
    const int ctas;           ///< of the cluster
    std::vector<Warp> warps;  ///< of the cluster
    machine::Waits waits;
    bool anybody_left = false;
    bool proves = false;             ///< a proof is made, of every schedule and every launch
    SharedMemory* shared = nullptr;  ///< in a proof about accesses to shared memory
    ShownNumbers* shown = nullptr;   ///< in an exploration, of numbers in shared memory that decide
    std::optional<Stop> stopped{};   ///< it is not: the first reason
    /// A wait that might not find its phase: it goes on later, or never. Nothing else follows, as what comes
    /// after the phase comes after later ones, too.
    std::optional<Stop> overtaken{};
    /// Attempts to wait, of those that may lead elsewhere, that were in vain.
    std::set<const Step*> given_up{};
    int fruitless = 0;  ///< rounds in which warps that sleep were woken and nothing happened

    // The current step.
    Warp* warp = nullptr;
    const Op* op = nullptr;
    isa::Mask active = 0;
    std::uint32_t began = 0;  ///< the clock of its warp before it: what its first lane releases is of that
    bool unclear = false;     ///< it depends on unknown values...
    bool loads = false;       ///< ...or its results are loaded from memory

    void stop(Where where, std::string reason) {
        if (proves && !stopped) stopped = Stop{where, std::move(reason)};
    }
    void refuse() { unclear = true; }
    void progress() { fruitless = 0; }
    void sleep(Warp::Wait wait) {
        warp->state = Warp::State::asleep;
        warp->wait = wait;
    }
    /// Wakes the warps that sleep for something of this kind, of those that which(warp) names.
    template <class Which>
    void wake(Warp::Wait wait, Which which) {
        fruitless = 0;
        for (Warp& other : warps)
            if (other.state == Warp::State::asleep && other.wait == wait && which(other))
                other.state = Warp::State::ready;
    }

    /// `place` learns what the current warp knows; later operations of the warp are not included.
    void release(Knowledge& place);
    /// What relaxed operations after it release, and those before it acquire.
    void fence(const isa::MemoryOrder& order);
    /// A warp learns what `place` knows, and its lanes learn of each other if they released there.
    void acquire(Warp& learns, const Knowledge& place) const;
    /// In a proof: what these lanes of the current warp know of accesses to shared memory, at that place of
    /// Knowledge::memory.
    std::uint32_t known(int index, isa::Mask lanes) const { return known(*warp, index, lanes); }
    static std::uint32_t known(const Warp& warp, int index, isa::Mask lanes);
    /// Whether an access `by` lanes of the current warp comes after one by lanes `of` a warp at that clock.
    bool comes_after(int before, isa::Mask of, std::uint32_t clock, isa::Mask by) const {
        return comes_after(*warp, before, of, clock, by);
    }
    /// The same of another warp.
    static bool comes_after(const Warp& warp, int before, isa::Mask of, std::uint32_t clock, isa::Mask by);
    /// In a proof: all lanes of a warp meet, or these lanes execute a proxy fence.
    static void gather(Warp& warp);
    void publish();
    /// Up to which of its accesses the active lanes of the current warp have got along.
    std::uint32_t covered() const { return (warp->touched & ~active) == 0 ? warp->accesses : warp->together; }

    /// What is saved at a cut, and restored (snapshot.hpp): so does each part of an abstract execution.
    auto state() { return std::tie(warps, waits, fruitless); }
    /// Writes down the warps, of so many actors.
    void encode(Encoder& to, int actors);

    /// The warps of its warpgroup that exist.
    std::span<const Warp> mates(const Warp& warp) const {
        const int leader = warp.number - local(warp) % isa::warps_of_group;
        const int end = std::min(leader + isa::warps_of_group, first(warp.cta) + warps_per_cta);
        return std::span(warps).subspan(static_cast<std::size_t>(leader),
                                        static_cast<std::size_t>(end - leader));
    }
    int local(const Warp& warp) const { return warp.number - first(warp.cta); }  ///< its number in its CTA
    int first(int cta) const { return cta * warps_per_cta; }  ///< the first warp of that CTA
    /// Returns whether some warp of the CTA knows that `actor` got as far as `clock`.
    bool known_in(int cta, int actor, std::uint32_t clock) const;
    /// The place in shared memory that an address of the current warp means; nothing: a generic one means
    /// other memory.
    std::optional<machine::SharedPlace> shared_place(isa::Space space, std::uint64_t address) const;
    /// "warp 3", with its CTA where there are several.
    std::string name(const Warp& warp) const;
    std::string name() const { return name(*warp); }
    /// "`full` + 8"
    std::string place(std::uint32_t offset) const;
    /// Returns null where there is none.
    const Step* step(std::uint32_t pc) const;
    Where where(std::uint32_t pc) const;
};

}  // namespace wgrun::check::abstract
