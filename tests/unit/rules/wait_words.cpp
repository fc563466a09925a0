// Who waits, and for what, in words.
#include "rules/wait_words.hpp"

#include "tests/catch.hpp"

using namespace wgrun::rules;

TEST_CASE("what has come to an mbarrier, in the singular and the plural") {
    CHECK(what_has_come(3, 4, 16384) == "3 of 4 arrivals have come, 16384 bytes are outstanding");
    CHECK(what_has_come(1, 2, 1) == "1 of 2 arrivals has come, 1 byte is outstanding");
    CHECK(what_has_come(0, 1, 0) == "0 of 1 arrivals have come, 0 bytes are outstanding");
    CHECK(what_has_come(1, 1, -1) == "1 of 1 arrivals has come, and 1 byte more than expected");
}

TEST_CASE("who has come to a barrier") {
    CHECK(at_barrier(2, 64, 128).text == "at barrier 2: 64 of 128 threads have arrived");
    CHECK(at_cluster_barrier(1, 2).text == "at the barrier of the cluster: 1 of 2 warps has arrived");
}
