#include "wgrun/report.hpp"

#include "wgrun/printable.hpp"

namespace wgrun {

std::string to_report(std::span<const Diagnostic> findings, std::string_view prefix, bool colour) {
    std::string text;
    for (const Diagnostic& finding : findings) {
        if (!finding.rule.empty() || !finding.notes.empty() || finding.severity != Severity::error) {
            text += to_text(finding, colour);
        } else {
            text += std::string(prefix) + to_line(finding);
            if (!finding.fix.empty()) text += " (fix: " + printable(finding.fix) + ")";
        }
        if (!text.ends_with('\n')) text += '\n';
    }
    return text;
}

}  // namespace wgrun
