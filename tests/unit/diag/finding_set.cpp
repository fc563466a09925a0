// When two findings are one.
#include "wgrun/finding_set.hpp"

#include "tests/catch.hpp"

using namespace wgrun;

namespace {

Diagnostic found(std::string rule, int line, std::string message = "m", std::vector<Note> notes = {}) {
    Diagnostic out = plain_error(std::move(message), {}, Where::at("k.lua", line));
    out.rule = std::move(rule);
    out.notes = std::move(notes);
    return out;
}

Diagnostic warned(Diagnostic finding) {
    finding.severity = Severity::warning;
    return finding;
}

Note at(int line) { return {Where::at("k.lua", line), "there"}; }

}  // namespace

TEST_CASE("findings of one rule, place and severity are one") {
    FindingSet set;
    CHECK(set.add(found("WG-RACE-01", 4, "thread 0")));
    CHECK_FALSE(set.add(found("WG-RACE-01", 4, "thread 1")));
    CHECK(set.has(found("WG-RACE-01", 4)));
    CHECK(set.add(found("WG-RACE-01", 5)));
    CHECK(set.add(found("WG-RACE-02", 4)));
    CHECK(set.add(warned(found("WG-RACE-01", 4))));
    CHECK(set.size() == 4);
    CHECK(set.list().front().message == "thread 0");
}

TEST_CASE("findings without a rule are told apart by what they say") {
    FindingSet set;
    CHECK(set.add(found("", 4, "no such file")));
    CHECK_FALSE(set.add(found("", 4, "no such file")));
    CHECK(set.add(found("", 4, "not a number")));
}

TEST_CASE("each wording is told where kernels stand at the same lines") {
    FindingSet set;
    const std::vector<Diagnostic> some{found("WG-RACE-01", 4, "of `a`"), found("WG-RACE-01", 4, "of `b`"),
                                       found("WG-RACE-01", 4, "of `a`")};
    set.add_wordings(some);
    CHECK(set.size() == 2);
    set.add_all(some);
    CHECK(set.size() == 2);
}

TEST_CASE("the first of the same findings keeps some notes of the others, each place once") {
    FindingSet set;
    for (const int line : {1, 1, 2, 3, 4, 5}) set.add_with_notes(found("WG-RACE-01", 9, "m", {at(line)}));
    REQUIRE(set.size() == 1);
    std::vector<int> lines;
    for (const Note& note : set.list().front().notes) lines.push_back(note.where.line);
    CHECK(lines == std::vector{1, 2, 3, 4});
}

TEST_CASE("findings are sorted by file, the named one first, and by line") {
    FindingSet set;
    set.add(found("A", 7));
    Diagnostic other = found("B", 1);
    other.where = Where::at("a.lua", 1);
    set.add(other);
    set.add(found("C", 2));
    std::string order;
    for (const Diagnostic& finding : std::move(set).sorted("k.lua")) order += finding.rule;
    CHECK(order == "CAB");
}
