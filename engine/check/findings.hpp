// Collects findings: each (rule, place) once, in the order of the script.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/saying.hpp"

namespace wgrun::check {

class Findings {
  public:
    /// Adds the finding; if its rule is known at this place, adds its notes to the first finding.
    void add(Diagnostic finding);
    void add(const Rule& rule, Where where, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, where, std::move(notes));
    }
    void add(rules::Saying saying, Where where, std::vector<Note> notes = {}) {
        add(rules::finding(std::move(saying), where, std::move(notes)));
    }

    /// Returns whether there is a finding of that rule.
    bool has(const Rule& rule) const;

    /// Returns all findings, ordered by file (`first` before others) and line.
    std::vector<Diagnostic> sorted(std::string_view first) &&;

  private:
    std::vector<Diagnostic> list_;
};

using rules::after;
using rules::before;

}  // namespace wgrun::check
