// wgmma in flight: their groups, and threads that access their registers: WG-GROUP-01, -02, -03, -05 and -06.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "check/dataflow/analysis.hpp"
#include "check/dataflow/stalls.hpp"

namespace wgrun::check::dataflow {

class MmaGroups {
  public:
    MmaGroups(Analysis& analysis, Stalls& stalls) : analysis_(analysis), stalls_(stalls) {}

    /// wgmma.fence, commit_group, wait_group.
    void order_registers();
    /// apart: only some of the warpgroup's threads execute it, which is reported.
    void commit(bool apart);
    void wait(int pending);
    /// Handles the accesses of the step's threads.
    void touch(std::span<const Touch> touches);
    /// Reports what is pending at the end of the kernel, after line `end`.
    void left_over(Where end);

    /// Returns the youngest flight that no wait_group has covered, of those whose registers satisfy `uses`;
    /// or null.
    template <class Uses>
    const InFlightMma* pending(Uses uses) const {
        const InFlightMma* found = nullptr;
        for (const InFlightMma& flight : *analysis_.state.flights) {
            if (!flight.pending || (found && flight.age >= found->age)) continue;
            if (uses(*flight.registers) && analysis_.holds(Property::registers, flight.pending))
                found = &flight;
        }
        return found;
    }
    /// Reports an access to a register of `flight`, which nothing has waited for.
    void overtaken(const InFlightMma& flight, MmaOperand part, std::string_view access);
    /// Continues as if the fault of `covered` were fixed, so that one fault gives one finding.
    void assume_waited(InFlightMma covered);

  private:
    void uncommitted(const InFlightMma& flight, bool at_end, std::vector<Note> notes);

    Analysis& analysis_;
    Stalls& stalls_;
    bool committed_by_some_ = false;  ///< what others have not committed is no news
};

}  // namespace wgrun::check::dataflow
