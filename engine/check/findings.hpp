// Collects findings: each (rule, place) once, in the order of the script.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rules/rule_message.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

/// Findings that are made as they are added; of those that are known, the notes are.
class Findings : public FindingSet {
  public:
    void add(Diagnostic finding) { add_with_notes(std::move(finding)); }
    void add(const Rule& rule, Where where, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, where, std::move(notes));
    }
    void add(rules::RuleMessage message, Where where, std::vector<Note> notes = {}) {
        add(rules::finding(std::move(message), where, std::move(notes)));
    }

    /// Returns whether there is a finding of that rule.
    bool has(const Rule& rule) const {
        return std::ranges::any_of(*this, [&](const Diagnostic& finding) { return breaks(finding, rule); });
    }
};

/// Whether the warps synchronise after this fault as they would without it. It spoils values of data, of
/// which none decides where a proof is made, or comes behind all that others wait for: the other properties
/// are proved as though it were repaired. So are they where the bulk-copy engine alone is not told of an
/// init, and where lanes of one step repeat it, which changes nothing.
inline bool is_contained(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.rule);
    const auto is = [&](Property property) { return rule != nullptr && rule->property == property; };
    using enum Property;
    if (finding.finding_kind == FindingKind::of_engine ||
        (finding.finding_kind == FindingKind::same_step && is(phases)))
        return true;
    return is(registers) || is(groups) || is(proxies) || is(shared_races) || is(global_races) ||
           is(descriptors) || is(cluster_end);
}

using rules::after;
using rules::before;

}  // namespace wgrun::check
