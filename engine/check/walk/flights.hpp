// wgmma in flight: their groups, and threads that access their registers: WG-GROUP-01, -02, -03, -05 and -06.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "check/walk/drains.hpp"
#include "check/walk/scene.hpp"

namespace wgrun::check::walk {

class Flights {
  public:
    Flights(Scene& scene, Drains& drains) : scene_(scene), drains_(drains) {}

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
    const Flight* pending(Uses uses) const {
        const Flight* found = nullptr;
        for (const Flight& flight : *scene_.state.flights) {
            if (!flight.pending || (found && flight.age >= found->age)) continue;
            if (uses(*flight.registers) && scene_.holds(Property::registers, flight.pending)) found = &flight;
        }
        return found;
    }
    /// Reports an access to a register of `flight`, which nothing has waited for.
    void overtaken(const Flight& flight, MmaOperand part, std::string_view access);
    /// Continues as if the fault of `covered` were fixed, so that one fault gives one finding.
    void assume_waited(Flight covered);

  private:
    void uncommitted(const Flight& flight, bool at_end, std::vector<Note> notes);

    Scene& scene_;
    Drains& drains_;
    bool committed_by_some_ = false;  ///< what others have not committed is no news
};

}  // namespace wgrun::check::walk
