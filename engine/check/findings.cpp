#include "check/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "wgrun/rules.hpp"

namespace wgrun::check {

namespace {
constexpr std::size_t most_notes = 4;
}

void Findings::add(std::string_view id, Where where, std::string message, Fix fix, std::vector<Note> notes) {
    const auto known = std::find_if(list_.begin(), list_.end(), [&](const Diagnostic& finding) {
        return finding.rule == id && finding.where == where;
    });
    if (known != list_.end()) {
        for (Note& note : notes) {
            const bool told = std::any_of(known->notes.begin(), known->notes.end(),
                                          [&](const Note& other) { return other.where == note.where; });
            if (!told && known->notes.size() < most_notes) known->notes.push_back(std::move(note));
        }
        return;
    }
    const Rule* rule = find_rule(id);
    if (!rule) throw std::logic_error("no rule is called " + std::string(id));
    list_.push_back({std::string(id), rule->severity, where, std::move(message), std::move(fix.text),
                     std::string(rule->section), std::move(notes), std::move(fix.remedies)});
}

bool Findings::any_of(std::string_view family) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const Diagnostic& finding) { return finding.rule.starts_with(family); });
}

std::vector<Diagnostic> Findings::sorted(std::string_view first) && {
    const auto key = [&](const Diagnostic& finding) {
        return std::tuple(finding.where.file != first, finding.where.file, finding.where.line);
    };
    std::stable_sort(list_.begin(), list_.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
    return std::move(list_);
}

std::string before(Where where) { return where ? fmt::format("before line {}", where.line) : "before it"; }
std::string after(Where where) { return where ? fmt::format("after line {}", where.line) : "after it"; }

}  // namespace wgrun::check
