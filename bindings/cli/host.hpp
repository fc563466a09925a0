// A Lua state for one script: libraries, arguments, interrupts, and what becomes of its errors.
#pragma once

#include <lua.hpp>

#include <span>
#include <vector>

#include "bindings/cli/cli.hpp"
#include "bindings/lua/session.hpp"

namespace wgrun::cli {

/// How a script ended.
struct Outcome {
    int code = Exit::ok;
    std::vector<Diagnostic> findings;  ///< of the error that ended it
    std::string traceback;             ///< of that error, if asked for
    /// The script raised it with error or assert, and it is no error object: a failed assertion, say.
    bool deliberate = false;
};

/// What is done in the state. Runs in a protected call, so its frames hold no objects with destructors.
using Body = void (*)(lua_State* L, const Request& request, Outcome& outcome, void* context);

/// Makes a state with the standard libraries and wgrun, runs `body`, closes the state. Errors that `body`
/// lets through end up in the outcome; nothing is printed.
Outcome with_state(const Request& request, lua::Mode mode, Body body, void* context);

/// Runs the pieces of -e, then the file, and leaves `results` of what the file returns on the stack. False,
/// with the outcome filled in and no results, if one of them raised an error.
bool run_scripts(lua_State* L, const Request& request, Outcome& outcome, int results = 0);

/// After a launch that was only traced, what the script itself refuses, with error or assert, may follow from
/// results that nobody computed: it becomes a warning, which says that the rest was not seen. Every other
/// error, such as an undefined name, stays one.
void forgive_missing_results(lua_State* L, Outcome& outcome);

/// Calls `visit` for the kernels that the script made, in order. The engine's errors end up in the outcome.
void for_each_kernel(lua_State* L, Outcome& outcome, void (*visit)(Kernel& kernel, void* context),
                     void* context);

/// The end of a command that looks at kernels, its results written: says what is left to say, and gives the
/// exit code.
int conclude(Results& results, const Outcome& outcome, std::span<const Diagnostic> findings);

/// Is there an error among them?
bool has_errors(std::span<const Diagnostic> findings);

/// Prints findings for a person on standard error.
void print_findings(const Request& request, std::span<const Diagnostic> findings);

}  // namespace wgrun::cli
