// What is being typed, as far as its text says: for completion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wgrun::repl {

/// a.b.c, or the result of a call: a.b(...), a:m(...), a.b { ... }.
struct Path {
    std::vector<std::string> names;  ///< at least one
    std::string method;              ///< behind a colon; empty: none
    bool called = false;
};

/// What a name of the text stands for, where the text itself says so.
struct Declared {
    bool builder = false;      ///< the kernel that the function being typed builds
    std::optional<Path> path;  ///< of which it has the value
};

struct Context {
    enum class Kind {
        nothing,  ///< a string, a comment, a number, a new name
        name,     ///< a local, a global or a word of Lua
        member,   ///< behind a dot or colon of `path`
        option,   ///< a key in the braces of a call of `path`
        command,  ///< of the prompt
    };

    Kind kind = Kind::nothing;
    std::string prefix;              ///< what has been typed of it
    Path path;                       ///< for option: of the function, called
    bool colon = false;              ///< for member: methods are wanted
    std::string keys;                ///< for option: "epilogue." in the braces of that key
    std::vector<std::string> given;  ///< for option: keys that stand there already
};

/// `text` ends at the cursor.
Context context_of(std::string_view text);

/// Where `name` has been given a value last in `text`: `local name = PATH`, `name = PATH(...)`, or as the
/// first parameter of a function behind the word `kernel`.
Declared declared(std::string_view text, std::string_view name);

/// The names that occur in `text`, but for fields and the word at its end.
std::vector<std::string> names_before(std::string_view text);

}  // namespace wgrun::repl
