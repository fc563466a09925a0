// Commands of the prompt: lines that begin with a dot and a letter, as no Lua chunk does.
#pragma once

#include <span>
#include <string_view>

#include "bindings/repl/session.hpp"

namespace wgrun::repl {

struct Command {
    std::string_view name;       ///< with its dot
    std::string_view arguments;  ///< its arguments as .help shows them; empty: none
    std::string_view about;
    void (*run)(lua_State* L, Session& session);  ///< the argument is session.text
};

/// In the order in which .help lists them.
std::span<const Command> commands();

bool is_command(std::string_view line);

/// Runs the command in `line`. Raises its errors, for an unknown name with the nearest one.
void run_command(lua_State* L, Session& session, std::string_view line);

}  // namespace wgrun::repl
