// States as numbers, and the knowledge that two of them share.
#include "check/abstract/encoder.hpp"

#include "tests/catch.hpp"

using namespace wgrun::check;
using namespace wgrun::check::abstract;

namespace {

constexpr int actors = 3;

/// A state with two clocks of actor 1, and with none of the others.
Encoder encoder(Knowledge& knowledge) {
    Encoder to(0);
    to.clock(1, 3);
    to.clock(1, 7);
    to.knowledge(knowledge, actors);
    return to;
}

Knowledge knows(std::uint32_t first, std::uint32_t second, std::uint32_t third) {
    Knowledge out;
    out.learn(0, first);
    out.learn(1, second);
    out.learn(2, third);
    return out;
}

}  // namespace

TEST_CASE("what is known of an actor without clocks makes no other state") {
    Knowledge one = knows(5, 7, 9), other = knows(6, 7, 2), less = knows(5, 6, 9);
    const Encoded code = encoder(one).finish(), same = encoder(other).finish(),
                  lower = encoder(less).finish();
    CHECK(code.known.size() == 2);  // of accesses to memory, too
    CHECK((code.knows_no_more_than(same) && same.knows_no_more_than(code)));
    CHECK((lower.knows_no_more_than(code) && !code.knows_no_more_than(lower)));
}

TEST_CASE("knowledge is lowered to what two states share, and only that of actors with clocks") {
    Knowledge more = knows(5, 7, 9), less = knows(1, 3, 2);
    const std::vector<std::uint32_t> both = encoder(more).finish().known_in_both(encoder(less).finish());
    encoder(more).lower(both, actors);
    CHECK((more.of(0) == 5 && more.of(2) == 9));
    CHECK((more.of(1) >= 3 && more.of(1) < 7));
    CHECK(encoder(more).finish().knows_no_more_than(encoder(less).finish()));
}
