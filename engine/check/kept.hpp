// Which registers have the same value in each turn of a loop.
#pragma once

#include <vector>

#include "check/writers.hpp"

namespace wgrun::check {

/// Which registers keep their values while a thread goes round a loop, as far as the steps say that are
/// executed in every turn.
class Kept {
  public:
    Kept(const Outline& outline, const Writers& writers) : outline_(outline), writers_(writers) {}

    /// Has the register, which the end of the block `at` looks at, the same value in each turn of the loop?
    bool keeps(isa::Reg reg, int loop, BlockId at);

  private:
    bool comes_before(const Writer& writer, const Writer* reader) const;
    /// reader: null: it is the end of the block.
    bool keeps(isa::Reg reg, const Writer* reader);

    const Outline& outline_;
    const Writers& writers_;
    std::vector<isa::Reg> in_flight_;
    int loop_ = flow::no_loop;
    BlockId at_ = no_block;
};

}  // namespace wgrun::check
