// The states of an abstract execution that come back while a loop turns: what holds for one more period of
// the loop holds for any number of them.
//
// An abstract execution whose state comes back after a period, with counters that have grown, does the same
// again as long as its comparisons come out alike. So at a state that has come back the counters are taken to
// have grown by any number of periods (Variable::repeated): if the state comes back once more, and nothing on
// the way depends on that number, then it does for each. Behind it all periods are over (Variable::repeats).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "check/abstract/registers.hpp"

namespace wgrun::check::abstract {

class Recurrence {
  public:
    Recurrence(const ExecutionState& execution, const Values& values, const Live& live,
               const Mbarriers& mbarriers, Forms& forms)
        : execution_(execution), values_(values), live_(live), mbarriers_(mbarriers), forms_(forms) {}

    /// A round of the warps begins, in that state (encoder.hpp). Returns whether a root has got another step:
    /// the abstract execution is to begin anew.
    bool round(Encoded state);

    /// The roots that any number of periods more were shown for.
    const std::set<int>& repeated() const { return repeated_; }

  private:
    struct Round {
        std::uint64_t hash;  ///< of the state
        Encoded state;
        std::vector<Register> registers;
        std::size_t events;  ///< before it
    };
    /// The loop that a root ends is being repeated.
    struct Repeating {
        int root;
        std::size_t from;                  ///< the round
        std::size_t length;                ///< rounds
        std::vector<std::int64_t> growth;  ///< of each register in a period
    };

    /// How the numbers of a launch compared in a stretch of the abstract execution.
    class Ways {
      public:
        void add(const Forms::Event& event, const std::vector<Root>& roots);
        /// The root that all comparisons came out one way for, if it is one.
        std::optional<int> growing() const;

      private:
        std::map<int, std::pair<bool, bool>> ways_;  ///< by root: less, greater
    };

    bool same_form(const Forms::Slot& before, const Forms::Slot& now, std::int64_t more) const;
    std::optional<std::vector<std::int64_t>> growth(const Round& before, const Round& now) const;
    void begin(int root, std::size_t before);
    bool end();

    const ExecutionState& execution_;
    const Values& values_;
    const Live& live_;
    const Mbarriers& mbarriers_;
    Forms& forms_;
    std::vector<Round> rounds_;
    std::optional<Repeating> repeating_;
    std::set<int> repeated_;
};

}  // namespace wgrun::check::abstract
