// Which waits are remembered, and which one is to blame.
#include "machine/waits.hpp"

#include "tests/catch.hpp"

using namespace wgrun::machine;
using Wait = Mbarrier::Wait;

namespace {

/// Two warps of a CTA, and an mbarrier of one arrival that both know of.
struct Room {
    Room() {
        waits.reset(2);
        mbarrier.init(1, 2);
    }
    Wait wait(int warp, std::int64_t parity, std::uint32_t pc, std::uint32_t known) {
        return waits.wait(warp, warp, mbarrier, parity, known, pc);
    }
    void complete() {
        CHECK(mbarrier.arrive(1));
        CHECK(mbarrier.turn());
    }
    Waits waits;
    Mbarrier mbarrier{8, 5};
};

}  // namespace

TEST_CASE("a wait that a fresh mbarrier lets through is the one for phase 0") {
    Room room;
    CHECK(room.wait(0, 1, 42, room.mbarrier.clock()) == Wait::known);
    const LetThrough* wait = room.waits.for_phase(0, 5, room.mbarrier.next());
    REQUIRE(wait != nullptr);
    CHECK(wait->pc == 42);
    CHECK(wait->offset == 8);
    CHECK(wait->phase == 0);
    CHECK(wait->parity == 1);
    CHECK_FALSE(wait->repeated);
    CHECK(room.waits.for_phase(5, room.mbarrier.next()) == wait);
    CHECK(room.waits.for_phase(1, 5, room.mbarrier.next()) == nullptr);
    CHECK(room.waits.for_phase(0, 5, room.mbarrier.next() + 1) == nullptr);
    CHECK(room.waits.for_phase(0, 4, room.mbarrier.next()) == nullptr);
    // Once copies have begun, it is to blame for whatever comes too early.
    CHECK(room.waits.to_blame(1, room.mbarrier) == nullptr);
    room.mbarrier.begin_copy(16);
    CHECK(room.waits.to_blame(1, room.mbarrier) == wait);
}

TEST_CASE("a wait that is repeated is to blame, until the warp learns of a phase") {
    Room room;
    room.complete();
    CHECK(room.wait(0, 0, 1, 1) == Wait::news);
    const std::uint32_t known = room.mbarrier.clock();
    room.waits.arrives(0);
    CHECK(room.waits.repeated(0) == nullptr);
    CHECK(room.wait(0, 0, 2, known) == Wait::again);
    REQUIRE(room.waits.repeated(0) != nullptr);
    CHECK(room.waits.repeated(0)->pc == 2);
    CHECK(room.waits.repeated(0)->phase == 1);
    CHECK(room.waits.repeated(1) == nullptr);
    CHECK(room.waits.to_blame(0, room.mbarrier) == room.waits.repeated(0));
    room.complete();
    CHECK(room.wait(0, 1, 3, known) == Wait::news);
    CHECK(room.waits.repeated(0) == nullptr);
}

TEST_CASE("after news a repeated wait is harmless, until the warp has arrived or met others") {
    Room room;
    room.complete();
    CHECK(room.wait(0, 0, 1, 1) == Wait::news);
    const std::uint32_t known = room.mbarrier.clock();
    CHECK(room.wait(0, 0, 2, known) == Wait::again);
    CHECK(room.waits.for_phase(0, 5, room.mbarrier.next()) == nullptr);
    room.waits.meets(0);
    CHECK(room.wait(0, 0, 3, known) == Wait::again);
    REQUIRE(room.waits.for_phase(0, 5, room.mbarrier.next()) != nullptr);
    CHECK_FALSE(room.waits.for_phase(0, 5, room.mbarrier.next())->repeated);  // it has not arrived since
}

TEST_CASE("who arrives after a repeated wait is suspected in that phase and the next") {
    Room room;
    room.complete();
    CHECK(room.wait(0, 0, 1, 1) == Wait::news);
    room.waits.arrives(0);
    CHECK(room.wait(0, 0, 2, room.mbarrier.clock()) == Wait::again);
    room.waits.arrives_at(0, room.mbarrier);
    const auto blamed = [&] {
        const LetThrough* wait = room.waits.to_blame(1, room.mbarrier);
        return wait == nullptr ? 0U : wait->pc;
    };
    CHECK(blamed() == 2);
    room.complete();
    CHECK(blamed() == 2);
    room.complete();
    CHECK(blamed() == 0);
    room.waits.arrives_at(0, room.mbarrier);
    CHECK(blamed() == 2);
    room.waits.forget(room.mbarrier);
    CHECK(blamed() == 0);
}
