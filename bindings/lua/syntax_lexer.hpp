// The words of a Lua text, for the parser (syntax.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <string_view>

namespace wgrun::lua::syntax {

/// Thrown where the text is not valid Lua 5.4; caught in parse().
struct Unreadable : std::exception {};

struct Token {
    enum class Kind { end, name, number, string, symbol } kind = Kind::end;
    std::string_view text;
    int line = 1;
    std::size_t begin = 0;
};

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {
        if (text_.starts_with('#')) at_ = std::min(text_.find('\n'), text_.size());
    }

    Token next() {
        skip();
        Token token{Token::Kind::end, {}, line_, at_};
        if (at_ >= text_.size()) return token;
        const char c = text_[at_];
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
            (c == '.' && at_ + 1 < text_.size() &&
             std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0)) {
            token.kind = Token::Kind::number;
            number();
        } else if (is_word(c)) {
            token.kind = Token::Kind::name;
            while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        } else if (c == '"' || c == '\'') {
            token.kind = Token::Kind::string;
            quoted(c);
        } else if (c == '[' && long_bracket()) {
            token.kind = Token::Kind::string;
        } else {
            token.kind = Token::Kind::symbol;
            static constexpr std::array<std::string_view, 11> symbols{
                "...", "..", "==", "~=", "<=", ">=", "<<", ">>", "//", "::", ""};
            const std::string_view rest = text_.substr(at_);
            const auto* found = std::find_if(symbols.begin(), symbols.end(),
                                             [&](auto symbol) { return rest.starts_with(symbol); });
            at_ += std::max<std::size_t>(found->size(), 1);
        }
        token.text = text_.substr(token.begin, at_ - token.begin);
        return token;
    }

    std::string_view text() const { return text_; }

  private:
    void advance() {
        if (text_[at_] == '\n') ++line_;
        ++at_;
    }

    void skip() {
        while (at_ < text_.size()) {
            if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
                advance();
            } else if (text_.substr(at_, 2) == "--") {
                at_ += 2;
                if (at_ < text_.size() && text_[at_] == '[' && long_bracket()) continue;
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else {
                return;
            }
        }
    }

    void number() {
        const bool hexadecimal =
            text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] | 0x20) == 'x';
        for (char previous = 0; at_ < text_.size(); previous = text_[at_++]) {
            const char c = text_[at_];
            const char exponent = hexadecimal ? 'p' : 'e';
            if (!is_word(c) && c != '.' && !((c == '+' || c == '-') && (previous | 0x20) == exponent)) return;
        }
    }

    void quoted(char quote) {
        for (++at_; at_ < text_.size() && text_[at_] != quote; advance())
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) advance();
        if (at_ >= text_.size()) throw Unreadable();
        ++at_;
    }

    /// [==[ ... ]==], if it is one.
    bool long_bracket() {
        std::size_t level = at_ + 1;
        while (level < text_.size() && text_[level] == '=') ++level;
        if (level >= text_.size() || text_[level] != '[') return false;
        std::string close(level - at_ + 1, '=');
        close.front() = close.back() = ']';
        const std::size_t end = text_.find(close, level);
        if (end == std::string_view::npos) throw Unreadable();
        while (at_ < end + close.size()) advance();
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}  // namespace wgrun::lua::syntax
