// What a kernel is made of: a script's program, or an entry of a PTX text.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "check/check.hpp"
#include "check/evidence.hpp"
#include "kernel/foreign_entry.hpp"
#include "ptx/lower.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun {

/// Immutable.
class KernelSource {
  public:
    explicit KernelSource(Program program);
    explicit KernelSource(std::shared_ptr<const ForeignEntry> entry);

    /// Null: it is a script's.
    const std::shared_ptr<const ForeignEntry>& entry() const { return entry_; }
    /// The places of the lines of the text; empty: it is a script's.
    const std::vector<Where>& lines() const { return lines_; }
    check::Made made() const;

    /// Returns what a launch adds to it. Throws ArgumentError for what contradicts it; a script's kernel has
    /// a shape of its own.
    ptx::LaunchFacts facts(const RunOptions& options) const;
    [[noreturn]] void refuse_shape() const;
    /// Returns the launch with the CTAs of its grid, where the text has it count clusters.
    RunOptions in_ctas(RunOptions options) const;

    /// Returns the program that launches with these facts start; of a script nothing but the program is set.
    /// Throws CheckError for names that nothing declares.
    std::shared_ptr<const ptx::Lowered> lower(const ptx::LaunchFacts& facts) const;

    /// Returns what breaks a rule that needs no launch.
    std::vector<Diagnostic> laws(const ptx::Lowered& lowered) const;
    /// Returns what is left to launches and proofs depend on.
    std::optional<check::OpenShape> open_shape(const ptx::Lowered& lowered) const;
    /// Puts findings into the words for its author.
    void tell(std::vector<Diagnostic>& findings) const;

  private:
    std::shared_ptr<const ForeignEntry> entry_;
    std::shared_ptr<const ptx::Lowered> script_;  ///< its program; null: it is a text's
    std::vector<Where> lines_;
};

}  // namespace wgrun
