#include "bindings/repl/screen.hpp"

#include <fmt/format.h>

#include <wchar.h>

#include <algorithm>
#include <array>

#include "bindings/repl/tokens.hpp"

namespace wgrun::repl {
namespace {

// The character at `at` of UTF-8, and its number of bytes; an invalid byte is U+FFFD.
std::pair<wchar_t, std::size_t> character(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return static_cast<unsigned char>(at + i < text.size() ? text[at + i] : 0);
    };
    const unsigned char first = byte(0);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xC0 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF8 ? 4
                                            : 0;
    if (size <= 1) return {size == 1 ? first : 0xFFFD, 1};
    wchar_t value = first & (0x7F >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {0xFFFD, 1};
        value = value << 6 | (byte(i) & 0x3F);
    }
    return {value, size};
}

// Walks the cells of a text as libedit does.
class Walk {
  public:
    Walk(int prompt, int columns) : columns_(columns) {
        for (int i = 0; i < prompt; ++i) put(1);
    }

    Place place() const { return place_; }

    // False: it is not known here how libedit shows the character.
    bool add(wchar_t c) {
        if (c == L'\n') {
            place_ = {place_.row + 1, 0};
            return true;
        }
        if (c == L'\t') {
            do put(1);
            while (place_.column % 8 != 0);
            return true;
        }
        const int width = wcwidth(c);
        if (width < 1) return false;
        while (place_.column + width > columns_) put(1);
        put(width);
        return true;
    }

  private:
    void put(int width) {
        place_.column += width;
        if (place_.column >= columns_) place_ = {place_.row + 1, 0};
    }

    int columns_;
    Place place_;
};

constexpr std::string_view plain = "\x1b[0m";

std::string_view colour_of(Token::Kind kind) {
    switch (kind) {
        case Token::Kind::keyword: return "\x1b[35m";
        case Token::Kind::string: return "\x1b[32m";
        case Token::Kind::number: return "\x1b[36m";
        case Token::Kind::comment: return "\x1b[90m";
        case Token::Kind::name:
        case Token::Kind::symbol: break;
    }
    return plain;
}

void move_down_and_right(std::string& out, int rows, int columns) {
    if (rows < 0) out += fmt::format("\x1b[{}A", -rows);
    if (rows > 0) out += fmt::format("\x1b[{}B", rows);
    out += '\r';
    if (columns > 0) out += fmt::format("\x1b[{}C", columns);
}

}  // namespace

std::optional<Place> place_of(std::string_view text, std::size_t index, int prompt, int columns) {
    Walk walk(prompt, columns);
    for (std::size_t at = 0; at < std::min(index, text.size());) {
        const auto [c, size] = character(text, at);
        if (!walk.add(c)) return std::nullopt;
        at += size;
    }
    Place place = walk.place();
    if (index >= text.size()) return place;
    // A wide character that does not fit the row goes to the next one.
    const int width = wcwidth(character(text, index).first);
    if (width > 1 && place.column + width > columns) place = {place.row + 1, 0};
    return place;
}

std::string painted(std::string_view text, std::size_t cursor, int prompt, int columns, int rows) {
    const auto here = place_of(text, cursor, prompt, columns);
    const auto last = place_of(text, text.size(), prompt, columns);
    if (!here || !last || last->row >= rows) return {};
    std::string out = "\x1b[?25l";  // hides the cursor, so that it is not seen to jump
    move_down_and_right(out, -here->row, prompt);
    Walk walk(prompt, columns);
    const std::vector<Token> tokens = tokens_of(text);
    auto token = tokens.begin();
    std::string_view colour = plain;
    for (std::size_t at = 0; at < text.size();) {
        while (token != tokens.end() && at >= token->end) ++token;
        const bool inside = token != tokens.end() && at >= token->begin;
        const std::string_view wanted = inside ? colour_of(token->kind) : plain;
        if (wanted != colour) out += colour = wanted;
        const auto [c, size] = character(text, at);
        const Place before = walk.place();
        walk.add(c);
        const Place after = walk.place();
        if (c == L'\n') {
            out += "\r\n";
        } else if (c == L'\t') {
            out += after.row > before.row ? "\r\n" : "";
            move_down_and_right(out, 0, after.column);
        } else {
            const bool jumps = after.row > before.row && after.column > 0;  // a wide one
            if (jumps) out += "\r\n";
            out += text.substr(at, size);
            if (after.row > before.row && !jumps) out += "\r\n";
        }
        at += size;
    }
    out += plain;
    move_down_and_right(out, here->row - last->row, here->column);
    return out + "\x1b[?25h";
}

