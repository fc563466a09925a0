#include "bindings/repl/tokens.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace wgrun::repl {
namespace {

constexpr std::array<std::string_view, 22> keywords{
    "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};

constexpr std::array<std::string_view, 10> long_symbols{
    "...", "..", "::", "==", "~=", "<=", ">=", "//", "<<", ">>"};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::optional<Token> next() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        if (at_ >= text_.size()) return std::nullopt;
        const std::size_t begin = at_;
        bool closed = true;
        const Token::Kind kind = scan(closed);
        return Token{kind, begin, at_, closed};
    }

  private:
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

    Token::Kind scan(bool& closed) {
        const char c = peek();
        if (is_letter(c)) return word();
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
        if (c == '"' || c == '\'') return quoted(c, closed);
        if (c == '-' && peek(1) == '-') return comment(closed);
        if (const int level = long_bracket()) {
            long_text(level, closed);
            return Token::Kind::string;
        }
        const auto* found = std::find_if(long_symbols.begin(), long_symbols.end(), [&](std::string_view s) {
            return text_.substr(at_).starts_with(s);
        });
        at_ += found == long_symbols.end() ? 1 : found->size();
        return Token::Kind::symbol;
    }

    Token::Kind word() {
        const std::size_t begin = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        const bool key = std::find(keywords.begin(), keywords.end(), name) != keywords.end();
        return key ? Token::Kind::keyword : Token::Kind::name;
    }

    // As Lua reads it: the sign of an exponent belongs to it, and so do any letters and dots.
    Token::Kind number() {
        const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
        if (hex) at_ += 2;
        while (at_ < text_.size()) {
            const char c = peek();
            const bool exponent = hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
            if (exponent && (peek(1) == '+' || peek(1) == '-'))
                at_ += 2;
            else if (is_hex(c) || is_letter(c) || c == '.')
                ++at_;
            else
                break;
        }
        return Token::Kind::number;
    }

    // An unclosed string ends with its line, as in Lua.
    Token::Kind quoted(char quote, bool& closed) {
        closed = false;
        for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
            if (text_[at_] == quote) {
                ++at_;
                closed = true;
                break;
            }
            if (text_[at_] != '\\') continue;
            if (peek(1) == 'z') {  // skips white space, newlines too
                for (++at_; is_space(peek(1)); ++at_) continue;
            } else if (at_ + 1 < text_.size()) {
                ++at_;
            }
        }
        return Token::Kind::string;
    }

    Token::Kind comment(bool& closed) {
        at_ += 2;
        if (const int level = long_bracket())
            long_text(level, closed);
        else
            at_ = std::min(text_.find('\n', at_), text_.size());
        return Token::Kind::comment;
    }

    // One more than the number of = if [==[ begins here, else 0.
    int long_bracket() const {
        if (peek() != '[') return 0;
        int level = 1;
        while (peek(static_cast<std::size_t>(level)) == '=') ++level;
        return peek(static_cast<std::size_t>(level)) == '[' ? level : 0;
    }

    void long_text(int level, bool& closed) {
        std::string end(static_cast<std::size_t>(level) + 1, '=');
        end.front() = end.back() = ']';
        const std::size_t found = text_.find(end, at_);
        closed = found != std::string_view::npos;
        at_ = closed ? found + end.size() : text_.size();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    Scanner scanner(text);
    while (const auto token = scanner.next()) tokens.push_back(*token);
    return tokens;
}

}  // namespace wgrun::repl
