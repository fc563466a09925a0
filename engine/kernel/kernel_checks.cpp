#include "kernel/kernel_checks.hpp"

#include <algorithm>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/errors.hpp"
#include "kernel/granted.hpp"
#include "kernel/synthetic.hpp"
#include "wgrun/progress.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

constexpr std::size_t most_remembered = 4096, most_looked_at = 64;  // launches

bool is_error(const Diagnostic& finding) { return finding.severity == Severity::error; }

/// A CTA that ends before its copies have landed has run as it would otherwise: a run may know why.
bool keeps_a_run(const FindingSet& findings) {
    return std::ranges::none_of(findings, [](const Diagnostic& finding) {
        return is_error(finding) && !breaks(finding, rules::WG_TMA_03);
    });
}

}  // namespace

const std::vector<Diagnostic>& KernelChecks::laws() {
    if (laws_) return *laws_;
    const Progress progress(Progress::Is::work, program().name() + ": its check");
    laws_ = source_.laws(*lowered_);
    return *laws_;
}

const std::vector<Diagnostic>& KernelChecks::findings() {
    if (findings_) return findings_->list();
    const Progress progress(Progress::Is::work, program().name() + ": its check");
    findings_ = FindingSet(laws());
    if (source_.made() == check::Made::by_author && keeps_a_run(*findings_))
        findings_->add_all(found_in_every_launch(program(), check::Made::by_author));
    return findings_->list();
}

bool KernelChecks::wrong() { return std::ranges::any_of(findings(), is_error); }

void KernelChecks::add(std::span<const Diagnostic> findings) {
    this->findings();
    findings_->add_all(findings);
}

std::vector<Diagnostic> KernelChecks::of_launch(const check::LaunchSizes& sizes) {
    if (!of_launches_) of_launches_.emplace(program());
    std::vector<Diagnostic> out = of_launches_->findings(sizes);
    source_.tell(out);
    return out;
}

void KernelChecks::require(const check::LaunchSizes& sizes) {
    const bool full = right_.size() >= most_looked_at;
    if (full && wrong_.empty()) return;
    if (!of_launches_) of_launches_.emplace(program());
    check::LaunchSizes relevant = of_launches_->relevant(sizes);
    Sizes launch(relevant.grid.x, relevant.grid.y, relevant.grid.z, std::move(relevant.params));
    if (right_.contains(launch) || (full && !wrong_.contains(launch))) return;
    const std::vector<Diagnostic> found = of_launch(sizes);
    const bool wrong = std::ranges::any_of(found, is_error);
    if (!wrong || wrong_.size() < most_looked_at) (wrong ? wrong_ : right_).insert(std::move(launch));
    throw_errors_of(found);
}

void KernelChecks::look_at(const RunOptions& launch) {
    if (!not_granted_) not_granted_ = illegal_metadata(program(), launch.args);
    if (launches_.size() < most_remembered) launches_.push_back(sizes_of(launch));
}

void KernelChecks::prove(const Assumptions& given) {
    const Progress progress(Progress::Is::work, this->program().name() + ": what is proved of it");
    const Program program = with_numbers(this->program(), given);
    if (!given.numbers.empty()) {
        std::vector<Diagnostic> found = check::check(program, source_.made());
        for (Diagnostic& finding : found) add_numbers(program, given, finding);
        source_.tell(found);
        add(found);
    }
    const std::optional<check::OpenShape> unknown = source_.open_shape(*lowered_);
    evidence_ = check::evidence(program, findings(), source_.made(), unknown ? &*unknown : nullptr, given);
    given_ = given;
    for (Diagnostic& finding : evidence_->findings) add_numbers(program, given, finding);
    source_.tell(evidence_->findings);
    add(evidence_->findings);
    // What follows from an error is not told from other faults.
    if (source_.made() == check::Made::by_author && !wrong()) add(found_with_sizes(program, *evidence_));
}

std::vector<Verdict> KernelChecks::verdicts(const Assumptions& given) {
    if (given.grid && program().grid_like(*given.grid) != *given.grid) check_grid(program(), *given.grid);
    findings();
    if (!evidence_ || given != given_) prove(given);
    check::Evidence out = *evidence_;
    if (not_granted_) out.gaps.push_back(*not_granted_);
    for (const check::LaunchSizes& launch : launches_) check::add_outside(out, program(), launch);
    return check::verdicts(findings(), out);
}

}  // namespace wgrun
