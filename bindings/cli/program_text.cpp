#include "bindings/cli/program_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace wgrun::cli {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string_view indentation(std::string_view line) {
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

ProgramText::ProgramText(std::string text, Dialect dialect) : text_(std::move(text)), dialect_(dialect) {
    for (const std::string_view line : lines_of(text_)) lines_.emplace_back(line);
}

std::string ProgramText::with(const Remedy& remedy, int out) const {
    if (lines_.empty()) return text_;
    std::vector<std::string> added(lines_.size() + 2);  // before each line
    std::map<int, std::string> replaced;
    const std::string_view end = line(1).ends_with('\r') ? "\r\n" : "\n";
    for (const Change& change : remedy) {
        const Change here = resolved(change, out);
        if (here.kind == Change::Kind::line) replaced[here.where.line] = here.lines.front().in(dialect_);
        if (here.kind != Change::Kind::before) continue;
        for (const Phrase& added_line : here.lines)
            added[static_cast<std::size_t>(here.where.line)] +=
                std::string(added_line.in(dialect_)).append(end);
    }
    std::string text;
    for (int number = 1; number <= last(); ++number) {
        const auto other = replaced.find(number);
        text.append(added[static_cast<std::size_t>(number)]);
        text.append(other != replaced.end() ? other->second : line(number)).append("\n");
    }
    if (!text_.empty() && text_.back() != '\n' && added.back().empty()) text.pop_back();
    return text + added.back();
}

Change ProgramText::with_number(const Change& change, int begin, int end) const {
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    Change made = change;
    int found = 0;
    for (int number = begin; number < std::min(end, last() + 1); ++number) {
        const std::string text(line(number));
        for (std::size_t at = text.find(change.from); at != std::string::npos;
             at = text.find(change.from, at + 1)) {
            const std::size_t behind = at + change.from.size();
            if ((at > 0 && is_word(text[at - 1])) || (behind < text.size() && is_word(text[behind])))
                continue;
            ++found;
            made.kind = Change::Kind::line;
            made.where.line = number;
            made.lines = {{text.substr(0, at) + change.to + text.substr(behind), {}}};
            made.lines.front().ptx = made.lines.front().lua;
        }
    }
    return found == 1 ? made : change;
}

std::string ProgramText::without(int number) const {
    std::string out;
    for (int other = 1; other <= last(); ++other)
        if (other != number) out.append(line(other)).append("\n");
    if (!text_.empty() && text_.back() != '\n' && number != last()) out.pop_back();
    return out;
}

}  // namespace wgrun::cli
