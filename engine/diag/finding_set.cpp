#include "wgrun/finding_set.hpp"

#include <algorithm>
#include <tuple>

namespace wgrun {

bool same_finding(const Diagnostic& a, const Diagnostic& b) {
    return a.where == b.where && a.rule == b.rule && a.severity == b.severity &&
           (!a.rule.empty() || a.message == b.message);
}

bool FindingSet::has(const Diagnostic& finding) const {
    return std::ranges::any_of(list_, [&](const Diagnostic& other) { return same_finding(finding, other); });
}

bool FindingSet::add(Diagnostic finding) {
    if (has(finding)) return false;
    list_.push_back(std::move(finding));
    return true;
}

void FindingSet::add_of_launch(std::span<const Diagnostic> findings) {
    for (const Diagnostic& finding : findings) {
        if (finding.severity == Severity::error && !finding.rule.empty())
            std::erase_if(list_, [&](const Diagnostic& other) {
                return other.rule == finding.rule && other.where == finding.where &&
                       other.severity != Severity::error;
            });
        add(finding);
    }
}

void FindingSet::add_all(std::span<const Diagnostic> findings) {
    for (const Diagnostic& finding : findings) add(finding);
}

void FindingSet::add_with_notes(Diagnostic finding) {
    constexpr std::size_t most_notes = 4;
    const auto known =
        std::ranges::find_if(list_, [&](const Diagnostic& other) { return same_finding(finding, other); });
    if (known == list_.end()) return list_.push_back(std::move(finding));
    for (Note& note : finding.notes) {
        const bool told = std::ranges::find(known->notes, note.where, &Note::where) != known->notes.end();
        if (!told && known->notes.size() < most_notes) known->notes.push_back(std::move(note));
    }
}

void FindingSet::add_wordings(std::span<const Diagnostic> findings) {
    for (const Diagnostic& finding : findings) {
        const bool known = std::ranges::any_of(list_, [&](const Diagnostic& other) {
            return same_finding(finding, other) && finding.message == other.message;
        });
        if (!known) list_.push_back(finding);
    }
}

std::vector<Diagnostic> FindingSet::sorted(std::string_view first) && {
    std::ranges::stable_sort(list_, {}, [&](const Diagnostic& finding) {
        return std::tuple(finding.where.file != first, finding.where.file, finding.where.line);
    });
    return std::move(list_);
}

}  // namespace wgrun
