// Values as a person reads them.
#pragma once

#include <lua.hpp>

#include "bindings/repl/figures.hpp"

namespace wgrun::repl {

/// Pushes the text of the value at `index`, which ends with a newline where it is more than a line. Layouts,
/// tiles and fragments are grids, tensors matrices, kernels a summary, findings what the command line prints;
/// tables without __tostring are written out, their keys in order, to a depth and length that a person can
/// read. The one code of the script that may run is a __tostring; what it raises stands in its place, except
/// that an interrupt and lack of memory are raised.
void push_display(lua_State* L, int index, const View& view);

}  // namespace wgrun::repl
