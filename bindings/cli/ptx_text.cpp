#include "bindings/cli/ptx_text.hpp"

#include <algorithm>
#include <utility>

namespace wgrun::cli {

/// Returns the line after that on which the statement at `number` ends.
int PtxText::behind(int number) const {
    bool comment = false;
    for (int at = number; at <= last(); ++at) {
        const std::string_view text = line(at);
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::string_view two = text.substr(i, 2);
            if (comment)
                comment = two != "*/";
            else if (two == "//")
                break;
            else if (two == "/*")
                comment = true;
            else if (text[i] == ';')
                return at + 1;
        }
    }
    return last() + 1;
}

Change PtxText::resolved(const Change& change, int) const {
    if (last() == 0) return change;
    const int number = std::clamp(change.where.line, 1, last());
    Change made = change;
    made.dialect = Dialect::ptx;
    made.where.line = number;
    if (change.kind == Change::Kind::option && change.option.ptx.empty())
        return with_number(change, number, behind(number));
    if (change.kind == Change::Kind::option) {
        const std::string from = change.option.ptx + " " + change.from;
        const std::size_t at = change.option.ptx.empty() ? std::string_view::npos : line(number).find(from);
        if (at == std::string_view::npos) return change;
        std::string text(line(number));
        text.replace(at, from.size(), change.option.ptx + " " + change.to);
        made.kind = Change::Kind::line;
        made.lines = {{{}, std::move(text)}};
        return made;
    }
    if (change.kind == Change::Kind::after) made.where.line = behind(number);
    made.kind = Change::Kind::before;
    for (Phrase& phrase : made.lines) phrase.ptx = std::string(indentation(line(number))) + phrase.ptx + ";";
    return made;
}

}  // namespace wgrun::cli
