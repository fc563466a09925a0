// The threads that a stop applies to.
#pragma once

#include "sim/observer.hpp"
#include "wgrun/debugger.hpp"

namespace wgrun::debugging {

/// The number of a CTA in the grid; x counts fastest.
inline std::uint64_t number_of(Dim3 cta, Dim3 grid) {
    return cta.x + std::uint64_t{grid.x} * (cta.y + std::uint64_t{grid.y} * cta.z);
}

/// Does it apply to the warp? Ignores `nth`.
bool fits(const DebugWhen& when, const sim::View::Warp& warp, Dim3 grid);

/// Follows the warps of a cluster from line to line.
class Lines {
  public:
    void begin(int warps) { at_.assign(static_cast<std::size_t>(warps), {}); }
    /// The warp is about to execute operation `pc`: has it reached another line, or the same one again?
    bool enters(int warp, std::uint32_t pc, Where where);

  private:
    struct At {
        Where where;
        std::uint32_t pc = sim::no_pc;
    };
    std::vector<At> at_;
};

}  // namespace wgrun::debugging
