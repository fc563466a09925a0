// The tokens of Lua text that a person is still typing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace wgrun::repl {

struct Token {
    enum class Kind { name, keyword, number, string, comment, symbol };

    Kind kind;
    std::size_t begin;   ///< bytes from the beginning of the text
    std::size_t end;     ///< after its last byte
    bool closed = true;  ///< false: a string or a long comment whose end has not been typed yet
};

/// Every token of `text`, also comments, in order; only white space is between them. Any text has tokens:
/// what Lua would refuse is a symbol of one byte.
std::vector<Token> tokens_of(std::string_view text);

/// The bytes of `token`.
inline std::string_view text_of(std::string_view text, const Token& token) {
    return text.substr(token.begin, token.end - token.begin);
}

}  // namespace wgrun::repl
