// Commands of the prompt: lines that begin with a dot and a letter, which no chunk does.
#pragma once

#include <span>
#include <string_view>

#include "bindings/repl/session.hpp"

namespace wgrun::repl {

struct Command {
    std::string_view name;       ///< with its dot
    std::string_view arguments;  ///< what stands behind it, for .help; empty: nothing does
    std::string_view about;
    void (*run)(lua_State* L, Session& session);  ///< the argument is session.text
};

/// In the order in which .help lists them.
std::span<const Command> commands();

bool is_command(std::string_view line);

/// Runs the command in `line`. Raises what goes wrong, an unknown name with the nearest one.
void run_command(lua_State* L, Session& session, std::string_view line);

}  // namespace wgrun::repl
