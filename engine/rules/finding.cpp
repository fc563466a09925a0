#include <fmt/format.h>

#include <utility>

#include "rules/saying.hpp"

namespace wgrun::rules {

Diagnostic finding(Saying saying, Where where, std::vector<Note> notes) {
    const Rule& rule = saying.rule;
    return {std::string(rule.id),
            rule.severity,
            where,
            std::move(saying.message),
            std::move(saying.fix.text),
            std::string(saying.section.empty() ? rule.section : saying.section),
            std::move(notes),
            std::move(saying.fix.remedies),
            saying.circumstance,
            std::move(saying.fix.in_ptx),
            std::move(saying.facts)};
}

Saying of(Saying saying, std::vector<Fact> facts) {
    saying.facts = std::move(facts);
    return saying;
}

Saying cited(Saying saying, std::string_view section) {
    saying.section = section;
    return saying;
}

Diagnostic finding(const Rule& rule, Where where, std::string message, std::string fix,
                   std::vector<Note> notes) {
    return finding({rule, std::move(message), std::move(fix)}, where, std::move(notes));
}

ArgumentError refusal(const Rule& rule, std::string message, std::string fix) {
    return ArgumentError(finding(rule, {}, std::move(message), std::move(fix)));
}

std::string line_of(Where where, Where from) {
    std::string out = fmt::format("line {}", where.line);
    if (where.file == from.file) return out;
    return fmt::format("{} of {}", out, where.file.substr(where.file.rfind('/') + 1));
}

std::string before(Where where) { return where ? fmt::format("before line {}", where.line) : "before it"; }
std::string after(Where where, Where from) { return where ? "after " + line_of(where, from) : "after it"; }
std::string between(Where first, Where second) {
    if (first && first == second) return fmt::format("between the two accesses of line {}", first.line);
    return after(first, second) + " and " + before(second);
}

}  // namespace wgrun::rules
