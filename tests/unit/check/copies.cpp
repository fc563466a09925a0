// cp.async: WG-GROUP-04, and how wgmma sees its writes.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

struct Copies : Kernel {
    Copies() {
        global = builder().param("X", Type::u64, Dtype::bf16);
        from = value("ld.param", type(Type::u64), {Operand::param(global)});
        a = buffer(tile());
        b = buffer(tile());
        acc = accumulators();
    }
    int copy(int buffer, std::int64_t offset = 0) {
        Form form;
        form.set(Field::cop, *isa::parse_value(Field::cop, "cg"));
        return step("cp.async", form,
                    {Operand::address(of_thread(address(buffer)), offset), Operand::address(from, 0)});
    }
    int commit_copies() { return step("cp.async.commit_group"); }
    int wait_copies(int pending) { return step("cp.async.wait_group", {}, {imm(pending)}); }
    int wait_all() { return step("cp.async.wait_all"); }
    void publish() {
        proxy();
        bar();
    }
    int multiply() {
        const Reg da = descriptor(a), db = descriptor(b);
        fence();
        const int line = mma(acc, da, db);
        commit();
        wait(0);
        return line;
    }

    int global = 0, a = 0, b = 0;
    Reg from;
    std::vector<Reg> acc;
};

}  // namespace

TEST_CASE("a tile is read before its copies have come") {
    const bool committed = GENERATE(false, true);
    Copies k;
    const int copy = k.copy(k.a);
    if (committed) k.commit_copies();
    k.publish();
    const int mma = k.multiply();
    CHECK(k.check() == Findings{{"WG-GROUP-04", mma}});
    const Diagnostic& found = k.diagnostics()[0];
    CHECK(found.message == "the wgmma reads `A` while a cp.async may still bring it");
    CHECK(found.notes[0].where.line == copy);
    CHECK(found.fix == (committed
                            ? "k:cp_async_wait_group(0), k:fence_proxy_async() and k:bar_sync(0) before line "
                            : "k:cp_async_wait_all(), k:fence_proxy_async() and k:bar_sync(0) before line ") +
                           std::to_string(mma));
}

TEST_CASE("a wait covers all groups but the youngest n") {
    const int pending = GENERATE(0, 1, 2);
    Copies k;
    k.copy(k.a);
    k.commit_copies();
    k.copy(k.b);
    k.commit_copies();
    k.wait_copies(pending);
    k.publish();
    const int mma = k.multiply();
    k.wait_all();
    if (pending == 0)
        CHECK(k.check() == Findings{});
    else
        CHECK(k.check() == Findings{{"WG-GROUP-04", mma}});
    if (pending == 1) CHECK_THAT(k.diagnostics()[0].message, ContainsSubstring("`B`"));
    if (pending == 2) CHECK_THAT(k.diagnostics()[0].message, ContainsSubstring("`A`"));
}

TEST_CASE("what has come is a write through the generic proxy") {
    const bool fenced = GENERATE(false, true), barrier = GENERATE(false, true),
               before = GENERATE(false, true);
    Copies k;
    k.copy(k.b);
    if (before) k.publish();  // too early
    k.wait_all();
    if (fenced) k.proxy();
    if (barrier) k.bar();
    const int mma = k.multiply();
    if (fenced && barrier)
        CHECK(k.check() == Findings{});
    else if (!fenced && !barrier)
        CHECK(k.check() == Findings{{"WG-PROXY-01", mma}, {"WG-RACE-01", mma}});
    else if (!fenced)
        CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
    else
        CHECK(k.check() == Findings{{"WG-RACE-01", mma}});
}

TEST_CASE("a ring of stages, each waited for one step late") {
    const int pending = GENERATE(1, 2);
    Copies k;
    k.copy(k.a);
    k.commit_copies();
    k.copy(k.b);
    k.commit_copies();
    int mma = 0;
    k.loop([&](Reg) {
        for (const int stage : {k.a, k.b}) {
            k.wait_copies(pending);
            k.publish();
            const Reg d = k.descriptor(stage);
            k.fence();
            const int line = k.mma(k.acc, d, d);
            if (stage == k.a) mma = line;
            k.commit();
            k.wait(0);
            k.bar();
            k.copy(stage);
            k.commit_copies();
        }
    });
    k.wait_all();
    if (pending == 1)
        CHECK(k.check() == Findings{});
    else
        CHECK(k.check().front() == Findings{{"WG-GROUP-04", mma}}.front());
}

TEST_CASE("parts of a tile may come one after the other") {
    Copies k;
    for (int part = 0; part < 4; ++part) {
        k.copy(k.a, 2048 * part);
        k.commit_copies();
    }
    k.wait_copies(3);
    k.publish();
    k.multiply();  // reads the first part, or all: that is not followed
    k.wait_all();
    CHECK(k.check() == Findings{});
}

TEST_CASE("an mbarrier may wait for copies, and a role may") {
    Copies k;
    const Reg producer = k.compare("lt", k.tid(), Kernel::imm(32));
    const int full = k.builder().shared("full", 8, 8, {});
    Form noinc;
    noinc.set(Field::noinc, 1);
    Operand barrier = Operand::address({}, 0);
    barrier.index = full;
    k.branch(producer, [&] {
        k.copy(k.a);
        k.step("cp.async.mbarrier.arrive", noinc, {barrier});
    });
    k.value("mbarrier.test_wait.parity", {}, {barrier, Kernel::imm(0)});
    const bool fenced = GENERATE(false, true);
    if (fenced) k.proxy();
    const int mma = k.multiply();
    Findings want;
    if (!fenced) want.push_back({"WG-PROXY-01", mma});
    Findings found = k.check();
    std::erase_if(found, [](const Found& f) { return f.rule.starts_with("WG-MBAR"); });
    CHECK(found == want);
}

TEST_CASE("a tile in use is not overwritten by copies") {
    Copies k;
    const Reg da = k.descriptor(k.a), db = k.descriptor(k.b);
    k.fence();
    k.mma(k.acc, da, db);
    k.commit();
    const int copy = k.copy(k.b);
    k.wait_all();
    CHECK(k.check() == Findings{{"WG-RACE-02", copy}});
}

TEST_CASE("every copy is waited for before the kernel ends") {
    const int pending = GENERATE(0, 1, 2);
    Copies k;
    const int first = k.copy(k.a);
    k.commit_copies();
    const int second = k.copy(k.b);
    k.commit_copies();
    k.wait_copies(pending);
    Findings want;
    if (pending > 1) want.push_back({"WG-GROUP-06", first});
    if (pending > 0) want.push_back({"WG-GROUP-06", second});
    CHECK(k.check() == want);
    if (pending == 0) return;
    CHECK(k.diagnostics()[0].message == "the kernel ends, and nothing has waited for this cp.async");
    CHECK(k.diagnostics()[0].fix ==
          "each thread has to wait for its own (cp.async.wait_all) before the kernel ends");
}

TEST_CASE("copies that may have been waited for are left to the simulator") {
    Copies k;
    const Reg some = k.uniform(), others = k.compare("gt", k.n(), Kernel::imm(5));
    k.branch(some, [&] { k.copy(k.a); });
    k.branch(others, [&] { k.wait_all(); });
    CHECK(k.check() == Findings{});
}
