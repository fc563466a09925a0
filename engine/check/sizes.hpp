// What depends on the sizes of a launch: abstract executions with those of one, or with several where there
// is none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

class Findings;   // findings.hpp
class Outline;    // outline.hpp
struct Skeleton;  // skeleton.hpp

/// What a launch chooses.
struct LaunchSizes {
    Dim3 grid;                         ///< CTAs
    std::vector<std::int64_t> params;  ///< value of each parameter; ignored unless it is an integer
};

/// Raises values of parameters to what launches pass at least.
void raise_to_least(const Program& program, std::vector<std::int64_t>& params);

/// The launch, as a finding names it, with the values of these parameters.
FoundIn launch_of(const Program& program, const LaunchSizes& sizes, std::span<const int> integers = {});

/// What check() cannot know and a launch breaks: barriers that never complete, phases of mbarriers that never
/// complete or complete too often, register pools that are too small. The program must outlive it.
class LaunchCheck {
  public:
    explicit LaunchCheck(const Program& program);
    LaunchCheck(LaunchCheck&&) noexcept;
    ~LaunchCheck();

    /// Returns the sizes without what it does not look at: launches for which they are equal have the same
    /// findings.
    LaunchSizes relevant(LaunchSizes sizes) const;
    /// Returns what a launch of these sizes breaks.
    std::vector<Diagnostic> findings(const LaunchSizes& sizes) const;

  private:
    const Program& program_;
    std::unique_ptr<const Skeleton> skeleton_;
};

/// Executes the program abstractly, with several sizes if a launch matters, and adds to `findings` what goes
/// wrong with each of them. Returns true if that is complete: every warp has ended, or a fault was found.
/// `stored`: by buffer, whether threads may write to it.
bool execute_abstractly(const Outline& outline, std::vector<bool> stored, Findings& findings);

}  // namespace wgrun::check
