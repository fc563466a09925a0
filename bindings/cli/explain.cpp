// wgrun explain ID, wgrun rules: descriptions of the catalogue's rules.
#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bindings/cli/codes.hpp"
#include "bindings/cli/command.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/topics.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::cli {
namespace explain_detail {
namespace {

std::string indented(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string out;
    for (std::string line; std::getline(lines, line);)
        out += line.empty() ? "\n" : fmt::format("    {}\n", line);
    return out;
}

std::string to_text(const Rule& rule) {
    std::string text = fmt::format("{} ({}): {}\n", rule.id, to_string(rule.severity), rule.law);
    text += fmt::format("\n{}; found by: {}\n", rule.title, to_string(rule.found_by));
    text += fmt::format("{}\n", rule.decided);
    if (!rule.why.empty()) text += fmt::format("\n{}\n", rule.why);
    if (!rule.wrong.empty()) text += "\nwrong:\n\n" + indented(rule.wrong);
    if (!rule.right.empty()) text += "\nright:\n\n" + indented(rule.right);
    if (!rule.fix.empty()) text += fmt::format("\nfix: {}\n", rule.fix);
    if (!rule.section.empty()) text += fmt::format("PTX ISA {}\n", rule.section);
    return text;
}

nlohmann::ordered_json to_object(const Rule& rule) {
    nlohmann::ordered_json out{{"id", rule.id},           {"severity", to_string(rule.severity)},
                               {"title", rule.title},     {"found_by", to_string(rule.found_by)},
                               {"law", rule.law},         {"section", rule.section},
                               {"why", rule.why},         {"fix", rule.fix},
                               {"decided", rule.decided}, {"wrong", rule.wrong},
                               {"right", rule.right}};
    if (rule.property != Property::none) out["property"] = row_of(rule.property).id;
    return out;
}

std::string to_markdown(const Rule& rule) {
    std::string text = fmt::format("## {}\n\n**{}** ({}, PTX ISA {})\n\n{}\n\n", rule.id, rule.law,
                                   to_string(rule.severity), rule.section, rule.why);
    if (!rule.wrong.empty()) text += fmt::format("Wrong:\n\n```lua\n{}\n```\n\n", rule.wrong);
    if (!rule.right.empty()) text += fmt::format("Right:\n\n```lua\n{}\n```\n\n", rule.right);
    return text +
           fmt::format("Fix: {}\n\nFound by: {}. {}\n", rule.fix, to_string(rule.found_by), rule.decided);
}

/// docs/rules.md.
std::string all_as_markdown() {
    std::string text =
        "# Rules\n\nPrinted by `wgrun rules --markdown`. `wgrun explain ID` shows one.\n\n"
        "What finds that a rule is broken stands behind each, and what is decided where:\n\n"
        "- *script*: the call that builds or launches the kernel refuses it.\n"
        "- *check*, on **paths**: all paths of the program are followed, with the registers and places whose "
        "values "
        "are numbers or affine in lanes and loops. In the **abstract execution**: the warps of the first "
        "cluster take "
        "turns, "
        "with placeholder numbers, of which a finding must hold for all, and with those of each launch "
        "of the "
        "script; only what synchronises is followed.\n"
        "- *run ahead*: `check` lets the simulator run the first cluster with placeholder arguments, "
        "and up to 64 "
        "clusters of the first launches of each kernel with placeholder memory, in one schedule. "
        "Such a "
        "run ends where a placeholder decides; what it finds before holds for every launch.\n"
        "- *run*: on the simulator, or in the guarded build on a GPU. `check --dynamic` runs the script with "
        "several "
        "schedules, and its kernels at the edges of the sizes that `kernel:sizes` declares. A run decides "
        "for all "
        "that it executes; what no launch, size or schedule of it reaches is not decided.\n"
        "- *assembler*: ptxas, or the driver's.\n";
    for (const Rule* rule : rules::all()) text += fmt::format("\n{}", to_markdown(*rule));
    return text;
}

int write(const Request& request, const std::string& text, const nlohmann::ordered_json& json) {
    Results results(false);
    results.write(request.json ? json.dump(2) + "\n" : text);
    return results.finish() ? Exit::ok : Exit::failed;
}

int print_rules(const Request& request, bool markdown) {
    std::string text;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Rule* rule : rules::all()) {
        text += fmt::format("{:<14} {}\n", rule->id, rule->law);
        json.push_back(to_object(*rule));
    }
    return write(request, markdown ? all_as_markdown() : text, json);
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

/// An id that is spelt as `word`, which is the id of no rule, nearly is.
std::string meant_by(const std::string& word) {
    std::vector<std::string_view> ids;
    for (const Rule* known : rules::all()) ids.push_back(known->id);
    return fmt::format(
        "there is no rule `{}`{} (wgrun rules lists them, wgrun help knows functions and instructions)", word,
        nearest(word, ids));
}

/// A property of verdicts, by its id or its title; empty: it is none.
std::string about_property(std::string_view word) {
    for (const PropertyRow& row : properties())
        if (word == row.id || word == row.title)
            return fmt::format(
                "{} (`{}`), a property that a verdict proves or refutes: {}\n  see docs/verdicts.md\n",
                row.title, row.id, row.what);
    return {};
}

int explain(const Request& request, const std::string& id) {
    if (id.empty()) return print_rules(request, false);
    const Rule* rule = find_rule(upper(id));
    if (rule == nullptr) {
        if (const std::optional<ExplainedCode> code = explain_code(id))
            return write(request, code->text, code->json);
        for (const std::string& found : {about_property(id), rules::about(id)})
            if (!found.empty()) return write(request, found, {{"about", found}});
        remark("wgrun: " + meant_by(id));
        return Exit::usage;
    }
    return write(request, to_text(*rule), to_object(*rule));
}

Command::Run declare_explain(Arguments& arguments) {
    const auto id = std::make_shared<std::string>();
    arguments.option("ID", *id,
                     "The rule, such as WG-FENCE-01, a code of ptxas or CUDA, such as C7510, or a word: "
                     "multicast, deadlock");
    return [id](const Request& request) { return explain(request, *id); };
}

Command::Run declare_rules(Arguments& arguments) {
    const auto markdown = std::make_shared<bool>(false);
    arguments.flag("--markdown", *markdown, "Print docs/rules.md on standard output");
    return [markdown](const Request& request) { return print_rules(request, *markdown); };
}

}  // namespace
}  // namespace explain_detail

const Command explain_command{"explain", "Explain a rule or a code of ptxas or CUDA, or list all rules",
                              Takes::nothing, explain_detail::declare_explain};
const Command rules_command{"rules", "List the rules of the checker and the simulator", Takes::nothing,
                            explain_detail::declare_rules};

}  // namespace wgrun::cli
