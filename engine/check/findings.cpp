#include "check/findings.hpp"

#include <algorithm>
#include <tuple>

namespace wgrun::check {

namespace {
constexpr std::size_t most_notes = 4;
}

void Findings::add(Diagnostic finding) {
    const auto known = std::find_if(list_.begin(), list_.end(), [&](const Diagnostic& other) {
        return other.rule == finding.rule && other.where == finding.where;
    });
    if (known != list_.end()) {
        for (Note& note : finding.notes) {
            const bool told = std::any_of(known->notes.begin(), known->notes.end(),
                                          [&](const Note& other) { return other.where == note.where; });
            if (!told && known->notes.size() < most_notes) known->notes.push_back(std::move(note));
        }
        return;
    }
    list_.push_back(std::move(finding));
}

bool Findings::has(const Rule& rule) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const Diagnostic& finding) { return breaks(finding, rule); });
}

std::vector<Diagnostic> Findings::sorted(std::string_view first) && {
    const auto key = [&](const Diagnostic& finding) {
        return std::tuple(finding.where.file != first, finding.where.file, finding.where.line);
    };
    std::stable_sort(list_.begin(), list_.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
    return std::move(list_);
}

}  // namespace wgrun::check
