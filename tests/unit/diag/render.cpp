#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;
using nlohmann::json;

namespace {

Diagnostic example() {
    Diagnostic finding;
    finding.rule = "WG-GROUP-01";
    finding.where = Where::at("kernel.lua", 41);
    finding.message = "accumulator is read while its wgmma may still run";
    finding.fix = "k:wgmma_wait_group(0) before line 41";
    finding.section = "9.7.15.7.3";
    finding.notes = {{Where::at("kernel.lua", 37), "issued here"}};
    return finding;
}

}  // namespace

TEST_CASE("text: the finding, its notes and its fix") {
    CHECK(to_text(example()) ==
          "kernel.lua:41: error: accumulator is read while its wgmma may still run [WG-GROUP-01]\n"
          "  kernel.lua:37: issued here\n"
          "  fix: k:wgmma_wait_group(0) before line 41    (PTX ISA 9.7.15.7.3)");
}

TEST_CASE("text leaves out what a finding lacks") {
    Diagnostic finding;
    finding.message = "no device";
    CHECK(to_text(finding) == "error: no device");
    finding.severity = Severity::warning;
    finding.where = Where{Where::at("a.lua", 1).file, 0};
    CHECK(to_text(finding) == "a.lua: warning: no device");
    finding.section = "9.7.15.4";
    CHECK(to_text(finding) == "a.lua: warning: no device\n  (PTX ISA 9.7.15.4)");
}

TEST_CASE("text indents the further lines of a message") {
    Diagnostic finding;
    finding.message = "bad layout\n(8,\n   ^";
    CHECK(to_text(finding) == "error: bad layout\n  (8,\n     ^");
}

TEST_CASE("colours come only when asked for, and the words stay") {
    CHECK(to_text(example()).find('\x1b') == std::string::npos);
    std::string coloured = to_text(example(), true);
    CHECK(coloured.find("\x1b[1;31merror:\x1b[0m") != std::string::npos);
    for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
        coloured.erase(at, coloured.find('m', at) - at + 1);
    }
    CHECK(coloured == to_text(example()));
}

TEST_CASE("line: place, message, rule") {
    CHECK(to_line(example()) ==
          "kernel.lua:41: accumulator is read while its wgmma may still run [WG-GROUP-01]");
    Diagnostic finding;
    finding.message = "two\nlines";
    CHECK(to_line(finding) == "two lines");
}

TEST_CASE("JSON carries every field") {
    const std::vector findings{example()};
    const json parsed = json::parse(to_json(findings));
    CHECK(parsed == json::parse(R"({"findings": [{
        "rule": "WG-GROUP-01", "severity": "error", "file": "kernel.lua", "line": 41,
        "message": "accumulator is read while its wgmma may still run",
        "fix": "k:wgmma_wait_group(0) before line 41", "section": "9.7.15.7.3",
        "notes": [{"file": "kernel.lua", "line": 37, "message": "issued here"}], "fixes": [], "facts": {}}]})"));
    CHECK(json::parse(to_json({})) == json::parse(R"({"findings": []})"));
}

TEST_CASE("JSON survives quotes and bytes that are not UTF-8") {
    Diagnostic finding;
    finding.message = "a \"quoted\" \xff byte";
    const std::vector findings{finding};
    CHECK(json::parse(to_json(findings))["findings"][0]["message"] == "a \"quoted\" \xEF\xBF\xBD byte");
}

TEST_CASE("control characters are shown, not sent") {
    Diagnostic finding = example();
    finding.message =
        "`\x1b[2J` \x07\x7f \xc2\x9b"
        "31m \xc3\xa9\n\ttab";
    finding.where = Where::at("a\x1b.lua", 2);
    finding.fix = "leave out \x1b";
    finding.notes = {{Where::at("b\r.lua", 3), "beside \b"}};
    CHECK(to_line(finding) == "a\\x1b.lua:2: `\\x1b[2J` \\x07\\x7f \\x9b31m \xc3\xa9 \ttab [WG-GROUP-01]");
    CHECK(to_text(finding) ==
          "a\\x1b.lua:2: error: `\\x1b[2J` \\x07\\x7f \\x9b31m \xc3\xa9\n  \ttab [WG-GROUP-01]\n"
          "  b\\x0d.lua:3: beside \\x08\n"
          "  fix: leave out \\x1b    (PTX ISA 9.7.15.7.3)");
    const json told = json::parse(to_json(std::span(&finding, 1)));
    CHECK(told["findings"][0]["message"] == finding.message);
}
