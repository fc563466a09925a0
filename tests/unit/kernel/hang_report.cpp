// The report made from the slots that a guarded run leaves behind.
#include "kernel/hang_report.hpp"

#include <cstring>

#include "isa/guard.hpp"
#include "tests/catch.hpp"
#include "tests/script.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

namespace {

/// A kernel with all kinds of waits; its sites, in order: 1 the mbarrier's poll, 2 its loop, 3 bar.sync 1
/// with 64 threads, 4 bar.sync 0, 5 barrier.cluster.wait, 6 the poll of memory, 7 its loop.
struct Waits {
    Program program;
    GuardedProgram guarded;

    explicit Waits(Dim3 cluster = {}) : program(make(cluster)), guarded(wgrun::guarded(program)) {}

    static Program make(Dim3 cluster) {
        test::Script s(256, cluster, "waits");
        const auto add = [&](std::string_view op, const Form& form, std::vector<Operand> operands) {
            return s.add(op, form, std::move(operands));
        };
        const Form u32 = Form().set(Field::type, Type::u32);
        const int flags = s.builder.param("flags", Type::u64, Dtype::u32);
        s.builder.shared("tile", 1024, 128, {});
        const int full = s.builder.shared("full", 32, 8, {});
        const Reg bar = add("mov", u32, {{}, Operand::shared(full, 0)});  // line 2
        s.wait_for(Operand::address(bar, 16), Operand::number(0));        // line 3
        Operand threads = Operand::number(64);
        add("bar.sync", {}, {Operand::number(1), threads});  // line 5
        add("bar.sync", {}, {Operand::number(0)});           // line 6
        add("barrier.cluster.wait", {}, {});                 // line 7
        const Reg at = add("ld.param", Form().set(Field::type, Type::u64), {{}, Operand::param(flags)});
        s.builder.begin_loop();
        const Reg found = add("ld",
                              Form(u32)
                                  .set(Field::space, static_cast<int>(isa::Space::global))
                                  .set(Field::sem, *isa::parse_value(Field::sem, "acquire.gpu")),
                              {{}, Operand::address(at, 0)});  // line 9
        s.builder.loop_condition(add("setp", Form(u32).set(Field::cmp, *isa::parse_value(Field::cmp, "eq")),
                                     {{}, Operand::of(found), Operand::number(0)}));
        s.builder.end_loop();
        return s.finish();
    }

    /// The number of the site on that line.
    std::uint32_t site(int line, GuardSite::Kind kind) const {
        for (std::size_t i = 0; i < guarded.sites.size(); ++i)
            if (guarded.sites[i].where.line == line && guarded.sites[i].kind == kind)
                return static_cast<std::uint32_t>(i + 1);
        FAIL("no site on line " << line);
        return 0;
    }
};

class Slots {
  public:
    Slots() : bytes_(isa::guard::block_bytes) {}
    void note(int slot, std::uint32_t site, std::uint32_t cta_x, std::uint32_t warp) {
        write(slot, 0, {site, cta_x, 0, warp});
    }
    void report(int slot, std::uint32_t site, std::uint32_t cta_x, std::uint32_t warp, std::uint32_t wanted,
                std::uint64_t place, std::uint64_t word) {
        write(slot, 1, {site, 1, 0xFFFFFFFF, wanted});
        write(slot, 2,
              {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32),
               static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)});
        write(slot, 3, {0, cta_x, 0, warp});
    }
    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    void write(int slot, int row, std::array<std::uint32_t, 4> words) {
        std::memcpy(bytes_.data() + slot * isa::guard::slot_bytes + row * 16, words.data(), 16);
    }
    std::vector<std::byte> bytes_;
};

using Kind = GuardSite::Kind;

}  // namespace

// The words are those that an H100 showed: docs/silicon.md.
TEST_CASE("mbarrier state: the 64 bits of an H100") {
    const auto is = [](std::uint64_t word, int parity, std::int64_t pending, std::int64_t expected,
                       std::int64_t bytes) {
        const MbarrierState s = mbarrier_state(word);
        CAPTURE(word);
        CHECK(s.parity == parity);
        CHECK(s.pending == pending);
        CHECK(s.expected == expected);
        CHECK(s.outstanding == bytes);
    };
    is(0x7ffff800001ffffe, 0, 1, 1, 0);                    // init 1
    is(0xfffff800001ffffe, 1, 1, 1, 0);                    // arrived: the next phase
    is(0x7fffd800001ffff6, 0, 5, 5, 0);                    // init 5
    is(0x7fffe000001ffff6, 0, 4, 5, 0);                    // one has arrived
    is(0x7ffff000001ffff6, 0, 2, 5, 0);                    // two more
    is(0x7ffff3f8001ffff6, 0, 2, 5, 16384);                // expect_tx 16384
    is(0x7ffff3f8021ffff6, 0, 2, 5, 16368);                // 16 bytes have come
    is(0x000003f8021ffff6, 0, 0, 5, 16368);                // all have arrived
    is(0xffffd800001ffff6, 1, 5, 5, 0);                    // the bytes too
    is(0xffffe000081ffff6, 1, 4, 5, -64);                  // more than were announced
    is(0x0000080000000002, 0, 1048575, 1048575, 0);        // the most arrivals
    is(0x0000120000200002, 0, 1048574, 1048575, 1048575);  // the most bytes
}

