// Syntax trees of Lua scripts, for messages and for the analysis of conditions: which expression stands
// where, and which declaration a name refers to. Knows the grammar of Lua 5.4 and nothing of wgrun.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wgrun::lua::syntax {

inline constexpr int none = -1;  ///< no expression, no declaration

struct Expression {
    enum class Kind {
        nil,  ///< and nothing else
        boolean,
        number,
        string,
        name,      ///< of `declaration`; none: a global
        index,     ///< left.name, or left[right]
        call,      ///< left(arguments)
        method,    ///< left:name(arguments)
        unary,     ///< operation left
        binary,    ///< left operation right, `and` and `or` too
        paren,     ///< (left)
        function,  ///< of number `function`
        other      ///< a table, ...
    };
    Kind kind = Kind::other;
    int line = 0;  ///< of a call the line of its name, of an operation that of its operator, as in Lua
    std::string_view text;  ///< as written
    std::string_view name, operation;
    int left = none, right = none, declaration = none, function = none;
    std::vector<int> arguments{};
};

/// A local variable or a parameter.
struct Declaration {
    std::string_view name;
    int line = 0;
    int function = none;        ///< of which it is parameter number `parameter`
    int parameter = none;       ///< from 0; `self` of a method counts
    std::vector<int> values{};  ///< all values assigned to it, including the initial one
    bool unknown = false;       ///< something else than a single expression is assigned
    bool escapes = false;       ///< it is used for anything but calls
    std::vector<int> calls{};   ///< its direct calls
};

struct Function {
    int first_line = 0, last_line = 0;
    std::vector<int> parameters{};  ///< declarations
    int expression = none;          ///< the function where it is written; none: the chunk, `function f()`
    int declaration = none;         ///< of `local function f`, and of `local f = function`
};

/// A value that is tested for truth, and the text that runs only if it holds (or fails, for `else`).
struct Test {
    int expression = none;
    std::string_view keyword;  ///< "if", "while", "until", "not", "and", "or"
    std::string_view guarded;  ///< for `if` the block, for `and` and `or` the right operand
};

/// A chunk. Its views are of `text`.
struct Chunk {
    std::string text;
    bool good = false;  ///< false: it could not be read, and the rest is empty
    std::vector<Expression> expressions{};
    std::vector<Declaration> declarations{};
    std::vector<Function> functions{};  ///< the first is the chunk itself
    std::vector<Test> tests{};

    const Expression& at(int expression) const { return expressions[static_cast<std::size_t>(expression)]; }
};

/// Parses a chunk; throws only if there is not enough memory.
void parse(std::string text, Chunk& chunk);

}  // namespace wgrun::lua::syntax
