// What to_sarif writes, against the JSON schema of SARIF 2.1.0 (OASIS, sarif-schema-2.1.0.json): of every
// object that we write, the properties that it must have and those that it may have (the schema allows no
// others), the types and limits of their values, and arrays that may not hold an item twice.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "diag/fix.hpp"
#include "rules/phrases.hpp"
#include "tests/catch.hpp"
#include "wgrun/rules.hpp"

using namespace wgrun;
using nlohmann::json;

namespace {

/// A property's value: "string", "uri", "level", "bag", "line" (an integer from 1), "index" (from -1), the
/// name of an object, or "[name]" for an array of them, "[name]+" for one that may not be empty.
struct Property {
    const char *name, *type;
};
struct Object {
    std::vector<const char*> required;
    std::vector<Property> optional_and_required;
};

const std::map<std::string, Object>& schema() {
    static const std::map<std::string, Object> objects{
        {"log", {{"version", "runs"}, {{"$schema", "uri"}, {"version", "2.1.0"}, {"runs", "[run]"}}}},
        {"run",
         {{"tool"},
          {{"tool", "tool"}, {"results", "[result]"}, {"artifacts", "[artifact]"}, {"properties", "bag"}}}},
        {"artifact", {{}, {{"location", "artifactLocation"}, {"hashes", "bag"}}}},
        {"tool", {{"driver"}, {{"driver", "toolComponent"}, {"properties", "bag"}}}},
        {"toolComponent",
         {{"name"}, {{"name", "string"}, {"version", "string"}, {"rules", "[reportingDescriptor]"}}}},
        {"reportingDescriptor",
         {{"id"},
          {{"id", "string"},
           {"helpUri", "uri"},
           {"shortDescription", "message"},
           {"fullDescription", "message"},
           {"help", "message"}}}},
        {"result",
         {{"message"},
          {{"ruleId", "string"},
           {"ruleIndex", "index"},
           {"kind", "kind"},
           {"level", "level"},
           {"message", "message"},
           {"locations", "[location]"},
           {"relatedLocations", "[location]"},
           {"fixes", "[fix]"},
           {"properties", "bag"}}}},
        {"message", {{"text"}, {{"text", "string"}}}},
        {"location",
         {{},
          {{"physicalLocation", "physicalLocation"},
           {"logicalLocations", "[logicalLocation]"},
           {"message", "message"}}}},
        {"logicalLocation", {{}, {{"name", "string"}, {"kind", "string"}}}},
        {"physicalLocation",
         {{"artifactLocation"}, {{"artifactLocation", "artifactLocation"}, {"region", "region"}}}},
        {"artifactLocation", {{}, {{"uri", "uri"}}}},
        {"region",
         {{}, {{"startLine", "line"}, {"startColumn", "line"}, {"endLine", "line"}, {"endColumn", "line"}}}},
        {"fix",
         {{"artifactChanges"}, {{"description", "message"}, {"artifactChanges", "[artifactChange]+"}}}},
        {"artifactChange",
         {{"artifactLocation", "replacements"},
          {{"artifactLocation", "artifactLocation"}, {"replacements", "[replacement]+"}}}},
        {"replacement",
         {{"deletedRegion"}, {{"deletedRegion", "region"}, {"insertedContent", "artifactContent"}}}},
        {"artifactContent", {{}, {{"text", "string"}}}},
    };
    return objects;
}

void validate(const json& value, const std::string& type, const std::string& path);

void validate_array(const json& value, std::string type, const std::string& path) {
    const bool filled = type.back() == '+';
    type = type.substr(1, type.find(']') - 1);
    REQUIRE(value.is_array());
    if (filled) CHECK_FALSE(value.empty());
    std::set<std::string> items;
    for (const json& item : value) {
        if (type != "run" && type != "result") CHECK(items.insert(item.dump()).second);
        validate(item, type, path + "[]");
    }
}

void validate_object(const json& value, const Object& object, const std::string& path) {
    REQUIRE(value.is_object());
    for (const char* name : object.required) CHECK(value.contains(name));
    for (const auto& [name, inner] : value.items()) {
        const Property* known = nullptr;
        for (const Property& property : object.optional_and_required)
            if (name == property.name) known = &property;
        INFO("property " << name);
        REQUIRE(known != nullptr);
        validate(inner, known->type, path + "." + name);
    }
}

void validate(const json& value, const std::string& type, const std::string& path) {
    INFO(path << ": " << value.dump());
    if (type.front() == '[') return validate_array(value, type, path);
    const auto found = schema().find(type);
    if (type == "bag") {
        CHECK(value.is_object());
    } else if (type == "line" || type == "index") {
        CHECK((value.is_number_integer() && value >= (type == "line" ? 1 : -1)));
    } else if (found == schema().end()) {
        REQUIRE(value.is_string());
        const std::string text = value;
        if (type == "level")
            CHECK((text == "none" || text == "note" || text == "warning" || text == "error"));
        if (type == "kind")
            CHECK((text == "notApplicable" || text == "pass" || text == "fail" || text == "review" ||
                   text == "open" || text == "informational"));
        if (type == "uri") CHECK(text.find_first_of(" \"<>\\^`{|}\n") == std::string::npos);
        if (type == "2.1.0") CHECK(text == type);
    } else {
        validate_object(value, found->second, path);
    }
}

json sarif(const std::vector<Diagnostic>& findings) {
    json parsed = json::parse(to_sarif(findings));
    validate(parsed, "log", "$");
    return parsed;
}

Diagnostic finding() {
    const Where here = Where::at("my {kernel}.lua", 12), there = Where::at("other.lua", 7);
    Diagnostic out;
    out.rule = "WG-GROUP-01";
    out.where = here;
    out.message = "an accumulator of a wgmma is read while the wgmma may still run";
    out.section = "9.7.15.7.3";
    out.notes = {{there, "issued here"}, {there, "issued here"}, {{}, "nowhere"}};
    out.remedies = {{insert_before(here, {rules::wgmma_commit_group(), rules::wgmma_wait_group(0)})},
                    {insert_after(there, {rules::wgmma_commit_group()}),
                     insert_before(here, {rules::wgmma_wait_group(0)})},
                    {insert_before(here, {rules::wgmma_commit_group(), rules::wgmma_wait_group(0)})}};
    out.fix = in_words(out.remedies.front());
    return out;
}

/// One with a place, a note and a fix in words.
Diagnostic example() {
    Diagnostic out;
    out.rule = "WG-GROUP-01";
    out.where = Where::at("kernel.lua", 41);
    out.message = "a \"quoted\" \xff byte";
    out.fix = "k:wgmma_wait_group(0) before line 41";
    out.section = "9.7.15.7.3";
    out.notes = {{Where::at("kernel.lua", 37), "issued here"}};
    return out;
}

}  // namespace

