// A Lua state for one script: libraries, arguments, interrupts, and the handling of its errors.
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
    std::string traceback;             ///< of that error, on request
    /// The script raised it with error or assert, and it is not an error object: for instance a failed
    /// assertion.
    bool deliberate = false;
};

/// The work in the state. Runs in a protected call, so its frames hold no objects with destructors.
using Body = void (*)(lua_State* L, const Request& request, Outcome& outcome, void* context);

/// The exit code of a command that an error of this code ends: "ENODEV", "ECOMPILE", ...
int exit_code(std::string_view code);

/// Makes a state with the standard libraries and wgrun, runs `body`, and closes the state. Errors that leave
/// `body` are part of the outcome; nothing is printed.
Outcome with_state(const Request& request, lua::Mode mode, Body body, void* context);

/// Calls the function below `arguments` arguments; leaves `results` results on the stack if there is no
/// error. False, with the outcome filled in and no results, if there is one.
bool call_protected(lua_State* L, int arguments, Outcome& outcome, int results = 0);

/// Runs the pieces of -e, then the file, and leaves `results` of what the file returns on the stack. False,
/// with the outcome filled in and no results, if one of them raised an error.
bool run_scripts(lua_State* L, const Request& request, Outcome& outcome, int results = 0);

/// After a launch that was only traced, an error that the script raises itself, with error or assert, may be
/// caused by the missing results: it becomes a warning, which says that the rest was not checked. Every other
/// error, such as an undefined name, stays an error.
void forgive_missing_results(lua_State* L, Outcome& outcome);

/// Calls `visit` for the kernels that the script made, in order. The engine's errors become part of the
/// outcome.
void for_each_kernel(lua_State* L, Outcome& outcome, void (*visit)(Kernel& kernel, void* context),
                     void* context);

/// Ends a command that examines kernels, after its results were written: prints the remaining messages, and
/// returns the exit code.
int conclude(Results& results, const Outcome& outcome, std::span<const Diagnostic> findings);

/// Whether there is an error among them.
bool has_errors(std::span<const Diagnostic> findings);

/// Runs the kernel on this back end: on a GPU its guarded build, for two seconds at most, which names a hang.
void run_or_guard(Backend backend, Kernel& kernel, RunOptions options);

/// Prints findings for a person on standard error.
void print_findings(const Request& request, std::span<const Diagnostic> findings);

}  // namespace wgrun::cli
