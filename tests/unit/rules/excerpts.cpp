// The rows of the law book say what is decided before a kernel runs; tests/rules shows whether that is so:
// each finding that a kernel there expects is made by `wgrun check` (`-- EXPECT: ID`), or in a run
// (`-- EXPECT IN RUN: ID`). tests/rules/run.sh holds those comments against what is found.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "source_folder.hpp"
#include "tests/catch.hpp"
#include "wgrun/rules.hpp"

using namespace wgrun;

namespace {

struct Expected {
    std::set<std::string> by_check, in_run;
};

Expected expectations() {
    static const std::regex comment("(?:--|//) EXPECT( IN RUN)?: (WG-[A-Z0-9-]+)");
    Expected out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(WGRUN_SOURCE_DIR "/tests/rules")) {
        if (entry.path().extension() != ".lua" && entry.path().extension() != ".ptx") continue;
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);)
            for (std::sregex_iterator at(line.begin(), line.end(), comment), end; at != end; ++at)
                ((*at)[1].matched ? out.in_run : out.by_check).insert((*at)[2]);
    }
    return out;
}

}  // namespace

TEST_CASE("what a row says is found without a run is found without one in tests/rules, and nothing else is") {
    const Expected expected = expectations();
    for (const Rule* rule : rules::all()) {
        INFO(rule->id);
        const std::string id(rule->id);
        const bool before = contains(rule->found_by, Finder::script | Finder::check | Finder::ahead);
        // A launch refuses what a script has written: that may be all that a rule is about.
        const bool of_launches = rule->found_by == Finder::script && expected.in_run.contains(id);
        if (!id.starts_with("WG-PERF-") && !of_launches) CHECK(expected.by_check.contains(id) == before);
        if (expected.in_run.contains(id))
            CHECK((contains(rule->found_by, Finder::run) || contains(rule->found_by, Finder::script)));
        if (!before && contains(rule->found_by, Finder::run)) CHECK(expected.in_run.contains(id));
    }
}
