#include "check/rehearsal/report.hpp"

#include <algorithm>
#include <utility>

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

std::vector<Diagnostic> Report::first_findings() const {
    std::vector<Diagnostic> out = findings_;
    if (faults_ != 0) out.resize(faults_);
    std::erase_if(out, [&](const Diagnostic& finding) { return finding.rule != findings_.front().rule; });
    return out;
}

}  // namespace wgrun::check::rehearsal
