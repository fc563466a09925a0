// The law book.
#include <algorithm>
#include <filesystem>
#include <set>

#include "source_folder.hpp"
#include "tests/catch.hpp"
#include "wgrun/rules.hpp"

using namespace wgrun;

TEST_CASE("rules are ordered by id, and found by it") {
    const std::span<const Rule* const> all = rules::all();
    CHECK(std::ranges::is_sorted(all, {}, &Rule::id));
    std::set<std::string_view> ids, titles;
    for (const Rule* rule : all) {
        INFO(rule->id);
        CHECK(ids.insert(rule->id).second);
        CHECK(titles.insert(rule->title).second);
        CHECK(find_rule(rule->id) == rule);
    }
    CHECK(find_rule("WG-FENCE-99") == nullptr);
    CHECK(find_rule("") == nullptr);
    CHECK(find_rule("WG-FENCE-01") == &rules::WG_FENCE_01);
}

TEST_CASE("each rule has a folder of kernels that break and keep it, and each folder a rule") {
    std::set<std::string> folders;
    for (const auto& entry : std::filesystem::directory_iterator(WGRUN_SOURCE_DIR "/tests/rules"))
        if (entry.is_directory()) folders.insert(entry.path().filename());
    std::set<std::string> ids;
    for (const Rule* rule : rules::all()) ids.emplace(rule->id);
    CHECK(ids == folders);
}

TEST_CASE("every rule has a title, a law of one sentence, a reason, a fix and two different excerpts") {
    for (const Rule* rule : rules::all()) {
        INFO(rule->id);
        CHECK_FALSE(rule->title.empty());
        CHECK(rule->title.size() <= 48);
        CHECK_FALSE(to_string(rule->found_by).empty());
        CHECK(rule->law.ends_with('.'));
        CHECK(std::count(rule->law.begin(), rule->law.end(), '\n') == 0);
        CHECK_FALSE(rule->section.empty());
        CHECK_FALSE(rule->why.empty());
        CHECK_FALSE(rule->fix.empty());
        CHECK(rule->decided.ends_with('.'));
        CHECK(rule->wrong != rule->right);
        for (std::string_view excerpt : {rule->wrong, rule->right}) {
            const auto lines = std::count(excerpt.begin(), excerpt.end(), '\n') + 1;
            CHECK(lines >= 4);
            CHECK(lines <= 10);
        }
    }
}

TEST_CASE("what only makes a kernel slower is no error, nor what the chip does not mind") {
    const std::set<std::string_view> remarks{"WG-ASM-01",   "WG-ASM-03",  "WG-GROUP-03",
                                             "WG-PROXY-02", "WG-REG-04",  "WG-SASS-04",
                                             "WG-SASS-09",  "WG-SASS-10", "WG-TMA-07"};
    for (const Rule* rule : rules::all()) {
        INFO(rule->id);
        const bool only_slow = remarks.contains(rule->id) || rule->id.starts_with("WG-PERF-");
        CHECK((rule->severity != Severity::error) == only_slow);
    }
}

TEST_CASE("what is decided by numbers of threads, and what is a warning in the texts of others") {
    const std::set<std::string_view> families{"SYNC", "MBAR", "RACE", "TMA", "REG"};
    std::set<std::string_view> weaker;
    for (const Rule* rule : rules::all()) {
        INFO(rule->id);
        const std::string_view family = rule->id.substr(3, rule->id.rfind('-') - 3);
        const bool counts =
            (families.contains(family) && rule != &rules::WG_REG_01 && rule != &rules::WG_TMA_07) ||
            rule == &rules::WG_MEM_03;
        CHECK(rule->counts_threads == counts);
        if (rule->severity_override != SeverityOverride::same) weaker.insert(rule->id);
    }
    CHECK(weaker == std::set<std::string_view>{"WG-DESC-04", "WG-GROUP-06", "WG-REG-01", "WG-REG-02",
                                               "WG-REG-04", "WG-REG-05", "WG-TMA-03"});
}

TEST_CASE("a finding has its rule's severity and section") {
    const Diagnostic found = rules::finding(rules::WG_GROUP_03, Where::at("k.lua", 3), "message", "fix",
                                            {{Where::at("k.lua", 1), "note"}});
    CHECK(found.rule == "WG-GROUP-03");
    CHECK(breaks(found, rules::WG_GROUP_03));
    CHECK_FALSE(breaks(found, rules::WG_GROUP_01));
    CHECK(found.severity == Severity::warning);
    CHECK(found.section == "9.7.15.7.3");
    CHECK(found.where == Where::at("k.lua", 3));
    CHECK(found.message == "message");
    CHECK(found.fix == "fix");
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].message == "note");

    const ArgumentError thrown = rules::refusal(rules::WG_FORM_03, "too large");
    CHECK(thrown.code() == "EINVAL");
    CHECK(thrown.finding().rule == "WG-FORM-03");
    CHECK(thrown.finding().section == rules::WG_FORM_03.section);
    CHECK(std::string_view(thrown.what()) == "too large");
}

TEST_CASE("who finds a broken rule, in words") {
    CHECK(to_string(Finder::check) == "check");
    CHECK(to_string(Finder::run | Finder::script) == "script, run");
    CHECK(contains(rules::WG_FENCE_01.found_by, Finder::run));
    CHECK_FALSE(contains(rules::WG_PERF_01.found_by, Finder::run));
}
