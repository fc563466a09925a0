// cp.async: copies that threads issue, the groups that they wait for, and arrivals that wait for them (PTX
// ISA 9.7.9.25.3). One step of a warp is one copy: the bytes of its lanes land together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/groups.hpp"
#include "sim/accesses.hpp"
#include "sim/mbarriers.hpp"

namespace wgrun::sim {

struct ThreadCopy {
    int warp = 0;  ///< of the cluster
    std::uint32_t pc = 0;
    std::uint32_t serial = 0;  ///< among those of the warp, from 1
    std::uint32_t clock = 0;   ///< of its epochs, until a thread has waited for it
    int bytes = 0;             ///< of each lane
    bool landed = false;
    isa::Mask lanes = 0;
    isa::Mask unseen = 0;                        ///< those lanes that have not waited for it
    std::array<std::uint32_t, isa::lanes> to{};  ///< offsets in shared memory
    std::array<const std::byte*, isa::lanes> from{};
    std::array<std::uint8_t, isa::lanes> from_bytes{};  ///< zeros follow
};

/// The copies that one warp has issued.
struct ThreadCopies {
    /// An arrival of one lane that waits for its copies up to `serial`.
    struct Arrival {
        int lane;
        std::uint32_t serial;
        std::uint32_t pc;
        std::uint32_t mbarrier;  ///< offset
        bool arrived = false;
    };
    /// An mbarrier stands for the copies of these lanes: its actor, at this clock.
    struct Delivery {
        int actor;
        std::uint32_t clock;
        std::uint32_t serial;
        std::uint32_t pc;  ///< of the last copy
        isa::Mask lanes;
    };

    machine::Groups<> groups;
    std::vector<std::unique_ptr<ThreadCopy>>
        copies;  ///< those not landed, or not waited for by all their lanes
    std::vector<Arrival> arrivals;
    std::vector<Delivery> deliveries;  ///< the last to each mbarrier
};

class AsyncCopies {
  public:
    AsyncCopies(Scene& scene, Accesses& accesses, Mbarriers& mbarriers)
        : scene_(scene),
          report_(scene.report),
          clocks_(scene.clocks),
          accesses_(accesses),
          mbarriers_(mbarriers) {}

    void reset();

    void copy_async(const isa::Addresses& to, const isa::Addresses& from, int bytes,
                    const isa::Counts& from_bytes);
    void commit_copies();
    void wait_copies(std::optional<int> pending);
    void arrive_copies(const isa::Addresses& mbarrier, bool increase);

    std::size_t in_flight() const { return flying_.size(); }
    void land(std::size_t index);
    /// Reports copies of a CTA that ends for which neither their own threads have waited, nor any thread at
    /// an mbarrier.
    void left_over(const Cta& cta);

  private:
    void seen_by(ThreadCopy& copy, int lane, Epoch epoch);
    void complete_arrivals(int warp);
    void arrive_for(ThreadCopies& own, int warp, const ThreadCopies::Arrival& arrival);
    ThreadCopies& of(int warp) { return warps_[static_cast<std::size_t>(warp)]; }

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    Accesses& accesses_;
    Mbarriers& mbarriers_;
    std::vector<ThreadCopies> warps_;
    std::vector<ThreadCopy*> flying_;  ///< those that have not landed
    int copy_actor_ = -1;              ///< of copies for which no thread has waited
    std::uint32_t copy_clock_ = 0;     ///< of the last of them
};

}  // namespace wgrun::sim
