// What the numbers and registers of a kernel of others mean, as far as its steps show it: where mbarriers and
// matrices lie in the bytes of its shared memory, and what holds their addresses; what is a parameter, a
// special register, the stage of a ring, a parity, a counter, an accumulator.
#pragma once

#include <string>
#include <vector>

#include "emit/lua.hpp"
#include "kernel/shared_witness.hpp"

namespace wgrun {

/// `seen`: what a run of the program has shown. `names`: the names of its registers in the text; accumulators
/// get others.
emit::LuaMeanings recovered_symbols(const Program& program, const SharedUse& seen,
                                    std::vector<std::string>& names);

}  // namespace wgrun
