#include "bindings/cli/script_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "wgrun/isa.hpp"

namespace wgrun::cli {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Lua's tokens, as far as statements need them: words, and every other character by itself. Comments are
/// skipped; a string is the token `"`.
class Tokens {
  public:
    explicit Tokens(std::string_view text) : text_(text) {}

    /// The next token; empty at the end.
    std::string_view next() {
        skip();
        if (at_ >= text_.size()) return {};
        const std::size_t begin = at_;
        const char c = text_[at_];
        if (c == '"' || c == '\'') {
            for (++at_; at_ < text_.size() && text_[at_] != c; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
            at_ = std::min(at_ + 1, text_.size());
            return "\"";
        }
        if (c == '[' && long_bracket()) return "\"";
        if (is_word(c)) {
            while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        } else {
            ++at_;
        }
        begin_ = begin;
        return text_.substr(begin, at_ - begin);
    }

    /// The beginning and the end of the last token.
    std::size_t begin() const { return begin_; }
    std::size_t end() const { return at_; }

  private:
    void skip() {
        for (;;) {
            while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
            begin_ = at_;
            const bool comment = text_.substr(at_, 2) == "--" || (at_ == 0 && text_.starts_with('#'));
            if (!comment) return;
            at_ = std::min(at_ + 2, text_.size());
            if (at_ < text_.size() && text_[at_] == '[' && long_bracket()) continue;
            at_ = std::min(text_.find('\n', at_), text_.size());
        }
    }

    /// [==[ ... ]==], if it is one.
    bool long_bracket() {
        std::size_t level = at_ + 1;
        while (level < text_.size() && text_[level] == '=') ++level;
        if (level >= text_.size() || text_[level] != '[') return false;
        const std::string close = fmt::format("]{}]", std::string(level - at_ - 1, '='));
        const std::size_t end = text_.find(close, level);
        at_ = end == std::string_view::npos ? text_.size() : end + close.size();
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0, begin_ = 0;
};

template <std::size_t n>
bool one_of(std::string_view token, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), token) != words.end();
}

constexpr std::array<std::string_view, 12> operators{"=", "+", "-", "*", "/", "%",
                                                     "^", "&", "|", "~", "<", ">"};

/// Whether a statement continues after this token.
bool goes_on_behind(std::string_view token) {
    constexpr std::array<std::string_view, 18> words{"and",  "or",    "not",    "in",  "local",  "until",
                                                     "if",   "while", "elseif", "for", "return", "function",
                                                     "goto", ",",     ".",      ":",   "#",      "("};
    return one_of(token, words) || one_of(token, operators);
}

/// Whether this token continues a statement.
bool goes_on_with(std::string_view token) {
    constexpr std::array<std::string_view, 15> words{"and", "or", "then", "do", "in", ",", ".", ":",
                                                     "(",   ")",  "[",    "]",  "{",  "}", "\""};
    return one_of(token, words) || one_of(token, operators);
}

/// "self.k" of "  self.k:wgmma_fence()": the object of the line's first call of an instruction.
std::string builder_in(std::string_view line) {
    for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
         colon = line.find(':', colon + 1)) {
        std::size_t end = colon + 1;
        while (end < line.size() && is_word(line[end])) ++end;
        std::size_t begin = colon;
        while (begin > 0 && (is_word(line[begin - 1]) || line[begin - 1] == '.')) --begin;
        if (begin == colon || end == colon + 1) continue;
        if (isa::parse_method(line.substr(colon + 1, end - colon - 1)).op == nullptr) continue;
        return std::string(line.substr(begin, colon - begin));
    }
    return {};
}

/// "k" of "wg.kernel("name", {}, function(k)".
std::string builder_parameter(std::string_view line) {
    constexpr std::string_view mark = "function(";
    const std::size_t at = line.find(mark);
    if (line.find("kernel") == std::string_view::npos || at == std::string_view::npos) return {};
    line.remove_prefix(at + mark.size());
    return {line.begin(), std::find_if_not(line.begin(), line.end(), is_word)};
}

}  // namespace

ScriptText::ScriptText(std::string text) : ProgramText(std::move(text), Dialect::lua) { scan(); }

