// The context of the text being typed, for completion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wgrun::repl {

/// a.b.c, or the result of a call: a.b(...), a:m(...), a.b { ... }.
struct Path {
    std::vector<std::string> names;  ///< at least one
    std::string method;              ///< after a colon; empty: none
    bool called = false;
};

/// What a name of the text stands for, if the text itself determines it.
struct Declared {
    bool builder = false;      ///< the kernel that the function being typed builds
    std::optional<Path> path;  ///< the path whose value it has
};

struct Context {
    enum class Kind {
        nothing,  ///< a string, a comment, a number, a new name
        name,     ///< a local, a global or a word of Lua
        member,   ///< after a dot or colon of `path`
        option,   ///< a key in the braces of a call of `path`
        command,  ///< of the prompt
    };

    Kind kind = Kind::nothing;
    std::string prefix;              ///< the part already typed
    Path path;                       ///< for option: the function that is called
    bool colon = false;              ///< for member: methods are wanted
    std::string keys;                ///< for option: "epilogue." in the braces of that key
    std::vector<std::string> given;  ///< for option: keys that are already there
};

/// `text` ends at the cursor.
Context context_of(std::string_view text);

/// The last place in `text` where `name` is given a value: `local name = PATH`, `name = PATH(...)`, or as the
/// first parameter of a function after the word `kernel`.
Declared declared(std::string_view text, std::string_view name);

/// The names that occur in `text`, except fields and the word at its end.
std::vector<std::string> names_before(std::string_view text);

}  // namespace wgrun::repl
