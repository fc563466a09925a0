// When no warp of an abstract execution can continue: which warps wait for what, and why it never happens.
// WG-MBAR-05, WG-REG-02, WG-SYNC-02, WG-SYNC-04.
#pragma once

#include "check/abstract/barriers.hpp"
#include "check/abstract/register_grants.hpp"
#include "rules/wait_words.hpp"

namespace wgrun::check::abstract {

class Stuck {
  public:
    Stuck(ExecutionState& execution, Faults& report, const Mbarriers& mbarriers, const Barriers& barriers,
          const RegisterGrants& grants)
        : execution_(execution),
          report_(report),
          mbarriers_(mbarriers),
          barriers_(barriers),
          grants_(grants) {}

    /// Lets waits for mbarriers time out, after which the kernel may do something else. Returns whether any
    /// did.
    bool look_again();
    /// Reports the likeliest cause, unless warps that have left may help.
    void report();

  private:
    struct Suspect;
    bool others_may_run() const;
    int fewest_registers(const Warp& warp) const;
    bool never_enough_registers(const Warp& warp) const;
    Suspect suspect(const Warp& warp) const;
    rules::Wait waits_for(const Warp& warp) const;
    rules::RuleMessage hangs_at(const Warp& warp, const Rule& rule, Fix fix) const;
    void at_mbarrier(const Warp& warp);

    ExecutionState& execution_;
    Faults& report_;
    const Mbarriers& mbarriers_;
    const Barriers& barriers_;
    const RegisterGrants& grants_;
};

}  // namespace wgrun::check::abstract
