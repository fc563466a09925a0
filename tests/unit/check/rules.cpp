// The catalogue.
#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "wgrun/rules.hpp"

using namespace wgrun;

TEST_CASE("rules are ordered by id, and found by it") {
    const std::span<const Rule> rules = wgrun::rules();
    CHECK(std::ranges::is_sorted(rules, {}, &Rule::id));
    std::set<std::string_view> ids;
    for (const Rule& rule : rules) {
        CHECK(ids.insert(rule.id).second);
        CHECK(find_rule(rule.id) == &rule);
    }
    CHECK(find_rule("WG-FENCE-99") == nullptr);
    CHECK(find_rule("") == nullptr);
    for (const char* id :
         {"WG-FORM-01",   "WG-FORM-02",  "WG-FENCE-01", "WG-GROUP-01",  "WG-GROUP-02",  "WG-GROUP-03",
          "WG-PROXY-01",  "WG-RACE-01",  "WG-RACE-02",  "WG-DESC-01",   "WG-DESC-02",   "WG-DESC-03",
          "WG-DESC-04",   "WG-SYNC-01",  "WG-SYNC-02",  "WG-SYNC-03",   "WG-MEM-01",    "WG-MEM-02",
          "WG-MEM-03",    "WG-MEM-04",   "WG-REG-01",   "WG-REG-02",    "WG-RACE-03",   "WG-MBAR-01",
          "WG-MBAR-02",   "WG-MBAR-03",  "WG-MBAR-04",  "WG-MBAR-05",   "WG-SYNC-04",   "WG-SYNC-05",
          "WG-TMA-01",    "WG-TMA-02",   "WG-TMA-03",   "WG-PERF-01",   "WG-PERF-02",   "WG-PERF-03",
          "WG-PERF-04",   "WG-PERF-05",  "WG-FORM-03",  "WG-LAYOUT-01", "WG-SPARSE-01", "WG-SPARSE-02",
          "WG-SPARSE-03", "WG-TMA-04",   "WG-TMA-05",   "WG-REG-03",    "WG-REG-04",    "WG-GROUP-04",
          "WG-GROUP-05",  "WG-GROUP-06", "WG-MBAR-06",  "WG-SYNC-06",   "WG-PROXY-03",  "WG-PERF-06"})
        CHECK(find_rule(id) != nullptr);
}

TEST_CASE("every rule has a law of one sentence, a reason, a fix and two different excerpts") {
    for (const Rule& rule : rules()) {
        INFO(rule.id);
        CHECK(rule.law.ends_with('.'));
        CHECK(std::count(rule.law.begin(), rule.law.end(), '\n') == 0);
        CHECK_FALSE(rule.section.empty());
        CHECK_FALSE(rule.why.empty());
        CHECK_FALSE(rule.fix.empty());
        CHECK(rule.wrong != rule.right);
        for (std::string_view excerpt : {rule.wrong, rule.right}) {
            const auto lines = std::count(excerpt.begin(), excerpt.end(), '\n') + 1;
            CHECK(lines >= 4);
            CHECK(lines <= 10);
        }
        const bool only_slow =
            rule.id == "WG-ASM-01" || rule.id == "WG-GROUP-03" || rule.id == "WG-REG-04" || rule.id.starts_with("WG-PERF-");
        CHECK((rule.severity != Severity::error) == only_slow);
    }
}
