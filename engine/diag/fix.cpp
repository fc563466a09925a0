#include "diag/fix.hpp"

#include <fmt/format.h>

namespace wgrun {

Change insert_before(Where where, std::vector<Phrase> lines) {
    return {where, Change::Kind::before, std::move(lines)};
}

Change insert_after(Where where, std::vector<Phrase> lines) {
    return {where, Change::Kind::after, std::move(lines)};
}

Change set_option(Where where, Phrase option, std::string from, std::string to) {
    return {where, Change::Kind::option, {}, std::move(option), std::move(from), std::move(to)};
}

std::string text_of(const Change& change, Dialect dialect) {
    if (change.kind == Change::Kind::option && change.option == Phrase())
        return fmt::format("{} instead of {}", change.to, change.from);
    if (change.kind == Change::Kind::option)
        return fmt::format("{}{}{}", change.option.in(dialect), dialect == Dialect::lua ? " = " : " ",
                           change.to);
    std::string text;
    for (const Phrase& line : change.lines) {
        const std::string& words = line.in(dialect);
        text += fmt::format("{}{}\n", words, dialect == Dialect::lua || words.ends_with(';') ? "" : ";");
    }
    return text;
}

std::string in_words(const Remedy& remedy, Dialect dialect) {
    std::string text;
    for (const Change& change : remedy) {
        if (!text.empty()) text += ", ";
        const std::string line = change.where ? fmt::format("line {}", change.where.line) : "it";
        if (change.kind == Change::Kind::option) {
            text += fmt::format("{} in {}", text_of(change, dialect), line);
            continue;
        }
        for (std::size_t i = 0; i < change.lines.size(); ++i) {
            if (i > 0) text += i + 1 == change.lines.size() ? " and " : ", ";
            text += fmt::format("{}{}", dialect == Dialect::lua ? "k:" : "", change.lines[i].in(dialect));
        }
        text += fmt::format(" {} {}", change.kind == Change::Kind::after ? "after" : "before", line);
    }
    return text;
}

Fix::Fix(std::vector<Remedy> alternatives) : remedies(std::move(alternatives)) {
    if (!remedies.empty()) text = in_words(remedies.front());
}

}  // namespace wgrun