void ScriptText::scan() {
    lines_.resize(static_cast<std::size_t>(last()));
    std::vector<char> open;  // 'b' a block, else the bracket
    std::size_t next = 0;    // the first line that has not begun
    std::string_view previous;
    Tokens tokens(text());
    std::size_t line = 0, seen = 0;
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
        line += static_cast<std::size_t>(
            std::count(text().begin() + static_cast<std::ptrdiff_t>(seen),
                       text().begin() + static_cast<std::ptrdiff_t>(tokens.begin()), '\n'));
        seen = tokens.begin();
        const bool bracket = !open.empty() && open.back() != 'b';
        for (; next <= line && next < lines_.size(); ++next) {
            lines_[next].depth = open.size();
            // Lines between tokens are empty, comments, or part of a string.
            lines_[next].begins =
                next == line && !bracket && !goes_on_behind(previous) && !goes_on_with(token);
        }
        if (token == "(" || token == "[" || token == "{") {
            open.push_back(token[0]);
        } else if (token == "function" || token == "do" || token == "repeat" || token == "if") {
            open.push_back('b');
        } else if ((token == ")" || token == "]" || token == "}" || token == "end" || token == "until") &&
                   !open.empty()) {
            open.pop_back();
        }
        previous = token;
    }
}

/// The line on which the statement that contains `line` begins.
int ScriptText::statement_of(int line) const {
    while (line > 1 && !at(line).begins) --line;
    return line;
}

/// The line after the statement of that depth that contains `line`.
int ScriptText::behind(int number, std::size_t depth) const {
    int next = number + 1;
    while (next <= last() && !(at(next).begins && at(next).depth <= depth)) ++next;
    // Comments before the next statement belong to it.
    const auto blank = [&](int candidate) {
        std::string_view text = line(candidate);
        text.remove_prefix(indentation(text).size());
        return text.empty() || text.starts_with("--");
    };
    while (next - 1 > number && blank(next - 1)) --next;
    return next;
}

/// The builder's name in lines [from, to): from a call of an instruction there, above or below, or from the
/// parameter of the kernel's function.
std::string ScriptText::receiver(int from, int to) const {
    for (int at = from; at < to; ++at)
        if (std::string found = builder_in(line(at)); !found.empty()) return found;
    for (int at = from - 1; at >= 1; --at) {
        if (std::string found = builder_in(line(at)); !found.empty()) return found;
        if (std::string found = builder_parameter(line(at)); !found.empty()) return found;
    }
    for (int at = to; at <= last(); ++at)
        if (std::string found = builder_in(line(at)); !found.empty()) return found;
    return "k";
}

/// The statement's line that says `option = from`, with `to`.
Change ScriptText::with_option(const Change& change) const {
    const int number = std::clamp(change.where.line, 1, last());
    const int begin = statement_of(number), end = behind(number, at(begin).depth);
    const std::string& name = change.option.lua;
    if (name.empty()) return with_number(change, begin, end);
    for (int candidate = begin; candidate < end; ++candidate) {
        const std::string text(line(candidate));
        Tokens tokens(text);
        for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
            if (token != name) continue;
            if (tokens.next() != "=") continue;
            if (tokens.next() != change.from) continue;
            Change made = change;
            made.where.line = candidate;
            made.kind = Change::Kind::line;
            made.lines = {{text.substr(0, tokens.begin()) + change.to + text.substr(tokens.end()), {}}};
            return made;
        }
    }
    return change;
}

Change ScriptText::resolved(const Change& change, int out) const {
    if (lines_.empty()) return change;
    if (change.kind == Change::Kind::option) return with_option(change);
    const int number = std::clamp(change.where.line, 1, last());
    int begin = statement_of(number);
    for (; out > 0 && at(begin).depth > 0; --out) {
        const std::size_t depth = at(begin).depth;
        while (begin > 1 && !(at(begin).begins && at(begin).depth < depth)) --begin;
    }
    const int end = behind(number, at(begin).depth);
    Change made;
    made.where = {change.where.file, change.kind == Change::Kind::after ? end : begin};
    const std::string name = receiver(begin, end);
    for (const Phrase& call : change.lines)
        made.lines.push_back({fmt::format("{}{}:{}", indentation(line(begin)), name, call.lua), call.ptx});
    return made;
}

}  // namespace wgrun::cli
