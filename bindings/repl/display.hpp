// Values as text for a person.
#pragma once

#include <lua.hpp>

#include "bindings/repl/figures.hpp"

namespace wgrun::repl {

/// Pushes the text of the value at `index`, which ends with a newline if it has several lines. Layouts, tiles
/// and fragments are shown as grids, tensors as matrices, kernels as a summary, findings as on the command
/// line; tables without __tostring are written out, their keys in order, to a depth and length that a person
/// can read. No code of the script runs but __tostring, whose error is shown in its place; interrupts and
/// lack of memory are raised.
void push_display(lua_State* L, int index, const View& view);

}  // namespace wgrun::repl
