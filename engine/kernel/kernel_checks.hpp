// What is known to be wrong with the program of a kernel, and what is proved of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "check/evidence.hpp"
#include "check/sizes.hpp"
#include "kernel/kernel_source.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun {

/// Each is found out when it is asked for first. The source must outlive it.
class KernelChecks {
  public:
    KernelChecks(const KernelSource& source, std::shared_ptr<const ptx::Lowered> lowered)
        : source_(source), lowered_(std::move(lowered)) {}

    /// What breaks a rule that needs no launch.
    const std::vector<Diagnostic>& laws();
    /// The same, what every launch breaks, and what was added.
    const std::vector<Diagnostic>& findings();
    bool wrong();  ///< there is an error among the findings
    /// Adds what launches break.
    void add(std::span<const Diagnostic> findings);

    /// Returns what a launch of these sizes breaks, in the words for the source's author.
    std::vector<Diagnostic> of_launch(const check::LaunchSizes& sizes);
    /// Throws CheckError with the errors of that. Looks at the first 64 launches of different sizes, as far
    /// as sizes matter: a program that takes another length each time is not to wait for its check each time.
    /// Those that it has refused it goes on to refuse.
    void require(const check::LaunchSizes& sizes);

    /// Compares a launch with what proofs take for granted of data, and remembers it for their domains.
    void look_at(const RunOptions& launch);
    /// What the proof finds is added to the findings.
    std::vector<Verdict> verdicts(const Assumptions& given);

  private:
    const Program& program() const { return lowered_->program; }
    void prove(const Assumptions& given);

    const KernelSource& source_;
    std::shared_ptr<const ptx::Lowered> lowered_;
    std::optional<std::vector<Diagnostic>> laws_;
    std::optional<FindingSet> findings_;
    std::optional<check::Evidence> evidence_;
    Assumptions given_;                         ///< of the evidence
    std::optional<Gap> not_granted_;            ///< a launch passes data that a proof takes for others
    std::vector<check::LaunchSizes> launches_;  ///< of the script
    std::optional<check::LaunchCheck> of_launches_;
    /// Grid and integers of a launch.
    using Sizes = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::vector<std::int64_t>>;
    std::set<Sizes> right_, wrong_;  ///< launches without an error, and with one
};

}  // namespace wgrun
