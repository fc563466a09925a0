// The registers of a CTA, which its warps release and request by setmaxnreg (PTX ISA 9.7.19.5).
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/target.hpp"

namespace wgrun {
class Program;
}

namespace wgrun::machine {

/// Returns the registers of each thread when the kernel begins: the share of its CTA, and no more than the
/// largest setmaxnreg.inc asks for. The ISA leaves it to directives and to the assembler; ptxas 13.0 chooses
/// so.
int registers_at_entry(const Program& program);

/// Warps are numbered within the CTA; registers count per thread, except in free().
class RegisterPool {
  public:
    enum class Resize : std::uint8_t {
        taken,
        given_back,  ///< more of them are free now
        blocked,     ///< too few are free: the warp waits
        wrong_way,   ///< .inc to fewer than it has, or .dec to more; no effect
    };

    /// All warps have so many registers, and none are free.
    void reset(int warps, int at_entry) {
        warps_.assign(static_cast<std::size_t>(warps), {at_entry, 0});
        free_ = 0;
    }
    Resize resize(int warp, int registers, bool increase) {
        Warp& own = warps_[static_cast<std::size_t>(warp)];
        if (increase ? registers < own.held : registers > own.held) return Resize::wrong_way;
        const int more = (registers - own.held) * sm_90a.lanes;
        own.wanted = registers;
        if (more > free_) return Resize::blocked;
        free_ -= more;
        own = {registers, 0};
        return more < 0 ? Resize::given_back : Resize::taken;
    }

    int held(int warp) const { return warps_[static_cast<std::size_t>(warp)].held; }
    /// The registers that a warp waits for; 0: it does not wait.
    int wanted(int warp) const { return warps_[static_cast<std::size_t>(warp)].wanted; }
    int free() const { return free_; }

    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(static_cast<std::uint64_t>(free_));
        for (const Warp& warp : warps_)
            to.number(static_cast<std::uint64_t>(warp.held) << 32 | static_cast<std::uint32_t>(warp.wanted));
    }

  private:
    struct Warp {
        int held, wanted;
    };
    std::vector<Warp> warps_;
    int free_ = 0;
};

}  // namespace wgrun::machine
