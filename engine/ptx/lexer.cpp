// PTX ISA 4.1 to 4.5: comments, identifiers, constants.
#include "ptx/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace wgrun::ptx {
namespace {

enum Class : std::uint8_t { other = 0, follows = 1, digit = 2, hex = 4, blank = 8, starts = 16 };

constexpr auto classes = [] {
    std::array<std::uint8_t, 256> out{};
    for (int c = 'a'; c <= 'z'; ++c) out[static_cast<std::size_t>(c)] = follows | starts;
    for (int c = 'A'; c <= 'Z'; ++c) out[static_cast<std::size_t>(c)] = follows | starts;
    for (int c = '0'; c <= '9'; ++c) out[static_cast<std::size_t>(c)] = follows | digit | hex;
    for (const unsigned char c : {'a', 'b', 'c', 'd', 'e', 'f', 'A', 'B', 'C', 'D', 'E', 'F'}) out[c] |= hex;
    out['_'] = out['$'] = follows | starts;
    for (const unsigned char c : {' ', '\t', '\r', '\v', '\f'}) out[c] = blank;
    return out;
}();

bool is(char c, std::uint8_t kind) { return (classes[static_cast<unsigned char>(c)] & kind) != 0; }

struct Pair {
    char first, second, symbol;
};
constexpr std::array pairs{Pair{'<', '<', shift_left}, Pair{'>', '>', shift_right}, Pair{'<', '=', at_most},
                           Pair{'>', '=', at_least},   Pair{'=', '=', same},        Pair{'!', '=', differs},
                           Pair{'&', '&', both},       Pair{'|', '|', either},      Pair{':', ':', scope}};

}  // namespace

/// Skips blanks and comments. An unfinished comment makes the token bad.
void Lexer::skip(Token& token) {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n' || is(c, blank)) {
            line_begins_ |= c == '\n';
            ++at_;
        } else if ((c == '/' && peek(1) == '/') || (c == '#' && line_begins_)) {  // # of a preprocessor
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '/' && peek(1) == '*') {
            const std::size_t end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) {
                token.kind = Token::Kind::bad;
                token.what = "a comment that never ends";
                token.span = {offset(), 2};
                at_ = text_.size();
                return;
            }
            line_begins_ |= text_.substr(at_, end - at_).find('\n') != std::string_view::npos;
            at_ = end + 2;
        } else {
            return;
        }
    }
}

Token Lexer::next() {
    Token token;
    skip(token);
    if (token.kind == Token::Kind::bad) return token;
    token.first = line_begins_;
    line_begins_ = false;
    const std::size_t begin = at_;
    token.span.offset = offset();
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    if (is(c, starts) || (c == '%' && is(peek(1), follows))) {
        word(token);
    } else if (c == '.' && is(peek(1), follows)) {
        ++at_;
        word(token);
        token.kind = Token::Kind::dotted;
    } else if (is(c, digit) || (c == '.' && is(peek(1), digit))) {
        number(token);
    } else if (c == '"') {
        token.kind = Token::Kind::string;
        for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        if (peek() == '"') {
            ++at_;
        } else {
            token.kind = Token::Kind::bad;
            token.what = "a string that does not end on its line";
        }
    } else {
        symbol(token);
    }
    token.span.size = static_cast<std::uint32_t>(at_ - begin);
    return token;
}

/// An identifier, or a qualifier, whose parts :: may join.
void Lexer::word(Token& token) {
    token.kind = Token::Kind::word;
    if (peek() == '%') ++at_;
    const bool dotted = at_ > 0 && text_[at_ - 1] == '.';
    for (;;) {
        while (is(peek(), follows)) ++at_;
        if (!dotted || peek() != ':' || peek(1) != ':' || !is(peek(2), follows)) return;
        at_ += 2;
    }
}