std::string listed(const std::vector<Candidate>& candidates, int columns, int rows) {
    std::size_t name = 1;
    bool described = false;
    for (const Candidate& c : candidates) {
        name = std::max(name, c.text.size());
        described = described || !c.about.empty();
    }
    const auto width = static_cast<std::size_t>(std::max(columns - 1, 20));
    const std::size_t across = described ? 1 : std::max<std::size_t>(1, width / (name + 2));
    const std::size_t lines = (candidates.size() + across - 1) / across;
    const auto room = static_cast<std::size_t>(std::max(rows, 2));
    const std::size_t shown = lines <= room ? lines : room - 1;
    std::string out;
    for (std::size_t line = 0; line < shown; ++line) {
        std::string row;
        for (std::size_t i = line; i < candidates.size(); i += lines)
            row += fmt::format("{:<{}}  ", candidates[i].text, name) + candidates[i].about;
        if (row.size() > width) row = row.substr(0, width - 3) + "...";
        row.erase(row.find_last_not_of(' ') + 1);
        out += row + '\n';
    }
    if (shown < lines)
        out += fmt::format("... {} more\n", candidates.size() - std::min(candidates.size(), shown * across));
    return out;
}

std::string common_beginning(const std::vector<Candidate>& candidates) {
    if (candidates.empty()) return {};
    std::string_view common = candidates.front().text;
    for (const Candidate& c : candidates) {
        const auto differ = std::mismatch(common.begin(), common.end(), c.text.begin(), c.text.end()).first;
        common = common.substr(0, static_cast<std::size_t>(differ - common.begin()));
    }
    return std::string(common);
}

std::string indentation(std::string_view text) {
    static constexpr std::array<std::string_view, 8> opens{"function", "do", "then", "repeat",
                                                           "else",     "(",  "[",    "{"};
    static constexpr std::array<std::string_view, 7> closes{"end", "until", "elseif", "else", ")", "]", "}"};
    int depth = 0;
    for (const Token& token : tokens_of(text)) {
        if (!token.closed) return {};  // inside a long string
        if (token.kind != Token::Kind::keyword && token.kind != Token::Kind::symbol) continue;
        const std::string_view word = text_of(text, token);
        if (std::find(closes.begin(), closes.end(), word) != closes.end()) --depth;
        if (std::find(opens.begin(), opens.end(), word) != opens.end()) ++depth;
    }
    return std::string(static_cast<std::size_t>(std::clamp(depth, 0, 20)) * 2, ' ');
}

std::string closed_line(const std::string& text, std::size_t cursor) {
    static constexpr std::array<std::string_view, 7> closes{"end", "until", "elseif", "else", ")", "]", "}"};
    const std::size_t line = cursor == 0 ? 0 : text.rfind('\n', cursor - 1) + 1;
    if (line == 0) return text;
    const std::string indent = indentation(text.substr(0, line));
    const std::size_t first = text.find_first_not_of(' ', line);
    if (indent.size() < 2 || first == std::string::npos || first - line != indent.size()) return text;
    const std::vector<Token> tokens = tokens_of(std::string_view(text).substr(first));
    if (tokens.empty()) return text;
    const std::string_view word = text_of(std::string_view(text).substr(first), tokens.front());
    if (std::find(closes.begin(), closes.end(), word) == closes.end()) return text;
    return text.substr(0, line) + text.substr(line + 2);
}

}  // namespace wgrun::repl
