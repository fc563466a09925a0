// cp.async: copies that threads issue, the groups that they wait for, and arrivals that wait for them (PTX
// ISA 9.7.9.25.3). One step of a warp is one copy: the bytes of its lanes land together.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "isa/warp.hpp"
#include "wgrun/isa.hpp"

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
    /// A commit_group by these lanes, after so many copies of the warp.
    struct Group {
        isa::Mask lanes;
        std::uint32_t serial;
    };
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

    std::uint32_t issued = 0;
    std::vector<std::unique_ptr<ThreadCopy>>
        copies;                 ///< those not landed, or not waited for by all their lanes
    std::vector<Group> groups;  ///< not waited for by all their lanes, in order
    std::vector<Arrival> arrivals;
    std::vector<Delivery> deliveries;  ///< the last to each mbarrier
};

}  // namespace wgrun::sim
