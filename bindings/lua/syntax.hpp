// Lua scripts as trees, for messages and for what Lua itself cannot see: which expression stands where, and
// which declaration a name means. Knows the grammar of Lua 5.4 and nothing of wgrun.
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
    int line = 0;           ///< of a call where its name stands, of an operation its operator: as Lua counts
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
    std::vector<int> values{};  ///< all that is assigned to it, its initial value too
    bool unknown = false;       ///< something is assigned that is no single expression here
    bool escapes = false;       ///< is used otherwise than to be called
    std::vector<int> calls{};   ///< its direct calls
};

struct Function {
    int first_line = 0, last_line = 0;
    std::vector<int> parameters{};  ///< declarations
    int expression = none;          ///< the function where it is written; none: the chunk, `function f()`
    int declaration = none;         ///< of `local function f`, and of `local f = function`
};

/// A value whose truth is asked for, and the text that runs only if it holds (or fails, for `else`).
struct Test {
    int expression = none;
    std::string_view keyword;  ///< "if", "while", "until", "not", "and", "or"
    std::string_view guarded;  ///< of `if`: the block, of `and`, `or`: the right operand
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

/// Reads a chunk; never throws but for memory.
void parse(std::string text, Chunk& chunk);

}  // namespace wgrun::lua::syntax