TEST_CASE("hang report: warps that wait for one mbarrier are one place, others are notes") {
    const Waits k;
    Slots block;
    const std::uint32_t poll = k.site(3, Kind::poll);
    for (std::uint32_t warp = 4; warp < 8; ++warp)
        block.report(64 + static_cast<int>(warp), poll, 0, warp, 0, 1024 + 16, 0x000003f8021ffff6);
    block.note(64, k.site(6, Kind::wait), 0, 0);
    block.note(65, k.site(6, Kind::wait), 0, 1);
    const HangReport report(k.program, k.guarded, {1, 1, 1}, block.bytes(), {});
    CHECK(report.overdue());
    const auto finding = report.hang();
    REQUIRE(finding);
    CHECK(finding->rule == "WG-MBAR-05");
    CHECK(finding->where.line == 3);
    CHECK(finding->message ==
          "the kernel hangs: warps 4-7 wait for the phase of parity 0 of the mbarrier `full` + 16: 5 of 5 "
          "arrivals have come, 16368 bytes are outstanding");
    REQUIRE(finding->notes.size() == 1);
    CHECK(finding->notes[0].where.line == 6);
    CHECK(finding->notes[0].message == "warps 0, 1 wait at barrier 0: 64 of 256 threads wait there");
}

TEST_CASE("hang report: many CTAs that say the same stay one line") {
    const Waits k;
    Slots block;
    for (std::uint32_t cta = 0; cta < 132; ++cta)
        block.report(static_cast<int>(cta * 64), k.site(3, Kind::poll), cta, 3, 1, 1024, 0xfffff800001ffffe);
    const HangReport report(k.program, k.guarded, {132, 1, 1}, block.bytes(), {});
    const auto finding = report.hang();
    REQUIRE(finding);
    CHECK(finding->message ==
          "the kernel hangs: warp 3 of 132 CTAs, the first {0, 0, 0} wait for the phase of parity 1 of the "
          "mbarrier `full`: 0 of 1 arrivals have come, 0 bytes are outstanding");
    CHECK(finding->notes.empty());
}

TEST_CASE("hang report: a phase that has begun comes before one that nobody has come to") {
    const Waits k;
    Slots block;
    const std::uint32_t poll = k.site(3, Kind::poll);
    block.report(0, poll, 0, 0, 1, 1024, 0xfffff800001ffffe);
    block.report(1, poll, 0, 1, 0, 1024 + 8, 0x7ffff3f8001ffff6);
    const HangReport report(k.program, k.guarded, {1, 1, 1}, block.bytes(), {});
    const auto finding = report.hang();
    REQUIRE(finding);
    CHECK_THAT(finding->message, ContainsSubstring("warp 1 waits"));
    CHECK_THAT(finding->message, ContainsSubstring("`full` + 8: 3 of 5"));
    REQUIRE(finding->notes.size() == 1);
}

TEST_CASE("hang report: named barriers, the cluster and memory") {
    const Waits k({2, 1, 1});
    Slots block;
    block.note(0, k.site(5, Kind::wait), 0, 0);
    SECTION("a named barrier counts its own threads") {
        const auto finding = HangReport(k.program, k.guarded, {2, 1, 1}, block.bytes(), {}).hang();
        REQUIRE(finding);
        CHECK(finding->rule == "WG-SYNC-02");
        CHECK(finding->message ==
              "the kernel hangs: warp 0 of CTA {0, 0, 0} waits at barrier 1: 32 of 64 threads wait there");
    }
    SECTION("the cluster is a likelier cause than a barrier of the CTA") {
        block.note(64, k.site(7, Kind::wait), 1, 2);
        const auto finding = HangReport(k.program, k.guarded, {2, 1, 1}, block.bytes(), {}).hang();
        REQUIRE(finding);
        CHECK(finding->rule == "WG-SYNC-04");
        CHECK(finding->message ==
              "the kernel hangs: warp 2 of CTA {1, 0, 0} waits at the barrier of the "
              "cluster: 1 of 16 warps waits there");
        CHECK(finding->notes.size() == 1);
    }
    SECTION("memory is named by its tensor") {
        Slots other;
        other.report(0, k.site(9, Kind::poll), 0, 0, 1, 0x7000'0010, 7);
        const std::vector<DeviceRange> tensors{{"flags", 0x7000'0000, 64}};
        const auto finding = HangReport(k.program, k.guarded, {2, 1, 1}, other.bytes(), tensors).hang();
        REQUIRE(finding);
        CHECK(finding->rule == "WG-SYNC-06");
        CHECK(finding->message ==
              "the kernel hangs: warp 0 of CTA {0, 0, 0} waits for `flags` + 16 bytes to "
              "change, which holds 7");
    }
    SECTION("lanes of a warp that wait at two places are two") {
        block.report(0, k.site(3, Kind::poll), 0, 0, 0, 1024, 0x7ffff800001ffffe);
        const auto finding = HangReport(k.program, k.guarded, {2, 1, 1}, block.bytes(), {}).hang();
        REQUIRE(finding);
        CHECK(finding->where.line == 3);
        REQUIRE(finding->notes.size() == 1);
        CHECK(finding->notes[0].where.line == 5);
    }
}

TEST_CASE("hang report: nothing in the slots is no hang, and rubbish is nothing") {
    const Waits k;
    Slots block;
    CHECK(!HangReport(k.program, k.guarded, {1, 1, 1}, block.bytes(), {}).hang());
    block.note(3, 4711, 0, 0);
    block.report(4, 0xFFFFFFFF, 0, 0, 0, 0, 0);
    const HangReport report(k.program, k.guarded, {1, 1, 1}, block.bytes(), {});
    CHECK(!report.hang());
    CHECK(!report.overdue());
    CHECK(report.accesses().empty());
}
