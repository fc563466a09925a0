// Addresses in the windows of a cluster's CTAs.
#include "isa/peer_window.hpp"

#include "tests/catch.hpp"

using namespace wgrun::isa;

TEST_CASE("an address in another CTA's window, and back") {
    CHECK(peer_address(0x400, 0) == 0x1000400);
    CHECK(peer_address(0x400, 15) == 0x10000400);
    // An address that mapa has given may be mapped once more.
    CHECK(peer_address(peer_address(0x400, 3), 1) == peer_address(0x400, 1));
    CHECK(window_of(0x400) == 0);
    for (std::uint32_t rank : {0U, 7U, 15U}) CHECK(window_of(peer_address(0x412, rank)) == rank + 1);
}

TEST_CASE("no rank, however odd, is the CTA's own window") {
    for (std::uint32_t rank : {16U, 254U, 255U, 256U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
        CHECK(window_of(peer_address(0x400, rank)) > 16);
        CHECK((peer_address(0x400, rank) & peer_window) == 0x400);
    }
}
