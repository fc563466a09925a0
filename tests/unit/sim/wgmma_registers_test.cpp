// The registers of a wgmma: accumulators and fragments in flight, and wgmma.fence.
#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

TEST_CASE("accumulators belong to the wgmma until a wait covers its group") {
    MmaScript k;
    ready_tiles(k);
    k.step(20, "wgmma_fence");
    k.mma(21);
    SECTION("read before the wait") {
        k.step(22, "wgmma_commit_group");
        k(23, "add_f32", {k.accumulators[0], k.accumulators[1]});
        k.step(24, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, {{"WG-GROUP-01", 23}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK(finding.message == "an accumulator of a wgmma is read while the wgmma may still run");
        CHECK(finding.notes.at(0).where.line == 21);
    }
    SECTION("written before the wait") {
        k.step(22, "wgmma_commit_group");
        k.step(23, "mov_f32", {k.accumulators[3], 0});
        k.step(24, "wgmma_wait_group", {0});
        expect(k.finish(), {{"WG-GROUP-01", 23}});
    }
    SECTION("a wait that leaves its group pending") {
        k.step(22, "wgmma_commit_group");
        k.step(23, "wgmma_wait_group", {1});
        k(24, "add_f32", {k.accumulators[0], k.accumulators[1]});
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {{"WG-GROUP-01", 24}});
    }
    SECTION("a wait that leaves a later, empty group pending") {
        k.step(22, "wgmma_commit_group");
        k.step(22, "wgmma_commit_group");
        k.step(23, "wgmma_wait_group", {1});
        k(24, "add_f32", {k.accumulators[0], k.accumulators[1]});
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {});
    }
    SECTION("one wait for two groups") {
        const std::vector<Reg> others = k.builder.regs(isa::Type::f32, 4);
        k.step(22, "wgmma_commit_group");
        k.mma(22, others, k.descriptor(k.a));
        k.step(22, "wgmma_commit_group");
        k.step(23, "wgmma_wait_group", {0});
        k(24, "add_f32", {k.accumulators[0], others[0]});
        expect(k.finish(), {});
    }
    SECTION("never committed") {
        k.step(23, "wgmma_wait_group", {0});
        k(24, "add_f32", {k.accumulators[0], k.accumulators[1]});
        const Program program = k.finish();
        expect(program, {{"WG-GROUP-02", 21}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK(finding.message == "the wgmma is never committed to a wgmma-group, so no wait_group covers it");
        CHECK((finding.notes.at(0).where.line == 23 && finding.notes.at(1).where.line == 24));
    }
    SECTION("never committed, and read without any wait") {
        k(24, "add_f32", {k.accumulators[0], k.accumulators[1]});
        expect(k.finish(), {{"WG-GROUP-01", 24}, {"WG-GROUP-02", 21}});
    }
    SECTION("committed and never waited for") {
        k.step(22, "wgmma_commit_group");
        const Program program = k.finish();
        expect(program, {{"WG-GROUP-05", 22}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK_THAT(finding.message, ContainsSubstring("ends, and no wgmma.wait_group has waited for"));
        CHECK(finding.fix == "the warpgroup has to wait for it (wgmma.wait_group 0) before the kernel ends");
        CHECK(finding.notes.at(0).where.line == 21);
    }
    SECTION("the youngest groups are left, an empty one does not count") {
        k.step(22, "wgmma_commit_group");
        k.mma(23, k.builder.regs(isa::Type::f32, 4), k.descriptor(k.a));
        k.step(24, "wgmma_commit_group");
        k.step(25, "wgmma_commit_group");
        k.step(26, "wgmma_wait_group", {2});
        expect(k.finish(), {{"WG-GROUP-05", 24}});
    }
    SECTION("a right wait") {
        k.step(22, "wgmma_commit_group");
        k.step(23, "wgmma_wait_group", {0});
        k(24, "add_f32", {k.accumulators[0], k.accumulators[1]});
        expect(k.finish(), {});
    }
}

TEST_CASE("a wgmma adds to accumulators that were written: WG-REG-01 unless scale-d is 0") {
    for (const int scale_d : {0, 1}) {
        MmaScript k;
        ready_tiles(k);
        k.step(20, "wgmma_fence");
        k.mma(21, scale_d);
        k.mma(22, 1);
        k.step(23, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), scale_d ? Found{{"WG-REG-01", 21}} : Found{});
    }
}

TEST_CASE("a register fragment of A belongs to the wgmma too") {
    for (const bool early : {false, true}) {
        MmaScript k;
        ready_tiles(k);
        std::vector<Reg> fragment;
        for (int i = 0; i < 4; ++i) fragment.push_back(k.constant(0x3F803F80));
        k.step(20, "wgmma_fence");
        k.mma(21, k.accumulators, fragment);
        k.step(22, "wgmma_commit_group");
        if (!early) k.step(23, "wgmma_wait_group", {0});
        k.step(24, "mov_b32", {fragment[2], 0});
        k.step(90, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, early ? Found{{"WG-GROUP-01", 24}} : Found{});
        if (early)
            CHECK(run_with(program, 0).findings.at(0).message ==
                  "a register of the A fragment of a wgmma is written while the wgmma may still run");
    }
}

TEST_CASE("wgmma.fence orders register accesses before a wgmma") {
    MmaScript k;
    ready_tiles(k);
    SECTION("none before the first wgmma") {
        k.mma(21);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, {{"WG-FENCE-01", 21}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK(finding.message == "no wgmma.fence comes before the first wgmma");
        CHECK(finding.fix == "k:wgmma_fence() before line 21");
    }
    SECTION("accumulators written after the fence") {
        k.step(20, "wgmma_fence");
        for (Reg reg : k.accumulators) k.step(20, "mov_f32", {reg, 0});
        k.mma(21, 1);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, {{"WG-FENCE-01", 21}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK(finding.message ==
              "an accumulator is accessed by a thread, and no wgmma.fence comes between that and this wgmma");
        CHECK(finding.notes.at(0).where.line == 20);
    }
    SECTION("accumulators read after the fence") {
        k.whole_mma(20);
        k.step(30, "wgmma_fence");
        k(31, "add_f32", {k.accumulators[0], k.accumulators[1]});
        k.mma(32, 1);
        k.step(33, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {{"WG-FENCE-01", 32}});
    }
    SECTION("accumulators written before it") {
        for (Reg reg : k.accumulators) k.step(19, "mov_f32", {reg, 0});
        k.step(20, "wgmma_fence");
        k.mma(21, 1);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {});
    }
    SECTION("a fragment of A written after it") {
        k.step(20, "wgmma_fence");
        std::vector<Reg> fragment;
        for (int i = 0; i < 4; ++i) fragment.push_back(k(20, "mov_b32", {0x3F803F80}));
        k.mma(21, k.accumulators, fragment);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {{"WG-FENCE-01", 21}});
    }
    SECTION("the same accumulators, the same shape: no second fence") {
        k.step(20, "wgmma_fence");
        k.mma(21);
        k.mma(22, 1);
        k.step(23, "wgmma_commit_group");
        k.step(24, "wgmma_wait_group", {0});
        k.mma(25, 1);
        k.step(26, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {});
    }
    SECTION("a fragment of A that two wgmma read: no second fence") {
        const std::vector<Reg> fragment = MmaScript::four(k.ones), other = k.builder.regs(isa::Type::f32, 4);
        k.step(20, "wgmma_fence");
        k.mma(21, k.accumulators, fragment);
        k.mma(22, other, fragment);
        k.step(23, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {});
    }
}

TEST_CASE("another shape on the same accumulators wants a fence") {
    for (const bool fenced : {false, true}) {
        MmaScript k;
        const int wide = k.buffer("B16", 512);
        ready_tiles(k);
        k.step(13, "st_shared_v4_b32", {at(k.address(wide, k.thread, 16)), MmaScript::four(k.ones)},
               {k(1, "setp_lt_u32", {k.thread, 32})});
        k.step(14, "fence_proxy_async");
        k.step(15, "bar_sync", {0});
        std::vector<Reg> eight = k.accumulators;
        for (int i = 0; i < 4; ++i) eight.push_back(k.builder.reg(isa::Type::f32));
        k.step(20, "wgmma_fence");
        k.mma(21);
        if (fenced) k.step(22, "wgmma_fence");
        const Tile tile({Dtype::bf16, 16, 16, Major::k, SwizzleMode::none, AtomOrder::mn});
        isa::Form form;
        using isa::Field, isa::Type;
        form.set(Field::n, 16).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
        const std::uint32_t start = 1024 + static_cast<std::uint32_t>(k.builder.shared_buffer(wide).offset);
        k.add(23, *isa::find("wgmma.mma_async"), form,
              {eight, k.descriptor(k.a), static_cast<std::int64_t>(tile.descriptor(start).encode()), 0});
        k.step(24, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), fenced ? Found{} : Found{{"WG-FENCE-01", 23}});
    }
}

TEST_CASE("an accumulator in flight is no A fragment, fence or not") {
    MmaScript k;
    ready_tiles(k);
    using isa::Field, isa::Type;
    isa::Form form;
    form.set(Field::n, 8).set(Field::d, Type::s32).set(Field::a, Type::s8).set(Field::b, Type::s8);
    const std::vector<Reg> first = k.builder.regs(Type::b32, 4), second = k.builder.regs(Type::b32, 4);
    k.step(20, "wgmma_fence");
    k.add(21, *isa::find("wgmma.mma_async"), form, {first, k.descriptor(k.a), k.descriptor(k.b), 0});
    k.step(22, "wgmma_commit_group");
    k.step(23, "wgmma_fence");
    k.add(24, *isa::find("wgmma.mma_async"), form, {second, first, k.descriptor(k.b), 0});
    k.step(25, "wgmma_commit_group");
    k.step(90, "wgmma_wait_group", {0});
    expect(k.finish(), {{"WG-GROUP-01", 24}});
}
