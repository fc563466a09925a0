#include "check/rehearsal/report.hpp"

#include <algorithm>
#include <utility>

#include "rules/mbarrier_words.hpp"

namespace wgrun::check::rehearsal {

bool Report::told(const Rule& rule, Where where) const {
    return std::ranges::any_of(findings_, [&](const Diagnostic& finding) {
        return breaks(finding, rule) && finding.where == where;
    });
}

bool Report::told(const Rule& rule) const { return told(rule, scene_.op->step->where); }

bool Report::told_anywhere(const Rule& rule) const {
    return std::ranges::find(findings_, rule.id, &Diagnostic::rule) != findings_.end();
}

bool Report::remarked(Where where) const {
    return std::ranges::find(remarks_, where, &Diagnostic::where) != remarks_.end();
}

void Report::add(rules::Saying saying, Where where, std::vector<Note> notes) {
    if (!where) where = scene_.program.where();
    if (told(saying.rule, where)) return;
    std::erase_if(notes, [](const Note& note) { return !note.where; });
    findings_.push_back(rules::finding(std::move(saying), where, std::move(notes)));
}

void Report::fault(rules::Saying saying, std::vector<Note> notes) {
    add(std::move(saying), scene_.op->step->where, std::move(notes));
}

void Report::refused(Diagnostic finding) {
    finding.where = scene_.op->step->where;
    if (std::ranges::none_of(findings_, [&](const Diagnostic& told) {
            return told.rule == finding.rule && told.where == finding.where;
        }))
        findings_.push_back(std::move(finding));
}

void Report::remark(Diagnostic remark) { remarks_.push_back(std::move(remark)); }

namespace {

/// Returns whether the finding may be the cause of others. The rehearsal goes on as if the registers had been
/// there, or the engine had been told: nothing follows from that.
bool causes_others(const Diagnostic& finding) {
    return !breaks(finding, rules::WG_REG_02) && finding.circumstance != Circumstance::of_engine;
}

}  // namespace

std::vector<Diagnostic> Report::first_findings() const {
    std::vector<Diagnostic> out = findings_;
    const auto first = std::ranges::find_if(findings_, causes_others);
    if (first == findings_.end()) return out;
    if (std::cmp_less(first - findings_.begin(), faults_)) out.resize(faults_);
    std::erase_if(out, [&](const Diagnostic& finding) {
        return causes_others(finding) && finding.rule != first->rule;
    });
    return out;
}

}  // namespace wgrun::check::rehearsal
