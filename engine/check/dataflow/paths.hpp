// How the analysis follows the paths of a program: block by block in reverse post-order, loops to their fixed
// point. A block is entered with one state, the join of all paths to it.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "check/dataflow/values.hpp"

namespace wgrun::check::dataflow {

class Paths {
  public:
    /// `step_into` executes a step; `leave` is called where a path ends, with the line after which it does.
    Paths(Analysis& analysis, Values& values, std::function<void(const Step&)> step_into,
          std::function<void(Where)> leave)
        : analysis_(analysis), values_(values), step_into_(std::move(step_into)), leave_(std::move(leave)) {}

    void run();

  private:
    /// A path into a block: its state, and the scopes that this depends on.
    struct Way {
        State state;
        std::vector<Scope> scopes;
    };
    struct Exit {
        BlockId to;
        Way way;
        bool decided;  ///< by the branch that decides every iteration
    };
    /// A loop that is being followed. Loops are not followed by recursion, so that a deep nest takes no more
    /// stack.
    struct Around {
        int loop = flow::no_loop;
        std::size_t next = 0;     ///< the place of its region at which the current iteration continues
        std::size_t scopes = 0;   ///< number of scopes around the loop
        RegisterValues values{};  ///< at the loop's entry
        bool known = false;       ///< the condition of each iteration must be known
        std::optional<Way>
            entry{};  ///< into the first iteration whose condition need not be known, or the next one
        std::optional<Way> head{};                                  ///< into the current iteration
        std::vector<std::pair<BlockId, std::vector<Way>>> aside{};  ///< into other blocks than its header
        std::ptrdiff_t kept = 0;  ///< the number of exits from iterations before the current one that count
        int pass = 0;             ///< of the iterations to the fixed point
        bool stopped = false;     ///< a condition was not known, or the steps were too many
        std::vector<Way> back{};
        std::vector<Exit> exits{};
        Decision decision{};  ///< of the current pass; id 0: none was made
        Known condition{};
    };

    void block(BlockId id);
    void enter(Way way);
    bool over(const Scope& scope, BlockId block) const;
    std::size_t first_over(const Way& way, BlockId block) const;
    bool continues(BlockId block) const;
    void close_scopes(Way& way, BlockId block) const;
    Way meet(std::vector<Way> ways, BlockId block) const;
    Way joined(Way a, Way b, BlockId block) const;
    void end(BlockId id);
    void branch(BlockId id);
    void iterate(BlockId id, const Known& unknown);
    void send(BlockId to, Way way);
    static void left_at_different_times(const RegisterValues& before, State& after, const Known& condition);
    void begin_loop(int loop);
    void begin_iteration();
    void end_iteration();
    void end_known(std::optional<Way> back);
    void end_unknown(std::optional<Way> back);
    void end_loop();

    Analysis& analysis_;
    Values& values_;
    std::function<void(const Step&)> step_into_;
    std::function<void(Where)> leave_;
    std::vector<std::vector<Way>> ways_;  ///< by block: the ways into it
    std::vector<Around> loops_;
};

}  // namespace wgrun::check::dataflow
