// mbarriers of an abstract execution: WG-MBAR-01, -02, -03, and the bytes and arrivals of asynchronous
// instructions.
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

namespace {

struct Mbarriers : Roles {
    explicit Mbarriers(int threads = 64, Dim3 cluster = {}) : Roles(threads, cluster) {
        bar = memory("bar", 64);
    }
    Operand object(int i = 0) { return in(bar, 8 * i); }
    /// Returns the address of the mbarrier in the CTA of that rank.
    Operand in_cta(const Operand& rank) {
        const Reg here = address_of(bar);
        return at(peer(here, rank));
    }
    int bar = 0;
};

const TensorBox box{Dtype::f32, {32, 4}, SwizzleMode::none};
constexpr int box_bytes = 512;

}  // namespace

// --- life ----------------------------------------------------------------------------------------------

TEST_CASE("an mbarrier must be there") {
    const std::string how = GENERATE("arrive", "expect", "wait", "inval");
    Mbarriers k(32);
    int line = 0;
    if (how == "arrive") line = k.once([&] { return k.arrive(k.object()); });
    if (how == "expect") line = k.once([&] { return k.expect(k.object(), 16); });
    if (how == "wait") line = k.wait_for(k.object(), 0);
    if (how == "inval") line = k.once([&] { return k.inval(k.object()); });
    INFO(how);
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-MBAR-01", line}});
    CHECK(out.message() == "no mbarrier is initialised at `bar`");
}

TEST_CASE("it lies on a multiple of 8 bytes") {
    const bool init = GENERATE(false, true);
    Mbarriers k(32);
    if (!init) k.make(k.object(), 1);
    const Operand off = Roles::in(k.bar, 4);
    const int line = k.once([&] { return init ? k.init(off, 1) : k.arrive(off); });
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-MBAR-01", line}});
    CHECK(out.message() == "the mbarrier at `bar` + 4 is not aligned to 8 bytes");
    REQUIRE(out.full.size() == 1);
    CHECK(out.full[0].fix == "align = 8 for the buffer, and offsets that are multiples of 8");
}

TEST_CASE("it is initialised once, and once more after inval") {
    const bool ended = GENERATE(false, true);
    Mbarriers k(32);
    const int made = k.make(k.object(), 1);
    if (ended) k.once([&] { return k.inval(k.object()); });
    const int again = k.once([&] { return k.init(k.object(), 1); });
    const Execution out = k.execute();
    CHECK(out.findings == (ended ? Findings{} : Findings{{"WG-MBAR-01", again}}));
    if (ended) return;
    CHECK(out.message() == "`bar` is initialised again without mbarrier.inval");
    CHECK(out.full[0].notes.at(0).where.line == made);
}

TEST_CASE("nothing that it counts is in flight when it ends") {
    const bool waited = GENERATE(false, true);
    Mbarriers k(32);
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.make(k.object(), 1);
    k.once([&] { return k.expect(k.object(), box_bytes); });
    k.once([&] { return k.load(Roles::in(tile), map, k.object()); });
    const int copied = k.line();
    if (waited) k.wait_for(k.object(), 0);
    const int inval = k.once([&] { return k.inval(k.object()); });
    const Execution out = k.execute();
    if (waited) {
        CHECK(out.findings == Findings{});
        return;
    }
    REQUIRE(!out.findings.empty());
    CHECK(out.findings.front() == Found{"WG-MBAR-01", inval});
    CHECK(out.message() == "`bar` is ended while 512 bytes that it counts are in flight");
    CHECK(out.full[0].notes.at(0).where.line == copied);
}

TEST_CASE("it expects 1 to 2^20 - 1 arrivals") {
    Mbarriers k(32);
    const Reg none = k.constant(0);
    k.guard(k.first);
    const int line = k.step("mbarrier.init", {}, {k.object(), Operand::of(none)});
    k.guard({});
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-MBAR-03", line}});
    CHECK(out.message() == "the mbarrier `bar` cannot expect 0 arrivals: 1 to 1048575");
}

