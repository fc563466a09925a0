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

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

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

std::string_view indentation(std::string_view line) {
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

}  // namespace

ScriptText::ScriptText(std::string text) : text_(std::move(text)) { scan(); }

void ScriptText::scan() {
    for (const std::string_view line : lines_of(text_)) lines_.push_back({std::string(line), 0, false});
    std::vector<char> open;  // 'b' a block, else the bracket
    std::size_t next = 0;    // the first line that has not begun
    std::string_view previous;
    Tokens tokens(text_);
    std::size_t line = 0, seen = 0;
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
        line += static_cast<std::size_t>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(seen),
                       text_.begin() + static_cast<std::ptrdiff_t>(tokens.begin()), '\n'));
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
int ScriptText::behind(int line, std::size_t depth) const {
    int next = line + 1;
    while (next <= last() && !(at(next).begins && at(next).depth <= depth)) ++next;
    // Comments before the next statement belong to it.
    const auto blank = [&](int candidate) {
        std::string_view text = at(candidate).text;
        text.remove_prefix(indentation(text).size());
        return text.empty() || text.starts_with("--");
    };
    while (next - 1 > line && blank(next - 1)) --next;
    return next;
}

/// The builder's name in lines [from, to): from a call of an instruction there, above or below, or from the
/// parameter of the kernel's function.
std::string ScriptText::receiver(int from, int to) const {
    for (int line = from; line < to; ++line)
        if (std::string found = builder_in(at(line).text); !found.empty()) return found;
    for (int line = from - 1; line >= 1; --line) {
        if (std::string found = builder_in(at(line).text); !found.empty()) return found;
        if (std::string found = builder_parameter(at(line).text); !found.empty()) return found;
    }
    for (int line = to; line <= last(); ++line)
        if (std::string found = builder_in(at(line).text); !found.empty()) return found;
    return "k";
}

/// The statement's line that says `option = from`, with `to`.
Change ScriptText::with_option(const Change& change) const {
    const int line = std::clamp(change.where.line, 1, last());
    const int begin = statement_of(line), end = behind(line, at(begin).depth);
    const std::string& name = change.option.lua;
    for (int candidate = begin; candidate < end; ++candidate) {
        const std::string& text = at(candidate).text;
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
    const int line = std::clamp(change.where.line, 1, last());
    int begin = statement_of(line);
    for (; out > 0 && at(begin).depth > 0; --out) {
        const std::size_t depth = at(begin).depth;
        while (begin > 1 && !(at(begin).begins && at(begin).depth < depth)) --begin;
    }
    const int end = behind(line, at(begin).depth);
    Change made;
    made.where = {change.where.file, change.kind == Change::Kind::after ? end : begin};
    const std::string name = receiver(begin, end);
    for (const Phrase& call : change.lines)
        made.lines.push_back({fmt::format("{}{}:{}", indentation(at(begin).text), name, call.lua), call.ptx});
    return made;
}

std::string ScriptText::with(const Remedy& remedy, int out) const {
    if (lines_.empty()) return text_;
    std::vector<std::string> added(lines_.size() + 2);  // before each line
    std::map<int, std::string> replaced;
    for (const Change& change : remedy) {
        const Change here = resolved(change, out);
        if (here.kind == Change::Kind::line) replaced[here.where.line] = here.lines.front().lua;
        if (here.kind != Change::Kind::before) continue;
        for (const Phrase& call : here.lines)
            added[static_cast<std::size_t>(here.where.line)] += call.lua + "\n";
    }
    std::string text;
    for (int line = 1; line <= last(); ++line) {
        const auto other = replaced.find(line);
        text.append(added[static_cast<std::size_t>(line)]);
        text.append(other != replaced.end() ? other->second : at(line).text).append("\n");
    }
    if (!text_.empty() && text_.back() != '\n' && added.back().empty()) text.pop_back();
    return text + added.back();
}

std::string ScriptText::without(int line) const {
    std::string out;
    for (int other = 1; other <= last(); ++other)
        if (other != line) out.append(at(other).text).append("\n");
    if (!text_.empty() && text_.back() != '\n' && line != last()) out.pop_back();
    return out;
}

namespace {

/// A line of a diff: ' ' in both texts, '-' in the old one, '+' in the new one.
struct DiffLine {
    char mark;
    std::string_view text;
};

/// A longest common subsequence of what is between the first and the last line that differ.
std::vector<DiffLine> compared(std::vector<std::string_view> old, std::vector<std::string_view> now) {
    std::vector<DiffLine> out;
    std::size_t head = 0, tail = 0;
    const std::size_t shorter = std::min(old.size(), now.size());
    while (head < shorter && old[head] == now[head]) out.push_back({' ', old[head++]});
    while (tail < shorter - head && old[old.size() - 1 - tail] == now[now.size() - 1 - tail]) ++tail;
    const std::size_t rows = old.size() - head - tail, columns = now.size() - head - tail;
    // longest[i][j]: of what follows line i of the old text and line j of the new one.
    std::vector<std::vector<std::size_t>> longest(rows + 1, std::vector<std::size_t>(columns + 1));
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;)
            longest[i][j] = old[head + i] == now[head + j] ? longest[i + 1][j + 1] + 1
                                                           : std::max(longest[i + 1][j], longest[i][j + 1]);
    for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
        if (i < rows && j < columns && old[head + i] == now[head + j]) {
            out.push_back({' ', old[head + i]});
            ++i, ++j;
        } else if (i < rows && (j == columns || longest[i + 1][j] >= longest[i][j + 1])) {
            out.push_back({'-', old[head + i++]});
        } else {
            out.push_back({'+', now[head + j++]});
        }
    }
    for (std::size_t i = old.size() - tail; i < old.size(); ++i) out.push_back({' ', old[i]});
    return out;
}

}  // namespace

std::string unified_diff(const std::string& file, const std::string& before, const std::string& after) {
    constexpr std::size_t context = 3;
    const std::vector<DiffLine> lines = compared(lines_of(before), lines_of(after));
    const auto differs = [](const DiffLine& line) { return line.mark != ' '; };
    std::string text = fmt::format("--- {}\n+++ {}\n", file, file);
    std::size_t end = 0, old = 1, now = 1;  // behind the last hunk, and its lines' numbers
    for (std::size_t first = 0; first < lines.size(); ++first) {
        if (!differs(lines[first])) continue;
        const std::size_t from = std::max(end, first < context ? 0 : first - context);
        std::size_t last = first;
        for (std::size_t k = first; k < lines.size() && k <= last + 2 * context; ++k)
            if (differs(lines[k])) last = k;
        old += from - end, now += from - end;
        end = std::min(last + 1 + context, lines.size());
        std::size_t of_old = 0, of_now = 0;
        std::string body;
        for (std::size_t k = from; k < end; ++k) {
            of_old += lines[k].mark != '+';
            of_now += lines[k].mark != '-';
            body += fmt::format("{}{}\n", lines[k].mark, lines[k].text);
        }
        text += fmt::format("@@ -{},{} +{},{} @@\n{}", old, of_old, now, of_now, body);
        old += of_old, now += of_now;
        first = end - 1;
    }
    return text;
}

}  // namespace wgrun::cli
