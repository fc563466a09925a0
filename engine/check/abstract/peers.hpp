// The memory of a cluster's CTAs in an abstract execution: who accesses that of others, and whether they may
// have ended by then (WG-SYNC-05).
#pragma once

#include <optional>
#include <vector>

#include "check/abstract/faults.hpp"

namespace wgrun::check::abstract {

class Peers {
  public:
    Peers(ExecutionState& execution, Faults& report)
        : execution_(execution), report_(report), ctas_(static_cast<std::size_t>(execution.ctas)) {}

    /// Returns the rank of the CTA that a shared address of the current warp lies in, and turns the address
    /// into one of that CTA's own window. If there is none, reports that and returns nothing. owes: the
    /// access is over when that CTA knows what the warp has done; of what an mbarrier counts, its phase
    /// tells.
    std::optional<int> find(std::uint64_t& address, bool owes);
    /// The current step accesses memory there.
    void visit(isa::Space space, const isa::Addresses& address);
    /// The last warp of a CTA has ended. Its warps must know that every access to its memory is complete.
    void close(int cta);

    auto state() { return std::tie(ctas_); }
    void encode(Encoder& to) const;

  private:
    /// An access to a CTA's memory by a warp of another CTA.
    struct Visit {
        int warp = 0;
        std::uint32_t clock = 0;
        const Step* step = nullptr;
    };
    struct Cta {
        bool ended = false;
        std::vector<Visit> visits;  ///< the last one of each warp
    };

    ExecutionState& execution_;
    Faults& report_;
    std::vector<Cta> ctas_;
};

}  // namespace wgrun::check::abstract