TEST_CASE("every object of our SARIF has what the schema requires, and nothing that it does not know") {
    sarif({});
    Diagnostic without_place;
    without_place.message = "no device";
    Diagnostic without_line = finding();
    without_line.where = Where::at("kernel.lua", 0);
    without_line.severity = Severity::note;
    Diagnostic warning = finding();
    warning.severity = Severity::warning;
    warning.remedies.clear();
    const json all = sarif({finding(), without_place, without_line, warning});
    CHECK(all["runs"][0]["results"].size() == 4);
    CHECK(all["runs"][0]["results"][0]["relatedLocations"].size() == 1);
}

TEST_CASE("a fix of SARIF inserts lines in front of a line") {
    const json fixes = sarif({finding()})["runs"][0]["results"][0]["fixes"];
    REQUIRE(fixes.size() == 2);  // the third is the first again
    CHECK(fixes[0]["description"]["text"] ==
          "insert wgmma_commit_group(); wgmma_wait_group(0) before line 12");
    CHECK(fixes[0]["artifactChanges"] == json::parse(R"([{
        "artifactLocation": {"uri": "my%20%7Bkernel%7D.lua"},
        "replacements": [{
            "deletedRegion": {"startLine": 12, "startColumn": 1, "endLine": 12, "endColumn": 1},
            "insertedContent": {"text": "wgmma_commit_group()\nwgmma_wait_group(0)\n"}}]}])"));
    const json& second = fixes[1]["artifactChanges"];
    REQUIRE(second.size() == 2);
    CHECK(second[1]["artifactLocation"]["uri"] == "other.lua");
    CHECK(second[1]["replacements"][0]["deletedRegion"]["startLine"] == 8);
}

