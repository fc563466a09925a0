// The bound of what a process takes from the heap.
#include "memory/heap_limit.hpp"

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "memory/pages.hpp"
#include "tests/catch.hpp"

using namespace wgrun::memory;

namespace {

constexpr std::size_t mebibyte = 1U << 20;

/// The tests of this program share one bound.
struct Bound {
    explicit Bound(std::size_t bytes) { limit_heap(bytes); }
    ~Bound() { limit_heap(0); }
};

}  // namespace

TEST_CASE("What is taken is bounded, and what is given back can be taken again") {
    const Bound bound(10 * mebibyte);
    for (int round = 0; round < 3; ++round) {
        int taken = 0;
        while (taken < 100 && count_taken(mebibyte)) ++taken;
        CHECK(taken == 10);
        for (int i = 0; i < taken; ++i) count_given(mebibyte);
    }
    CHECK(heap_refused());
    limit_heap(0);
    CHECK_FALSE(heap_refused());
    CHECK(count_taken(1000 * mebibyte));
}

TEST_CASE("Small blocks of several threads are bounded together") {
    const Bound bound(64 * mebibyte);
    std::atomic<std::size_t> taken = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 20; ++i)
            threads.emplace_back([&taken] {
                constexpr std::size_t block = 96;
                while (count_taken(block)) taken += block;
            });
    }
    CHECK(taken >= 63 * mebibyte);
    CHECK(taken <= 65 * mebibyte);
}

TEST_CASE("Pages count all that they may need") {
    const Bound bound(10 * mebibyte);
    {
        Pages pages(4 * mebibyte);
        CHECK_THROWS_AS(Pages(8 * mebibyte), std::bad_alloc);
        pages.grow(9 * mebibyte);
        CHECK_THROWS_AS(pages.grow(20 * mebibyte), std::bad_alloc);
        CHECK(pages.bytes() == 9 * mebibyte);
    }
    CHECK_NOTHROW(Pages(8 * mebibyte));
}