// --- when it is known ----------------------------------------------------------------------------------

TEST_CASE("others know of an init by a barrier, the copy engine by a fence before it") {
    const bool fence = GENERATE(false, true), barrier = GENERATE(false, true), engine = GENERATE(false, true);
    Mbarriers k;
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.once([&] { return k.init(k.object(), 1); });
    const int init = k.line();
    if (fence) k.once([&] { return k.announce(); });
    if (barrier) k.bar_sync();
    const Reg other = k.compare("eq", k.thread, Kernel::imm(32));
    int use = 0;
    k.branch(other, [&] {
        use = k.expect(k.object(), box_bytes);
        if (engine) k.load(Roles::in(tile), map, k.object());
        if (engine) k.wait_for(k.object(), 0);
    });
    const Execution out = k.execute();
    INFO(fence << barrier << engine);
    if (!barrier) {
        REQUIRE(!out.findings.empty());
        CHECK(out.findings.front() == Found{"WG-MBAR-02", use});
        CHECK(out.message() == "nothing tells warp 1 that the mbarrier `bar` is initialised");
        CHECK(out.full[0].notes.at(0).where.line == init);
    } else if (engine && !fence) {
        REQUIRE(!out.findings.empty());
        CHECK(out.message() == "nothing tells the bulk-copy engine that the mbarrier `bar` is initialised");
    } else {
        CHECK(out.findings == Findings{});
    }
}

TEST_CASE("a proxy fence announces it as well, but for global memory") {
    const std::string space = GENERATE("shared::cta", "shared::cluster", "global");
    Mbarriers k(32);
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.once([&] { return k.init(k.object(), 1); });
    k.once([&] { return k.proxy(space); });
    k.bar_sync();
    k.once([&] { return k.expect(k.object(), box_bytes); });
    const int load = k.once([&] { return k.load(Roles::in(tile), map, k.object()); });
    k.wait_for(k.object(), 0);
    INFO(space);
    CHECK(k.execute().findings == (space == "global" ? Findings{{"WG-MBAR-02", load}} : Findings{}));
}

// --- phases --------------------------------------------------------------------------------------------

TEST_CASE("no more arrive than are expected") {
    const int count = GENERATE(63, 64, 65);
    Mbarriers k;
    k.make(k.object(), 64);
    k.arrive(k.object());
    const int line = count > 64 ? k.once([&] { return k.arrive(k.object(), count - 64); }) : k.line();
    const Execution out = k.execute();
    // One more arrival belongs to the next phase, and the warp has not waited for this one.
    CHECK(out.findings == (count == 65 ? Findings{{"WG-MBAR-03", line}} : Findings{}));
}

TEST_CASE("more at once than are expected") {
    Mbarriers k(32);
    k.make(k.object(), 4);
    const int line = k.once([&] { return k.arrive(k.object(), 5); });
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-MBAR-03", line}});
    CHECK(out.message() ==
          "warp 0 arrives 5 times at `bar`, where 4 of 4 arrivals are still expected in phase 0");
}

TEST_CASE("a phase is waited for before the next one") {
    const bool waits = GENERATE(false, true);
    Mbarriers k(32);
    k.make(k.object(), 1);
    for (int phase = 0; phase < 3; ++phase) {
        k.once([&] { return k.arrive(k.object()); });
        if (waits) k.wait_for(k.object(), phase % 2);
    }
    const Execution out = k.execute();
    if (waits) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        REQUIRE(!out.findings.empty());
        CHECK(out.findings[0].rule == "WG-MBAR-03");
        CHECK(out.message() == "warp 0 arrives at phase 1 of `bar`, and has not waited for phase 0");
    }
}

