// The findings of an abstract execution. Each rule is reported once at a step; a whole kernel may stand on
// one line, as the steps of a library do.
#pragma once

#include <vector>

#include "check/abstract/execution_state.hpp"
#include "rules/rule_message.hpp"

namespace wgrun::check::abstract {

/// A finding, and the step that it is about; null: the kernel.
struct Fault {
    const Step* at;
    Diagnostic finding;
};

class Faults {
  public:
    explicit Faults(const ExecutionState& execution) : execution_(execution) {}

    /// Reports a fault of this step; of none, at the kernel's own place. Notes without a place are dropped.
    void add(rules::RuleMessage message, const Step* at, std::vector<Note> notes = {});
    void add(const Rule& rule, const Step* at, std::string message, Fix fix, std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, at, std::move(notes));
    }
    /// Reports a fault of the current step.
    void fault(rules::RuleMessage message, std::vector<Note> notes = {});
    /// Reports that the current step is illegal as executed.
    void refused(Diagnostic finding);
    /// Reports what is slow, but not wrong, once a place.
    void remark(Diagnostic remark);

    /// Returns whether the current step has been reported to break the rule.
    bool reported(const Rule& rule) const;
    bool reported_anywhere(const Rule& rule) const;
    bool remarked(Where where) const;

    /// What follows is reported because no warp can continue.
    void stuck() { unstuck_ = faults_.size(); }

    const std::vector<Fault>& faults() const { return faults_; }
    const std::vector<Diagnostic>& remarks() const { return remarks_; }
    /// Returns the faults that break the same law as the first, of those before no warp could continue if
    /// there are any.
    std::vector<Fault> first_faults() const;

  private:
    bool reported(std::string_view rule, const Step* at) const;

    const ExecutionState& execution_;
    std::vector<Fault> faults_;
    std::vector<Diagnostic> remarks_;
    std::size_t unstuck_ = 0;  ///< number of faults before no warp could continue
};

/// Returns the findings of faults, each (rule, place) once.
std::vector<Diagnostic> reported_once(std::vector<Fault> faults);

}  // namespace wgrun::check::abstract
