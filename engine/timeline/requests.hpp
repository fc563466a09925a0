// What the requests to memory of a run took besides their bytes: sectors of global memory, passes of the
// banks of shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/effects.hpp"
#include "isa/warp.hpp"
#include "sim/observer.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// Sectors, or passes of the banks.
struct Units {
    std::int64_t taken = 0;   ///< 0: not known
    std::int64_t needed = 0;  ///< that would hold the bytes
};

/// Counts the requests of each step, warp by warp.
class Requests {
  public:
    void begin(const sim::Code& code);
    /// The warp is about to execute the operation: notes its addresses, which it may overwrite.
    void before(sim::View view, int warp, std::uint32_t pc);
    /// These lanes have executed it. Returns what its request took.
    Units after(std::uint32_t pc, isa::Mask executed);
    /// It starts a bulk copy from or to global memory.
    void copied(sim::View view, const sim::Signal& copy);

    /// All requests, by line.
    std::vector<Timeline::Requests> list(const sim::Code& code) const;

  private:
    struct Step {
        std::optional<isa::MemoryAccess> access;  ///< of lanes that have addresses of their own
        int lanes = isa::lanes;                   ///< that give addresses
        const TensorBox* box = nullptr;           ///< of the last copy through a tensor map
        std::uint64_t count = 0;
        Units sum;
    };
    void add(Step& step, Units units);

    std::vector<Step> steps_;  ///< by pc
    std::uint32_t pc_ = 0;     ///< of the current one
    std::array<std::uint64_t, isa::lanes> addresses_{};
};

}  // namespace wgrun::timeline
