// Collects findings: each (rule, place) once, in the order of the script.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rules/saying.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun::check {

/// Findings that are made as they are added; of those that are known, the notes are.
class Findings : public FindingSet {
  public:
    void add(Diagnostic finding) { add_with_notes(std::move(finding)); }
    void add(const Rule& rule, Where where, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, where, std::move(notes));
    }
    void add(rules::Saying saying, Where where, std::vector<Note> notes = {}) {
        add(rules::finding(std::move(saying), where, std::move(notes)));
    }

    /// Returns whether there is a finding of that rule.
    bool has(const Rule& rule) const {
        return std::ranges::any_of(*this, [&](const Diagnostic& finding) { return breaks(finding, rule); });
    }
};

using rules::after;
using rules::before;

}  // namespace wgrun::check
