// Waits for an mbarrier return before its phase is complete, after some time or at once (PTX
// ISA 9.7.13.15.16): what a thread does then.
#pragma once

#include <cstdint>
#include <set>

#include "check/kept.hpp"

namespace wgrun::check {

enum class Attempt : std::uint8_t {
    again,  ///< it waits again, until the phase is complete; or it traps
    asks,   ///< it goes on, and waits later where the answer was no: what it asks for saves time alone
    other   ///< it may do anything
};

class Attempts {
  public:
    explicit Attempts(const Outline& outline);

    /// Of a step that says whether the phase is complete.
    Attempt of(const Step& step) const;
    /// Whether the step waits where the answer to what another one asked was no, and there alone.
    bool answers(const Step& step) const { return answers_.contains(&step); }

  private:
    class Answers;

    std::set<const Step*> again_, asks_, answers_;
};

}  // namespace wgrun::check
