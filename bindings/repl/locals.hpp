// Locals of the top level that outlast their chunk.
//
// Lua has no such locals: a local ends with its chunk, which is a function. So a chunk is compiled inside a
// function that declares the locals of earlier chunks, whose variables are then put in their place
// (lua_upvaluejoin), and after each of its own `local` statements the chunk hands its new variables over.
// Closures of every chunk share the variable itself and not a copy. This file transforms the text; chunk.hpp
// manages the variables.
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
        closed,    ///< <close>: ends with its chunk, as <close> requires
    };

    std::string name;
    Kind kind = Kind::plain;
};

/// The name under which chunks find the function keep(NAME, CLOSURE [, true]): CLOSURE returns the new local
/// NAME, which is a constant if the third argument is true.
inline constexpr std::string_view keep_name = "_wgrun_keep";

/// `chunk`, complete Lua text, with a call of keep for the locals of its top level at the beginning of the
/// next statement, and at its end. Line numbers do not change.
std::string with_kept_locals(std::string_view chunk);

/// The names that occur in `chunk`, each once: a local of earlier chunks that is none of these need not be
/// declared.
std::vector<std::string> names_in(std::string_view chunk);

}  // namespace wgrun::repl
