// Locals of the top level that outlast their chunk.
//
// Lua has no such thing: a local ends with the function that its chunk is. So a chunk is compiled inside a
// function that declares the locals of earlier chunks, whose variables are then put in their place
// (lua_upvaluejoin), and behind each of its own `local` statements the chunk hands its new variables over.
// Closures of every chunk share the variable itself and not a copy. This file does the text; chunk.hpp has
// the variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wgrun::repl {

/// A local that a chunk declares at its top level.
struct Local {
    enum class Kind {
        plain,
        constant,  ///< <const>
        closed,    ///< <close>: ends with its chunk, as its promise is
    };

    std::string name;
    Kind kind = Kind::plain;
};

/// The name under which chunks find the function keep(NAME, CLOSURE [, true]): CLOSURE returns the new local
/// NAME, which is a constant if the third argument is true.
inline constexpr std::string_view keep_name = "_wgrun_keep";

/// `chunk`, complete Lua text, with a call of keep for the locals of its top level where the statement behind
/// their own begins, and at its end. Lines stay where they are.
std::string with_kept_locals(std::string_view chunk);

/// The names that occur in `chunk`, each once: a local of earlier chunks that is none of these need not be
/// declared.
std::vector<std::string> names_in(std::string_view chunk);

}  // namespace wgrun::repl
