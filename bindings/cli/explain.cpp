// wgrun explain [ID]: a rule of the catalogue, or the list of them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bindings/cli/cli.hpp"
#include "check/check.hpp"

namespace wgrun::cli {
namespace {

using check::Rule;

std::string indented(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string out;
    for (std::string line; std::getline(lines, line);) out += line.empty() ? "\n" : "    " + line + "\n";
    return out;
}

std::string to_text(const Rule& rule) {
    std::string text = fmt::format("{} ({}): {}\n", rule.id, to_string(rule.severity), rule.law);
    if (!rule.why.empty()) text += fmt::format("\n{}\n", rule.why);
    if (!rule.wrong.empty()) text += "\nwrong:\n\n" + indented(rule.wrong);
    if (!rule.right.empty()) text += "\nright:\n\n" + indented(rule.right);
    if (!rule.fix.empty()) text += fmt::format("\nfix: {}\n", rule.fix);
    if (!rule.section.empty()) text += fmt::format("PTX ISA {}\n", rule.section);
    return text;
}

nlohmann::ordered_json to_object(const Rule& rule) {
    return {{"id", rule.id},       {"severity", to_string(rule.severity)},
            {"law", rule.law},     {"section", rule.section},
            {"why", rule.why},     {"fix", rule.fix},
            {"wrong", rule.wrong}, {"right", rule.right}};
}

}  // namespace

int explain(const Request& request) {
    Results results(false);
    std::string text;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::vector<std::string_view> ids;
    for (const Rule& rule : check::rules()) {
        ids.push_back(rule.id);
        if (request.id.empty()) text += fmt::format("{:<14} {}\n", rule.id, rule.law);
        if (request.id.empty() || request.id == rule.id) json.push_back(to_object(rule));
    }
    if (!request.id.empty()) {
        const Rule* rule = check::find_rule(request.id);
        if (rule == nullptr) {
            remark("wgrun: no rule is called `" + request.id + "`" + nearest(request.id, ids) +
                   " (wgrun explain lists them)");
            return Exit::usage;
        }
        text = to_text(*rule);
        json = to_object(*rule);
    }
    results.write(request.json ? json.dump(2) + "\n" : text);
    return results.finish() ? Exit::ok : Exit::failed;
}

}  // namespace wgrun::cli
