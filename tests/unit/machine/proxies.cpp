// What the async proxy sees of accesses through the generic one.
#include "machine/proxies.hpp"

#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace wgrun::machine;
using wgrun::isa::Space;

TEST_CASE("a fence.proxy.async orders the memory that its space names") {
    const ProxyFence all(std::nullopt), global(Space::global), own(Space::shared_cta),
        cluster(Space::shared_cluster);
    CHECK((all.orders_global() && all.orders_shared() && all.orders_peers()));
    CHECK((global.orders_global() && !global.orders_shared() && !global.orders_peers()));
    CHECK((!own.orders_global() && own.orders_shared() && !own.orders_peers()));
    CHECK((!cluster.orders_global() && cluster.orders_shared() && cluster.orders_peers()));
    CHECK_FALSE(ProxyFence(Space::shared).orders_peers());
}

TEST_CASE("a fence is of use for what has happened; a hand-over passes on what is known") {
    CHECK(fenced(Visible::not_yet) == Visible::not_yet);
    CHECK(fenced(Visible::to_generic) == Visible::to_async);
    CHECK(fenced(Visible::to_async) == Visible::to_async);
    for (const Visible one : {Visible::not_yet, Visible::to_generic, Visible::to_async}) {
        CHECK(handed_over(one, Visible::not_yet) == one);
        CHECK(handed_over(Visible::to_async, one) == Visible::to_async);
        CHECK(handed_over(one, one) == one);
    }
}

TEST_CASE("a fence that is known of an access that is not is none") {
    const auto yes = [] { return true; };
    const auto no = [] { return false; };
    CHECK(visible(false, yes) == Visible::not_yet);
    CHECK(visible(false, no) == Visible::not_yet);
    CHECK(visible(true, no) == Visible::to_generic);
    CHECK(visible(true, yes) == Visible::to_async);
}

TEST_CASE("fence then barrier, or barrier then fence") {
    const bool fence_first = GENERATE(false, true);
    Unpublished<int> cell;
    cell.fresh = 1;
    fence_first ? cell.fence() : cell.barrier();
    CHECK(cell.fresh == 0);
    CHECK(cell.fenced == (fence_first ? 1 : 0));
    CHECK(cell.ordered == (fence_first ? 0 : 1));
    fence_first ? cell.barrier() : cell.fence();
    CHECK(cell == Unpublished<int>());
}

TEST_CASE("of random accesses, fences and barriers, the last of each kind is kept") {
    struct Access {
        int number;
        Visible own, others;
    };
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<Access> all;
        Unpublished<int> cell;
        for (int event = 1; event <= 12; ++event) {
            switch (random() % 3) {
                case 0:
                    all.push_back({event, Visible::to_generic, Visible::not_yet});
                    cell.fresh = event;
                    break;
                case 1:
                    for (Access& access : all)
                        access = {access.number, fenced(access.own), fenced(access.others)};
                    cell.fence();
                    break;
                default:
                    for (Access& access : all) access.others = handed_over(access.own, access.others);
                    cell.barrier();
            }
            int without_fence = 0, without_order = 0;  // the last
            for (const Access& access : all) {
                if (access.own == Visible::to_generic) without_fence = access.number;
                if (access.others == Visible::not_yet) without_order = access.number;
            }
            const auto last = [](auto two) { return std::max(*two[0], *two[1]); };
            REQUIRE(last(cell.without_fence()) == without_fence);
            REQUIRE(last(cell.without_order()) == without_order);
        }
    }
}
