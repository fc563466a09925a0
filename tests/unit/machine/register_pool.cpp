// The registers that warps of a CTA release and request.
#include "machine/register_pool.hpp"

#include "tests/catch.hpp"

using wgrun::machine::RegisterPool;
using Resize = RegisterPool::Resize;

TEST_CASE("what one warp gives back another takes") {
    RegisterPool pool;
    pool.reset(2, 168);
    CHECK(pool.resize(1, 240, true) == Resize::blocked);
    CHECK(pool.wanted(1) == 240);
    CHECK(pool.held(1) == 168);
    CHECK(pool.resize(0, 120, false) == Resize::given_back);
    CHECK(pool.free() == 48 * 32);
    CHECK(pool.resize(1, 240, true) == Resize::blocked);  // 72 are more than 48
    CHECK(pool.resize(0, 96, false) == Resize::given_back);
    CHECK(pool.resize(1, 240, true) == Resize::taken);
    CHECK(pool.wanted(1) == 0);
    CHECK(pool.held(1) == 240);
    CHECK(pool.free() == 0);
}

TEST_CASE("as many as a warp has is neither too many nor too few") {
    RegisterPool pool;
    pool.reset(1, 168);
    CHECK(pool.resize(0, 168, true) == Resize::taken);
    CHECK(pool.resize(0, 168, false) == Resize::taken);
    CHECK(pool.resize(0, 160, true) == Resize::wrong_way);
    CHECK(pool.resize(0, 176, false) == Resize::wrong_way);
    CHECK(pool.held(0) == 168);
    CHECK(pool.free() == 0);
}
