// How calls of Lua fail.
#pragma once

#include <lua.hpp>

#include <string>
#include <vector>

#include "bindings/lua/script.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::c {

/// The failure of a protected call.
struct Trouble {
    std::string code;
    std::vector<Diagnostic> findings;
    std::string traceback;
    bool ours = false;  ///< an error object, not an error of the script's own
    lua::Raisers raisers{};
    bool deliberate = false;  ///< raised by a call of error or assert
};

/// The status for it.
int status_of(const Trouble& trouble);

/// Throws Failure.
[[noreturn]] void fail(int status, Trouble& trouble);

/// Pops the error on top of the stack.
void take_error(lua_State* L, Trouble& trouble);

/// Whether the script has reached a limit, even if it caught the error or was stopped inside the engine.
bool take_limit(lua_State* L, Trouble& trouble);

}  // namespace wgrun::c
