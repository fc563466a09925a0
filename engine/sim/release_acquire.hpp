// Release and acquire (PTX ISA 8): what warps of a cluster learn from each other through locations in memory,
// and clusters from each other.
#pragma once

#include <array>
#include <map>
#include <tuple>

#include "isa/order.hpp"
#include "sim/clocks.hpp"
#include "sim/exchange.hpp"

namespace wgrun::sim {

/// A releasing write leaves what the warp knows at its location, and so does a strong write after a releasing
/// fence. An acquiring read takes it from there, and so does an acquiring fence from the locations of strong
/// reads before it. Both sides must name a scope that includes the other's CTA.
class ReleaseAcquire {
  public:
    ReleaseAcquire(Clocks& clocks, int warps_per_cta, Exchange& exchange)
        : clocks_(clocks), warps_per_cta_(warps_per_cta), exchange_(exchange) {}

    /// cluster: its number in the grid.
    void reset(std::uint64_t cluster);

    // Strong accesses. location: of the first byte, the same for all threads that access it.
    void read(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order);
    /// combines: it is an atomic, which passes on what others have left there.
    void write(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order, bool combines);
    void fence(int warp, Lanes lanes, const isa::MemoryOrder& order);

    // Relaxed operations on mbarriers, which hand on what fences before and after them order.
    /// The row of an mbarrier learns what the warp had released by its last releasing fence.
    void arrive_relaxed(int warp, int row, bool to_other_ctas);
    /// The warp's next acquiring fence takes what the row of an mbarrier knows.
    void wait_relaxed(int warp, int row, bool from_other_ctas);

    /// Returns whether a write of this order by the warp releases.
    bool releases(int warp, const isa::MemoryOrder& order) const {
        return order.release || released_.contains(warp) ||
               (in_gpu_.fenced >= 0 && order.scope >= isa::Scope::gpu);
    }
    /// Returns what this cluster has learned of others.
    const Learned& learned() const { return learned_; }
    /// Returns the same, without when and by whom it was learned.
    const std::shared_ptr<const ClusterKnowledge>& known() const { return known_; }

  private:
    /// Rows of Clocks: one for threads of each CTA, and one for all others.
    struct Places {
        int cta = -1, wide = -1;
    };
    struct Location {
        int writer = -1;                 ///< the warp that stored last, or released first
        std::map<int, int> places = {};  ///< rows of Clocks by CTA; -1: of everywhere
    };
    static bool wide(const isa::MemoryOrder& order) { return order.scope > isa::Scope::cta; }
    int& made(int& place);
    int cta_of(int warp) const { return warp / warps_per_cta_; }

    Clocks& clocks_;
    int warps_per_cta_;
    std::map<std::uint64_t, Location> locations_;
    std::map<int, Places> released_;  ///< by warp: at its last releasing fence
    std::map<int, Places> read_;      ///< by warp: at the locations that it has read since an acquiring fence
    /// Reads what other clusters have released there.
    void learn(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order);
    Learned::Number know(int warp, Lanes lanes, const ClusterKnowledge& more);
    /// Lanes of a warp know the lesson, too, and those before it of the same actor.
    void recall(int warp, Lanes lanes, Learned::Number lesson);

    // Other clusters, by accesses in the scope of the GPU; those of other devices, by accesses in that of the
    // system.
    Exchange& exchange_;
    std::uint64_t cluster_ = 0;
    std::shared_ptr<const ClusterKnowledge> known_;
    Learned learned_;
    /// Warps whose numbers have the same remainder share one.
    static constexpr int most_teachers = 64;
    std::map<int, Learned::Number> teachers_;
    /// The lessons of acquiring fences, from reads before them: of each actor the last.
    std::map<int, std::uint32_t> by_fences_;
    /// What warps have read and no fence has acquired yet, by warp: of clusters of their own device, and of
    /// those of other devices.
    std::array<std::map<int, ClusterKnowledge>, 2> unfenced_;
    /// By warp and location, whether it was acquired, and whether in the scope of the system: the last
    /// release that was read.
    std::map<std::tuple<int, std::uint64_t, bool, bool>, std::uint64_t> read_at_;
    /// Of releases in the scope of the GPU or wider, and of those in the scope of the system.
    struct Released {
        std::map<std::uint64_t, int> done;  ///< by location: the row of Clocks with all that was released
        int fenced = -1;                    ///< the row of what came before fences; -1: there were none
    };
    Released in_gpu_, in_system_;
    void release(Released& so_far, int warp, Lanes lanes, std::uint64_t location,
                 const isa::MemoryOrder& order);
};

}  // namespace wgrun::sim
