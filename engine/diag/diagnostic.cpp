#include "wgrun/diagnostic.hpp"

#include <algorithm>
#include <string_view>

#include "wgrun/nearest.hpp"

namespace wgrun {

std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::error: break;
    }
    return "error";
}

Error::Error(std::string code, Diagnostic finding)
    : std::runtime_error(finding.message), code_(std::move(code)), finding_(std::move(finding)) {}

Diagnostic plain_error(std::string message, std::string fix, Where where) {
    Diagnostic finding;
    finding.where = where;
    finding.message = std::move(message);
    finding.fix = std::move(fix);
    return finding;
}

ArgumentError::ArgumentError(std::string message, std::string fix)
    : Error("EINVAL", plain_error(std::move(message), std::move(fix))) {}

ArgumentError::ArgumentError(Diagnostic finding) : Error("EINVAL", std::move(finding)) {}

EnvironmentError::EnvironmentError(std::string code, std::string message, std::string fix)
    : Error(std::move(code), plain_error(std::move(message), std::move(fix))) {}

// The number of characters inserted, deleted or replaced, and of neighbours exchanged.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

std::string nearest(std::string_view word, std::span<const std::string_view> choices) {
    // What differs in the case of letters alone is the nearest.
    const auto lower = [](std::string_view text) {
        std::string out(text);
        for (char& c : out)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        return out;
    };
    const std::string wanted = lower(word);
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3 + 1);
    for (std::string_view choice : choices) {
        const std::size_t distance = edit_distance(wanted, lower(choice));
        if (distance < best_distance) best = choice, best_distance = distance;
    }
    return best.empty() ? "" : ": did you mean `" + std::string(best) + "`?";
}

}  // namespace wgrun
