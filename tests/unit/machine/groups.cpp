// Groups of asynchronous operations: what a wait_group waits for.
#include "machine/groups.hpp"

#include "tests/catch.hpp"

using wgrun::machine::Groups;

TEST_CASE("a wait covers all groups but the youngest") {
    Groups<> groups;
    for (int i = 0; i < 3; ++i) {
        groups.issue();
        groups.issue();
        groups.commit(1);
    }
    groups.issue();  // in no group
    CHECK(groups.awaited(0, 0) == 6);
    CHECK(groups.awaited(0, 1) == 4);
    CHECK(groups.awaited(0, 2) == 2);
    CHECK(groups.awaited(0, 3) == 0);
    CHECK(groups.committed(0) == 6);
    CHECK(groups.issued() == 7);
}

TEST_CASE("groups that were waited for are over") {
    Groups<> groups;
    groups.issue();
    groups.commit(1);
    groups.issue();
    groups.commit(1);
    groups.finish(0, groups.awaited(0, 1));
    CHECK(groups.running().size() == 1);
    CHECK(groups.awaited(0, 1) == 0);
    CHECK(groups.awaited(0, 0) == 2);
    groups.finish(0, 2);
    CHECK(groups.running().empty());
    CHECK(groups.committed(0) == 0);
}

TEST_CASE("an empty group counts as one") {
    Groups<> groups;
    groups.issue();
    groups.commit(1);
    groups.commit(1);
    CHECK(groups.awaited(0, 1) == 1);
    CHECK(groups.awaited(0, 2) == 0);
}

TEST_CASE("each lane has groups of its own") {
    Groups<> groups;
    groups.issue();
    groups.commit(0b01);
    groups.issue();
    groups.commit(0b11);
    CHECK(groups.awaited(0, 1) == 1);
    CHECK(groups.awaited(1, 1) == 0);  // it has committed one group only
    CHECK(groups.awaited(1, 0) == 2);
    CHECK(groups.awaited(2, 0) == 0);
    groups.finish(0, 2);
    CHECK(groups.awaited(0, 0) == 0);
    CHECK(groups.awaited(1, 0) == 2);
    groups.finish(1, 2);
    CHECK(groups.running().empty());
}

TEST_CASE("a group has a note") {
    Groups<char> groups;
    groups.issue();
    groups.commit(1, 'a');
    groups.issue();
    groups.commit(1, 'b');
    groups.finish(0, 1);
    REQUIRE(groups.running().size() == 1);
    CHECK(groups.running().front().note == 'b');
}
