// Registers in conditions of Lua: `if i == 5 then`, `while p do`, `p and q`.
//
// Lua decides these while the kernel is traced, where a register is always true and never equal to a number:
// a test that was meant for the kernel is silently constant. No metamethod sees it, so the script's source is
// analysed: the kernel is refused (WG-LUA-01) where an expression is proven to be a register on every path of
// the script, and its truth or its equality with a number is tested.
// docs/decisions/0024-registers-in-conditions.md says what is proven.
#pragma once

#include <lua.hpp>

#include <string>
#include <vector>

#include "bindings/lua/syntax.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::lua {

/// A parameter of a function of the chunk that has held a builder.
struct BuilderParameter {
    int function = syntax::none, parameter = syntax::none;
    bool operator==(const BuilderParameter&) const = default;
};

/// The tests in `chunk`, called `file` in the findings, that are proven to be constant.
std::vector<Diagnostic> constant_conditions(const syntax::Chunk& chunk, std::string_view file,
                                            const std::vector<BuilderParameter>& builders);

/// Looks at the functions of the script that run, and at the builders among their parameters. Called with
/// every step; cheap where the innermost one is that of the step before. Raises WG-LUA-01.
void watch_conditions(lua_State* L);

/// "`offset`": the source of the value at stack index `index` of the running C function, in the call or
/// operator on the script's line. Empty where the source is not available or is ambiguous. For messages;
/// `out` must not live in a C++ frame.
void source_of_argument(lua_State* L, int index, std::string& out);

}  // namespace wgrun::lua
