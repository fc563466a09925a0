#include "bindings/cli/decided.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wgrun/rules.hpp"

namespace wgrun::cli {
namespace decided_detail {
namespace {

/// How much of a rule is known before any kernel runs. Only the assembler knows of some.
enum class Known : std::uint8_t { all, in_part, ahead, nothing, elsewhere };

Known known(const Rule& rule) {
    const bool runs = contains(rule.found_by, Finder::run);
    if (contains(rule.found_by, Finder::script) || contains(rule.found_by, Finder::check))
        return runs ? Known::in_part : Known::all;
    if (contains(rule.found_by, Finder::ahead)) return Known::ahead;
    return runs ? Known::nothing : Known::elsewhere;
}

/// "WG-MEM-01, -02, WG-RACE-04": the rules of which so much is known.
std::string list_of(Known how) {
    std::string text, family;
    for (const Rule* rule : rules::all()) {
        if (known(*rule) != how) continue;
        const std::size_t number = rule->id.rfind('-');
        const std::string_view of = rule->id.substr(0, number);
        if (!text.empty()) text += ", ";
        text += of == family ? rule->id.substr(number) : rule->id;
        family = of;
    }
    return text;
}

}  // namespace
}  // namespace decided_detail

std::string left_to_a_run(std::string_view how) {
    using namespace decided_detail;
    return fmt::format("not decided without {}: {}; as far as runs ahead came: {}", how,
                       list_of(Known::nothing), list_of(Known::ahead));
}

nlohmann::ordered_json decided_rules() {
    using namespace decided_detail;
    nlohmann::ordered_json json;
    for (const auto& [name, how] : {std::pair("decided", Known::all), std::pair("in_part", Known::in_part),
                                    std::pair("left_to_a_run", Known::nothing)}) {
        json[name] = nlohmann::ordered_json::array();
        for (const Rule* rule : rules::all())
            if (known(*rule) == how || (how == Known::in_part && known(*rule) == Known::ahead))
                json[name].push_back(rule->id);
    }
    return json;
}

}  // namespace wgrun::cli
