// Synchronisation that nothing needs: what a kernel's launches do as well without.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wgrun/kernel.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Tries the launches of one kernel without each of its barriers, fences and waits, on the simulator: what no
/// launch needs becomes a remark (WG-PERF-07). A line is left out as a whole: what a script unrolls, and a
/// cluster's arrival with its wait. Left alone is what no launch of one kernel by itself shows: fences for
/// other CTAs of the grid and for the host, griddepcontrol, barriers at which only a part arrives; and what a
/// launch has not tried hard enough: what it does not execute, or in a loop for less than two rounds of its
/// stages.
///
/// For one thread at a time.
class Needless {
  public:
    /// `each`: every one by itself. `together`: those that are left, one after the other, as long as nothing
    /// needs those that are left out already. A second pass over the same launches, after which all remarks
    /// hold at once.
    enum class Pass { each, together };

    explicit Needless(const Kernel& kernel);
    Needless(Needless&&) noexcept;
    Needless& operator=(Needless&&) noexcept;
    ~Needless();

    /// Whether it is this kernel, or one that says the same at the same place.
    bool is(const Kernel& kernel) const;

    /// Tries a launch with schedules 1 to `seeds`, on copies of its tensors. Launches that are unchecked,
    /// have findings, or take longer than some seconds are left out. `sizes` tells them apart for a person,
    /// "n = 65"; empty: its grid and its integers do. Throws what a run throws that was stopped.
    void launch(Kernel& kernel, const RunOptions& options, int seeds, Pass pass, std::string_view sizes = {});

    /// Whether it has barriers, fences or waits to try.
    bool has_any() const;
    /// Whether something is left that no launch so far needs.
    bool any() const;
    /// What no launch needs.
    std::vector<Diagnostic> remarks() const;
    /// What was tried: "without barriers, fences and waits, one at a time (5): 3 launches".
    std::string summary() const;
    const std::string& name() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wgrun

#pragma GCC visibility pop
