// The findings of a rehearsal. Each (rule, place) is reported once.
#pragma once

#include <vector>

#include "check/rehearsal/scene.hpp"
#include "rules/saying.hpp"

namespace wgrun::check::rehearsal {

class Report {
  public:
    explicit Report(const Scene& scene) : scene_(scene) {}

    /// Reports a fault at this place; where none is given (Where{}), at the kernel's own. Notes without a
    /// place are dropped.
    void add(rules::Saying saying, Where where, std::vector<Note> notes = {});
    void add(const Rule& rule, Where where, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, where, std::move(notes));
    }
    /// Reports a fault of the current step.
    void fault(rules::Saying saying, std::vector<Note> notes = {});
    /// Reports that the current step is illegal as executed.
    void refused(Diagnostic finding);
    /// Reports what is slow, but not wrong, once a place.
    void remark(Diagnostic remark);

    /// Returns whether the current step has been reported to break the rule.
    bool told(const Rule& rule) const;
    bool told_anywhere(const Rule& rule) const;
    bool remarked(Where where) const;

    /// What follows is reported because no warp can continue.
    void stuck() { faults_ = findings_.size(); }

    const std::vector<Diagnostic>& findings() const { return findings_; }
    const std::vector<Diagnostic>& remarks() const { return remarks_; }
    /// Returns the findings that break the same law as the first, of those before no warp could continue if
    /// there are any.
    std::vector<Diagnostic> first_findings() const;

  private:
    bool told(const Rule& rule, Where where) const;

    const Scene& scene_;
    std::vector<Diagnostic> findings_, remarks_;
    std::size_t faults_ = 0;  ///< number of findings before no warp could continue
};

}  // namespace wgrun::check::rehearsal