TEST_CASE("bytes are expected before the last arrival") {
    const int expected = GENERATE(box_bytes - 16, box_bytes, box_bytes + 16);
    Mbarriers k(32);
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.make(k.object(), 1);
    k.once([&] { return k.load(Roles::in(tile), map, k.object()); });
    const int expect = k.once([&] { return k.expect(k.object(), expected); });
    const int wait = k.wait_for(k.object(), 0);
    const Execution out = k.execute();
    INFO(expect << ' ' << wait);
    if (expected == box_bytes) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
        CHECK_THAT(out.message(), ContainsSubstring(expected < box_bytes ? "16 bytes more than expected"
                                                                         : "16 bytes are outstanding"));
        CHECK_THAT(out.full[0].fix,
                   ContainsSubstring(" bytes are expected in line ") && ContainsSubstring(", and 512 come"));
        REQUIRE(out.full[0].remedies.size() == 1);
        CHECK(out.full[0].remedies[0][0].to == "512");
    }
}

TEST_CASE("a phase that completes while its bytes are in flight") {
    Mbarriers k(32);
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.make(k.object(), 1);
    k.once([&] { return k.load(Roles::in(tile), map, k.object()); });
    const int arrive = k.once([&] { return k.arrive(k.object()); });  // expects none
    const Execution out = k.execute();
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-MBAR-03", arrive});
    CHECK(
        out.message() ==
        "phase 0 of `bar` completes while 512 bytes of its copies are in flight: it expects 0 bytes, and its "
        "copies bring 512");
}

// --- bytes and arrivals --------------------------------------------------------------------------------

TEST_CASE("a multicast brings its bytes to each CTA of the mask") {
    const int mask = GENERATE(1, 2, 3);
    Mbarriers k(32, {2, 1, 1});
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box), rank = k.special("cluster_ctarank");
    k.make(k.object(), 1);
    k.cluster_sync();
    k.once([&] { return k.expect(k.object(), box_bytes); });
    k.branch(k.compare("eq", rank, Kernel::imm(0)),
             [&] { k.once([&] { return k.multicast(Roles::in(tile), map, k.object(), mask); }); });
    const int wait = k.wait_for(k.object(), 0);
    k.cluster_sync();
    const Execution out = k.execute({2, 1, 1});
    INFO(mask);
    if (mask == 3) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
        CHECK_THAT(out.message(), ContainsSubstring(mask == 1 ? "of CTA 1" : "of CTA 0"));
    }
}

TEST_CASE("a mask names CTAs of the cluster") {
    Mbarriers k(32, {2, 1, 1});
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box);
    k.make(k.object(), 1);
    k.cluster_sync();
    const int line = k.once([&] { return k.multicast(Roles::in(tile), map, k.object(), 4); });
    const Execution out = k.execute({2, 1, 1});
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-SYNC-05", line});
    CHECK(out.message() == "the multicast mask 0x4 names CTA 2 of a cluster of 2");
}

TEST_CASE("bytes and mbarrier lie in the same CTA") {
    Mbarriers k(32, {2, 1, 1});
    const int tile = k.memory("tile", box_bytes);
    const Reg map = k.map(box), rank = k.special("cluster_ctarank");
    const Reg other = k.value("xor", Kernel::type(Type::b32), {Operand::of(rank), Kernel::imm(1)});
    k.make(k.object(), 1);
    k.cluster_sync();
    const Operand there = k.in_cta(Operand::of(other));
    const int line = k.once([&] { return k.load(Roles::in(tile), map, there); });
    const Execution out = k.execute({2, 1, 1});
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-TMA-01", line});
    CHECK(out.message() == "the mbarrier lies in another CTA than the bytes it counts");
}