TEST_CASE("JSON has the fixes too") {
    const json found = json::parse(to_json(std::vector{finding()}))["findings"][0];
    REQUIRE(found["fixes"].size() == 3);
    CHECK(found["fixes"][1] == json::parse(R"([
        {"file": "other.lua", "line": 7, "position": "after", "text": "wgmma_commit_group()\n"},
        {"file": "my {kernel}.lua", "line": 12, "position": "before", "text": "wgmma_wait_group(0)\n"}])"));
}

TEST_CASE("a remedy in words") {
    const Where at = Where::at("k.lua", 4);
    const Phrase a{"a()", "a"}, b{"b()", "b"}, c{"c()", "c"};
    CHECK(in_words({insert_before(at, {a})}) == "k:a() before line 4");
    CHECK(in_words({insert_after(at, {a, b, c})}) == "k:a(), k:b() and k:c() after line 4");
    CHECK(in_words({insert_after(at, {a}), insert_before(Where::at("k.lua", 9), {b})}) ==
          "k:a() after line 4, k:b() before line 9");
    CHECK(in_words({insert_before({}, {a})}) == "k:a() before it");
}

TEST_CASE("an option is set where its line is known") {
    Diagnostic found = finding();
    const Where here = Where::at("k.lua", 3);
    Change change = set_option(here, rules::align_option(), "4", "8");
    found.remedies = {{change}};
    CHECK_FALSE(sarif({found})["runs"][0]["results"][0].contains("fixes"));
    CHECK(json::parse(to_json(std::vector{found}))["findings"][0]["fixes"] ==
          json::parse(R"([[{"file": "k.lua", "line": 3, "position": "option", "text": "align = 8"}]])"));
    change.kind = Change::Kind::line;
    change.lines = {{"local b = k:shared{bytes=8, align=8}", ""}};
    found.remedies = {{change}};
    const json fix = sarif({found})["runs"][0]["results"][0]["fixes"][0];
    CHECK(fix["description"]["text"] == "set align = 8 in line 3");
    CHECK(fix["artifactChanges"][0]["replacements"][0] == json::parse(R"({
        "deletedRegion": {"startLine": 3, "startColumn": 1, "endLine": 4, "endColumn": 1},
        "insertedContent": {"text": "local b = k:shared{bytes=8, align=8}\n"}})"));
}

TEST_CASE("a rule comes with its title, its law and its fix") {
    const json rule = sarif({finding()})["runs"][0]["tool"]["driver"]["rules"][0];
    CHECK(rule["id"] == "WG-GROUP-01");
    CHECK(rule["shortDescription"]["text"] == std::string(rules::WG_GROUP_01.title));
    CHECK(rule["fullDescription"]["text"] == std::string(rules::WG_GROUP_01.law));
    CHECK(rule["help"]["text"] == std::string(rules::WG_GROUP_01.fix));
}

TEST_CASE("SARIF 2.1.0: one run, rules once each, places as URIs") {
    Diagnostic second = example();
    second.severity = Severity::warning;
    second.where = Where::at("my kernel.lua", 3);
    Diagnostic plain;
    plain.message = "no device";
    const std::vector findings{example(), second, plain};
    const json parsed = json::parse(to_sarif(findings));
    CHECK(parsed["version"] == "2.1.0");
    REQUIRE(parsed["runs"].size() == 1);
    const json& run = parsed["runs"][0];
    CHECK(run["tool"]["driver"]["name"] == "wgrun");
    REQUIRE(run["tool"]["driver"]["rules"].size() == 1);
    CHECK(run["tool"]["driver"]["rules"][0]["id"] == "WG-GROUP-01");
    REQUIRE(run["results"].size() == 3);
    const json& first = run["results"][0];
    CHECK(first["ruleId"] == "WG-GROUP-01");
    CHECK(first["ruleIndex"] == 0);
    CHECK(first["level"] == "error");
    CHECK(first["message"]["text"] == "a \"quoted\" \xEF\xBF\xBD byte");
    CHECK(first["locations"][0]["physicalLocation"] ==
          json::parse(R"({"artifactLocation": {"uri": "kernel.lua"}, "region": {"startLine": 41}})"));
    CHECK(first["relatedLocations"][0]["message"]["text"] == "issued here");
    CHECK(first["properties"]["fix"] == "k:wgmma_wait_group(0) before line 41");
    CHECK(run["results"][1]["level"] == "warning");
    CHECK(run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
          "my%20kernel.lua");
    CHECK_FALSE(run["results"][2].contains("ruleId"));
    CHECK_FALSE(run["results"][2].contains("locations"));
}

