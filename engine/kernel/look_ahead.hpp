// Running ahead of the launches of a script that is checked: a quick look at each, and a long one, within the
// time that a kernel has for them, where the quick one ends in a loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "ptx/lower.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// The launches of one kernel.
class LookAhead {
  public:
    /// Returns what the same launch would break with other memory than the script's, of which nobody knows
    /// what it will hold; nothing where it was looked at before, or as many were as a kernel may have. entry:
    /// of a kernel that was read from PTX, else null; `facts` are the launch's.
    std::vector<Diagnostic> at(const Program& program, const ptx::LaunchFacts& facts,
                               const RunOptions& options, const ForeignEntry* entry);

  private:
    struct Launch {
        ptx::LaunchFacts facts;
        Dim3 grid;
        std::vector<std::int64_t> params;
        bool operator==(const Launch&) const = default;
    };

    std::vector<Launch> seen_;
    std::chrono::milliseconds long_{0};  ///< how long the runs took that had no limit on their steps
};

}  // namespace wgrun
