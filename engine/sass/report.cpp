#include "sass/report.hpp"

#include <fmt/format.h>

namespace wgrun::sass {

Where Report::where(int line) const { return line <= 0 ? begin_ : Where{begin_.file, line}; }

std::string Report::name(Place at) const {
    const Instruction& one = function_.instructions[at];
    return fmt::format("0x{:x} `{}`", one.address, one.text);
}

void Report::add(const Rule& rule, int line, Place at, std::string message, std::vector<Note> notes) {
    const bool own = !known_.broken.empty() && (&rule == &rules::WG_SASS_01 || &rule == &rules::WG_SASS_08);
    if (rule.severity == Severity::error)
        message += own ? fmt::format(" (the program's fault: it breaks {})", known_.broken)
                       : " (the assembler's fault: the program asks for it)";
    Diagnostic finding =
        rules::finding(rule, where(line), std::move(message), std::string(rule.fix), std::move(notes));
    finding.facts.push_back({"address", static_cast<std::int64_t>(function_.instructions[at].address)});
    finding.facts.push_back({"instruction", std::string(function_.instructions[at].text)});
    if (rule.severity == Severity::error)
        finding.facts.push_back({"fault", std::string(own ? "program" : "assembler")});
    out_.findings.push_back(std::move(finding));
}

void Report::open(int line, std::string reason, std::string assumption) {
    out_.gaps.push_back({Property::kept, where(line), std::move(reason), std::move(assumption)});
}

}  // namespace wgrun::sass
