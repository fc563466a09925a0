// Whether loops of an exploration turn for ever: its cuts, and what is executed on the way from one to the
// next.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "check/skeleton.hpp"

namespace wgrun::check {

class Turning {
  public:
    /// A run from one cut to another one, or to one that covers it.
    struct Run {
        std::size_t from, to;
        bool draws = false;               ///< it draws a number
        std::set<BlockId> branches = {};  ///< at the ends of which a warp has branched
    };

    void add(Run run) { runs_.push_back(std::move(run)); }
    void clear() { runs_.clear(); }
    /// Whether states may come back in which somebody has branched at the end of one of these blocks, and
    /// nobody has drawn a number.
    bool without_draws(const std::set<BlockId>& blocks) const;

  private:
    std::vector<Run> runs_;
};

}  // namespace wgrun::check