TEST_CASE("verdicts are results: pass, open and fail, with what --json says of them") {
    const Where here = Where::at("k.ptx", 6), there = Where::at("k.ptx", 78);
    Verdict proved{wgrun::Property::phases, Verdict::Kind::proved, "all launches with n >= 1", {}, {}, {}};
    Verdict open{wgrun::Property::bounds, Verdict::Kind::undecided, {}, there, "nobody knows", "--dynamic"};
    Verdict refuted{wgrun::Property::deadlock, Verdict::Kind::refuted, {}, there, "WG-MBAR-05", {}};
    const std::vector kernels{Judged{"sums", here, {proved, open, refuted}}};
    const std::vector inputs{Input{"k.ptx", std::string(64, 'a')}, Input{"k.ptx", std::string(64, 'a')}};
    const json parsed = json::parse(to_sarif(std::vector{finding()}, kernels, inputs));
    validate(parsed, "log", "$");
    const json& run = parsed["runs"][0];
    CHECK(run["artifacts"] == json::parse(R"([{"location": {"uri": "k.ptx"}, "hashes": {"sha-256": ")" +
                                          std::string(64, 'a') + R"("}}])"));
    const json& results = run["results"];
    REQUIRE(results.size() == 4);
    CHECK_FALSE(results[0].contains("kind"));  // a finding: "fail" is what is meant (SARIF 3.27.9)
    CHECK(results[1]["kind"] == "pass");
    CHECK(results[1]["level"] == "none");
    CHECK(results[1]["ruleId"] == "phases");
    CHECK(results[1]["message"]["text"] == "sums: phases and arrivals: proved for all launches with n >= 1");
    CHECK(results[1]["locations"][0]["physicalLocation"]["region"]["startLine"] == 6);
    CHECK(results[1]["locations"][0]["logicalLocations"][0]["name"] == "sums");
    CHECK(results[1]["properties"]["domain"] == "all launches with n >= 1");
    CHECK(results[2]["kind"] == "open");
    CHECK(results[2]["level"] == "none");
    CHECK(results[2]["properties"]["assumption"] == "--dynamic");
    CHECK(results[2]["locations"][0]["physicalLocation"]["region"]["startLine"] == 78);
    CHECK(results[3]["kind"] == "fail");
    CHECK(results[3]["level"] == "note");
    CHECK(results[3]["properties"]["reason"] == "WG-MBAR-05");
    CHECK(run["tool"]["driver"]["rules"][results[3]["ruleIndex"].get<int>()]["id"] == "no-deadlock");
    // --json has the same.
    CHECK(json::parse(to_json(kernels[0].verdicts)) == json::parse(R"([
        {"property": "phases", "verdict": "proved", "domain": "all launches with n >= 1"},
        {"property": "bounds", "verdict": "undecided", "reason": "nobody knows", "file": "k.ptx", "line": 78,
         "assumption": "--dynamic"},
        {"property": "no-deadlock", "verdict": "refuted", "reason": "WG-MBAR-05", "file": "k.ptx", "line": 78}])"));
}

TEST_CASE("JSON has the facts of a finding, and the launch that shows it") {
    Diagnostic found = example();
    CHECK(json::parse(to_json(std::vector{found}))["findings"][0]["facts"] == json::object());
    CHECK_FALSE(json::parse(to_json(std::vector{found}))["findings"][0].contains("launch"));
    found.facts = {{"phase", 2}, {"buffer", "ring"}};
    found.launch = {
        .kernel = "sums", .grid = {4, 1, 1}, .block = {64, 1, 1}, .numbers = {{"n", 13}}, .others = 8};
    const json parsed = json::parse(to_json(std::vector{found}))["findings"][0];
    CHECK(parsed["facts"] == json::parse(R"({"phase": 2, "buffer": "ring"})"));
    CHECK(parsed["launch"] == json::parse(R"({"by": "wgrun", "kernel": "sums", "grid": [4, 1, 1],
        "block": [64, 1, 1], "cluster": [1, 1, 1], "numbers": {"n": 13}, "others": 8, "first": 0, "seed": 0})"));
}