TEST_CASE("st.async and red.async bring the bytes of each lane") {
    const bool reduces = GENERATE(false, true);
    const int lanes = GENERATE(31, 32);
    Mbarriers k(32, {2, 1, 1});
    const int got = k.memory("got", 128);
    const Reg rank = k.special("cluster_ctarank");
    const Reg other = k.value("xor", Kernel::type(Type::b32), {Operand::of(rank), Kernel::imm(1)});
    const Reg here = k.of_thread(k.address_of(got));
    const Reg there = k.peer(here, Operand::of(other));
    const Operand bar = k.in_cta(Operand::of(other));
    k.make(k.object(), 1);
    k.once([&] { return k.expect(k.object(), 128); });
    k.cluster_sync();
    k.guard(k.compare("lt", k.thread, Kernel::imm(lanes)));
    if (reduces)
        k.step("red.async", Kernel::type(Type::u32).set(Field::op, *isa::parse_value(Field::op, "add")),
               {Roles::at(there), Operand::of(k.thread), bar});
    else
        k.step("st.async", Kernel::type(Type::b32), {Roles::at(there), Operand::of(k.thread), bar});
    k.guard({});
    const int wait = k.wait_for(k.object(), 0);
    k.cluster_sync();
    const Execution out = k.execute({2, 1, 1}, {false, true});
    if (lanes == 32) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
        CHECK_THAT(out.message(), ContainsSubstring("1 of 1 arrivals has come, 4 bytes are outstanding"));
    }
}

TEST_CASE("a vector of st.async brings 16 bytes a lane") {
    Mbarriers k(32, {2, 1, 1});
    const int got = k.memory("got", 512);
    const Reg rank = k.special("cluster_ctarank");
    const Reg other = k.value("xor", Kernel::type(Type::b32), {Operand::of(rank), Kernel::imm(1)});
    const Reg base = k.address_of(got), lane = k.shift_left(k.thread, 4);
    const Reg there = k.peer(k.add(base, Operand::of(lane)), Operand::of(other));
    const Operand bar = k.in_cta(Operand::of(other));
    k.make(k.object(), 1);
    k.once([&] { return k.expect(k.object(), 512); });
    k.cluster_sync();
    std::vector<Reg> words;
    for (int i = 0; i < 4; ++i) words.push_back(k.value("mov", Kernel::type(Type::b32), {Kernel::imm(i)}));
    k.step("st.async", Kernel::type(Type::b32).set(Field::vec, 4),
           {Roles::at(there), Operand::of(words), bar});
    k.wait_for(k.object(), 0);
    k.cluster_sync();
    const Execution out = k.execute({2, 1, 1}, {false, true});
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE(
    "cp.async.mbarrier.arrive arrives for its lane; without noinc the phase expects that arrival besides") {
    const bool noinc = GENERATE(false, true);
    const int others = GENERATE(0, 1);
    Mbarriers k(32);
    k.make(k.object(), (noinc ? 32 : 0) + 1);
    k.step("cp.async.mbarrier.arrive", Form().set(Field::noinc, noinc), {k.object()});
    if (others == 1) k.once([&] { return k.arrive(k.object()); });
    const int wait = k.wait_for(k.object(), 0);
    const Execution out = k.execute();
    if (others == 1) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
        CHECK_THAT(out.message(),
                   ContainsSubstring(noinc ? "32 of 33 arrivals have come" : "0 of 1 arrivals"));
    }
}

TEST_CASE("cp.async.mbarrier.arrive.noinc of too many lanes") {
    Mbarriers k(32);
    k.make(k.object(), 31);
    const int line = k.step("cp.async.mbarrier.arrive", Form().set(Field::noinc, 1), {k.object()});
    const Execution out = k.execute();
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-MBAR-03", line});
}

TEST_CASE("a wait for an mbarrier of another CTA") {
    Mbarriers k(32, {2, 1, 1});
    k.make(k.object(), 1);
    const Operand there = k.in_cta(Kernel::imm(1));
    k.cluster_sync();
    const int line = k.wait_for(there, 0);
    const Execution out = k.execute({2, 1, 1});
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-SYNC-05", line});
    CHECK_THAT(out.message(), ContainsSubstring("waits for an mbarrier of another CTA"));
}
