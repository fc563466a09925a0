#include "check/abstract/faults.hpp"

#include <algorithm>
#include <utility>

#include "check/findings.hpp"
#include "rules/mbarrier_words.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun::check::abstract {

bool Faults::reported(std::string_view rule, const Step* at) const {
    return std::ranges::any_of(
        faults_, [&](const Fault& fault) { return fault.at == at && fault.finding.rule == rule; });
}

bool Faults::reported(const Rule& rule) const { return reported(rule.id, execution_.op->step); }

bool Faults::reported_anywhere(const Rule& rule) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) { return breaks(fault.finding, rule); });
}

bool Faults::remarked(Where where) const {
    return std::ranges::find(remarks_, where, &Diagnostic::where) != remarks_.end();
}

void Faults::add(rules::RuleMessage message, const Step* at, std::vector<Note> notes) {
    if (reported(message.rule.id, at) && !execution_.proves) return;
    const Where where = at != nullptr && at->where ? at->where : execution_.program.where();
    std::erase_if(notes, [](const Note& note) { return !note.where; });
    Diagnostic finding = rules::finding(std::move(message), where, std::move(notes));
    // A fault that is contained does not stand for one of the same rule that is not.
    if (std::ranges::any_of(faults_, [&](const Fault& fault) {
            return fault.at == at && fault.finding.rule == finding.rule &&
                   (is_contained(finding) || !is_contained(fault.finding));
        }))
        return;
    faults_.push_back({at, std::move(finding)});
}

void Faults::fault(rules::RuleMessage message, std::vector<Note> notes) {
    add(std::move(message), execution_.op->step, std::move(notes));
}

void Faults::refused(Diagnostic finding) {
    const Step* at = execution_.op->step;
    if (reported(finding.rule, at)) return;
    finding.where = at->where;
    faults_.push_back({at, std::move(finding)});
}

void Faults::remark(Diagnostic remark) { remarks_.push_back(std::move(remark)); }

namespace {

/// Returns whether the finding may be the cause of others. The abstract execution goes on as if the registers
/// had been there, or the engine had been told: nothing follows from that.
bool causes_others(const Diagnostic& finding) {
    return !breaks(finding, rules::WG_REG_02) && finding.finding_kind != FindingKind::of_engine;
}

}  // namespace

std::vector<Fault> Faults::first_faults() const {
    std::vector<Fault> out = faults_;
    const auto first = std::ranges::find_if(faults_, causes_others, &Fault::finding);
    if (first == faults_.end()) return out;
    if (std::cmp_less(first - faults_.begin(), unstuck_)) out.resize(unstuck_);
    std::erase_if(out, [&](const Fault& fault) {
        return causes_others(fault.finding) && fault.finding.rule != first->finding.rule;
    });
    return out;
}

std::vector<Diagnostic> reported_once(std::vector<Fault> faults) {
    FindingSet out;
    for (Fault& fault : faults) out.add(std::move(fault.finding));
    return out.list();
}

}  // namespace wgrun::check::abstract
