// Which synchronising instructions of kernels launches on the simulator have executed. What none has
// executed, none of them has checked.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "wgrun/program.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// What launches have executed of one kernel.
struct CoveredKernel {
    /// A fence, wait, commit, arrival, barrier, operation of an mbarrier, bulk copy, or an access that
    /// acquires or releases.
    struct Instruction {
        Where where;
        std::string_view op;
        bool executed = false;
    };
    std::string name;
    Where where;
    std::vector<Instruction> instructions{};  ///< all that synchronise, in the order of the program

    std::size_t executed() const;
    /// 100 where nothing synchronises.
    double percent() const;
    /// The lines, by file, that have an instruction that no launch has executed.
    std::map<std::string_view, std::vector<int>> missing() const;
    /// "54 of 68 synchronising instructions ran; not: lines 12, 30-34", of other files "b.lua:7". A range has
    /// no instruction in it that ran.
    std::string text() const;
};

/// Adds up launches, also of several Lua states: kernels of the same name and place with the same
/// instructions are one. Not thread-safe.
class Coverage {
  public:
    /// Adds the steps that a launch of the program has executed: none where there is no launch.
    void add(const Program& program, const std::unordered_set<const Step*>& executed = {});
    /// In the order in which they came.
    const std::vector<CoveredKernel>& kernels() const { return kernels_; }

  private:
    std::vector<CoveredKernel> kernels_;
};

}  // namespace wgrun

#pragma GCC visibility pop
