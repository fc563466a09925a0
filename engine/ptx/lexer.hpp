// The words of a PTX text.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/module.hpp"

namespace wgrun::ptx {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        word,     ///< mov, %r1, $L__BB0_1, _
        dotted,   ///< .b32, .L2::cache_hint
        integer,  ///< `value`: its bits
        f32,      ///< `value`: IEEE bits
        f64,
        string,  ///< with its quotes
        symbol,  ///< a character, or two: << >> <= >= == != && || ::
        bad,     ///< nothing that PTX has
    };
    Kind kind = Kind::end;
    bool first = false;     ///< the first of its line
    char symbol = 0;        ///< the character; of two, as the list in lexer.cpp says
    const char* what = "";  ///< bad: what is wrong
    Span span;
    std::int64_t value = 0;
};

// Symbols of two characters.
inline constexpr char shift_left = 'l', shift_right = 'r', at_most = 'n', at_least = 'x', same = 'e',
                      differs = 'd', both = 'a', either = 'o', scope = 's';

/// Splits a text into tokens, and skips comments and lines that begin with #. It is for one thread at a time.
class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}
    Token next();
    /// After a word that begins a statement: extends it by the qualifiers that follow it without a blank.
    void extend(Token& word);
    std::uint32_t offset() const { return static_cast<std::uint32_t>(at_); }
    /// Goes on at this byte.
    void seek(std::uint32_t offset) { at_ = offset; }

  private:
    void skip(Token& token);
    void number(Token& token);
    bool ieee(Token& token, std::size_t digits);
    void word(Token& token);
    void symbol(Token& token);
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    std::string_view text_;
    std::size_t at_ = 0;
    bool line_begins_ = true;
};

}  // namespace wgrun::ptx
