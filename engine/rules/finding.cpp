#include <fmt/format.h>

#include <utility>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

Diagnostic finding(RuleMessage message, Where where, std::vector<Note> notes) {
    const Rule& rule = message.rule;
    return {std::string(rule.id),
            rule.severity,
            where,
            std::move(message.text),
            std::move(message.fix.text),
            std::string(message.section.empty() ? rule.section : message.section),
            std::move(notes),
            std::move(message.fix.remedies),
            message.finding_kind,
            std::move(message.fix.in_ptx),
            std::move(message.facts)};
}

RuleMessage of(RuleMessage message, std::vector<Fact> facts) {
    message.facts = std::move(facts);
    return message;
}

RuleMessage cited(RuleMessage message, std::string_view section) {
    message.section = section;
    return message;
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
    return fmt::format("{} of {}", out, where.file.base());
}

std::string before(Where where) { return where ? fmt::format("before line {}", where.line) : "before it"; }
std::string after(Where where, Where from) { return where ? "after " + line_of(where, from) : "after it"; }
std::string between(Where first, Where second) {
    if (first && first == second) return fmt::format("between the two accesses of line {}", first.line);
    return after(first, second) + " and " + before(second);
}

}  // namespace wgrun::rules
