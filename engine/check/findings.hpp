// Collects findings: each (rule, place) once, in the order of the script.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "diag/fix.hpp"

namespace wgrun::check {

class Findings {
  public:
    /// Severity and section come from the rule called `id`. What is found again at the same place adds its
    /// notes to the first finding.
    void add(std::string_view id, Where where, std::string message, Fix fix, std::vector<Note> notes = {});

    /// Is there one of a rule whose id begins so?
    bool any_of(std::string_view family) const;

    /// All of them, by file (`first` before others) and line.
    std::vector<Diagnostic> sorted(std::string_view first) &&;

  private:
    std::vector<Diagnostic> list_;
};

/// "before line 41", or "before it" where no line is known.
std::string before(Where where);
std::string after(Where where);

}  // namespace wgrun::check
