// Where a function of machine code goes on behind each instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/instruction.hpp"

namespace wgrun::sass {

using Place = std::uint32_t;  ///< an instruction of a function, by number

class Graph {
  public:
    explicit Graph(const Function& function);

    /// Behind a call stands what follows it: functions return there. Behind a return, and an exit of all
    /// lanes, stands nothing.
    const std::vector<Place>& next(Place at) const { return next_[at]; }
    /// The instructions that a call executes, to its return; in no order.
    const std::vector<Place>& called(Place at) const;
    /// Whether it lies on a path from the beginning, or in a function that one calls.
    bool reachable(Place at) const { return reachable_[at]; }
    /// How many loops are around it: cycles of the graph, and cycles within them.
    int depth(Place at) const { return depth_[at]; }
    /// The first instruction, in the order of the text, of the innermost loop around it; size(): none.
    Place loop(Place at) const { return loop_[at]; }
    /// Whether the branch leads back to a loop that lanes take one after the other, for values that are not
    /// the same in all of them (BRA.U.ANY): each lane passes the instructions of the loop once.
    bool repeats_for_lanes(Place at) const;
    /// A place that cannot be followed: a branch through a register; size(): there is none.
    Place open() const { return open_; }
    std::size_t size() const { return next_.size(); }

  private:
    void find_successors();
    void find_reachable();
    void find_loops();

    const Function* function_;
    std::vector<std::vector<Place>> next_;
    std::vector<std::pair<Place, std::vector<Place>>> called_;  ///< by call
    std::vector<bool> reachable_;
    std::vector<int> depth_;
    std::vector<Place> loop_;
    Place open_ = 0;
};

/// The label that an instruction names, "`(.L_x_4)"; empty: none.
std::string_view target_of(const Instruction& instruction);

}  // namespace wgrun::sass