void Lexer::extend(Token& word) {
    for (;;) {
        while (is(peek(), follows)) ++at_;
        if (peek() == '.' && is(peek(1), follows))
            ++at_;
        else if (peek() == ':' && peek(1) == ':' && is(peek(2), follows))
            at_ += 2;
        else
            break;
    }
    word.span.size = static_cast<std::uint32_t>(at_ - word.span.offset);
}

/// 0f and 8 digits, or 0d and 16. Returns whether there are as many.
bool Lexer::ieee(Token& token, std::size_t digits) {
    const char* const begin = text_.data() + at_ + 2;
    std::size_t found = 0;
    while (is(peek(2 + found), hex)) ++found;
    if (found != digits || is(peek(2 + found), follows)) return false;
    std::uint64_t bits = 0;
    std::from_chars(begin, begin + digits, bits, 16);
    token.value = static_cast<std::int64_t>(bits);
    at_ += 2 + digits;
    return true;
}

void Lexer::number(Token& token) {
    token.kind = Token::Kind::integer;
    const auto bad = [&](const char* what) {
        token.kind = Token::Kind::bad;
        token.what = what;
        while (is(peek(), follows) || peek() == '.') ++at_;
    };
    const char prefix = text_[at_] == '0' ? peek(1) : '\0';
    if (prefix == 'f' || prefix == 'F') {
        token.kind = Token::Kind::f32;
        return ieee(token, 8) ? void() : bad("0f is followed by 8 hexadecimal digits");
    }
    if (prefix == 'd' || prefix == 'D') {
        token.kind = Token::Kind::f64;
        return ieee(token, 16) ? void() : bad("0d is followed by 16 hexadecimal digits");
    }
    int base = 10;
    if (prefix == 'x' || prefix == 'X') base = 16;
    if (prefix == 'b' || prefix == 'B') base = 2;
    if (base != 10) at_ += 2;
    const std::size_t begin = at_;
    while (is(peek(), base == 16 ? hex : digit)) ++at_;
    // A decimal point or an exponent makes it a real number.
    const bool point = base == 10 && peek() == '.' && !is(peek(1), starts);
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if (point || (base == 10 && (peek() == 'e' || peek() == 'E') && is(peek(sign), digit))) {
        double real = 0;
        const char* const end = text_.data() + text_.size();
        const auto [after, error] = std::from_chars(text_.data() + begin, end, real);
        at_ = static_cast<std::size_t>(after - text_.data());
        if (error != std::errc() || is(peek(), follows)) return bad("no number that PTX has");
        token.kind = Token::Kind::f64;
        token.value = std::bit_cast<std::int64_t>(real);
        return;
    }
    if (base == 10 && at_ - begin > 1 && text_[begin] == '0') base = 8;
    std::uint64_t bits = 0;
    const char* const last = text_.data() + at_;
    const auto [after, error] = std::from_chars(text_.data() + begin, last, bits, base);
    if (error == std::errc::result_out_of_range) return bad("the number does not fit 64 bits");
    if (error != std::errc() || after != last) return bad("no number that PTX has");
    if (peek() == 'U') ++at_;
    if (is(peek(), follows)) return bad("no number that PTX has");
    token.value = static_cast<std::int64_t>(bits);
}

void Lexer::symbol(Token& token) {
    const char c = text_[at_];
    token.kind = Token::Kind::symbol;
    for (const Pair& pair : pairs) {
        if (c != pair.first || peek(1) != pair.second) continue;
        token.symbol = pair.symbol;
        at_ += 2;
        return;
    }
    token.symbol = c;
    ++at_;
    constexpr std::string_view known = "{}()[]<>,;:@!|+-*/%~&^?=.";
    if (known.find(c) != std::string_view::npos && c != '\0') return;
    token.kind = Token::Kind::bad;
    token.what = "a character that PTX does not have";
    // One complaint for a run of them, as in a binary file.
    while (at_ < text_.size() && !is(text_[at_], follows | blank) && text_[at_] != '\n' &&
           known.find(text_[at_]) == std::string_view::npos)
        ++at_;
}

}  // namespace wgrun::ptx
