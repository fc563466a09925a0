// When two findings are one. Plain values; not thread-safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Whether both report the same: the same rule, broken at the same place, as severe. A warning does not stand
/// for an error of its line, which may be of another step. Only findings without a rule are told apart by
/// what they say: their message is all that they have.
bool same_finding(const Diagnostic& a, const Diagnostic& b);

/// Findings, each once (same_finding), in the order in which they came.
class FindingSet {
  public:
    FindingSet() = default;
    /// Of findings that are different from each other.
    explicit FindingSet(std::vector<Diagnostic> findings) : list_(std::move(findings)) {}

    bool has(const Diagnostic& finding) const;
    /// Adds the finding if it is new, and returns whether it was.
    bool add(Diagnostic finding);
    void add_all(std::span<const Diagnostic> findings);
    /// As add_all; an error of a launch also takes the place of the warnings of its rule and place, which
    /// launches with synthetic arguments have given.
    void add_of_launch(std::span<const Diagnostic> findings);
    /// As add; of one that is known the first keeps the notes besides, a few in all: paths and warps that
    /// meet at a step each tell where they come from.
    void add_with_notes(Diagnostic finding);
    /// As add_all, and another message is another finding: kernels that a loop or a library makes stand at
    /// the same lines, and may break a rule there in different ways.
    void add_wordings(std::span<const Diagnostic> findings);

    const std::vector<Diagnostic>& list() const { return list_; }
    /// Returns all, ordered by file (`first` before others) and line.
    std::vector<Diagnostic> sorted(std::string_view first) &&;

    std::size_t size() const { return list_.size(); }
    bool empty() const { return list_.empty(); }
    auto data() const { return list_.data(); }
    auto data() { return list_.data(); }
    auto begin() const { return list_.begin(); }
    auto end() const { return list_.end(); }
    auto begin() { return list_.begin(); }
    auto end() { return list_.end(); }

  private:
    std::vector<Diagnostic> list_;
};

}  // namespace wgrun

#pragma GCC visibility pop
