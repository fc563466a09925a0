// cp.async: what is copied and when, the groups that threads wait for, mbarriers that wait for them, and the
// findings where no thread waits.
#include <numeric>

#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// A kernel with one parameter, a pointer to bytes, and a buffer of 16 bytes per thread.
struct CopyScript : AsyncScript {
    explicit CopyScript(int threads = 64) : AsyncScript(threads) {
        builder.param("x", isa::Type::u64, Dtype::u32);
        global = (*this)(1, "ld_param_u64", {Operand::param(0)});
        tile = buffer("tile", 2048);
        here = address(tile, thread, 16);
        neighbour = address(tile, (*this)(1, "xor_b32", {thread, 32}), 16);  // of another warp
        from = element(16);
    }
    Reg element(int bytes, Reg index = {}) {
        const Reg wide = (*this)(1, "cvt_u64_u32", {index ? index : thread});
        return (*this)(1, "mad_lo_u64", {wide, bytes, global});
    }
    void copy(int number, Guard guard = {}) { step(number, "cp_async_cg", {at(here), at(from)}, guard); }
    void commit(int number, Guard guard = {}) { step(number, "cp_async_commit_group", {}, guard); }
    void wait_group(int number, int pending, Guard guard = {}) {
        step(number, "cp_async_wait_group", {pending}, guard);
    }
    void wait_all(int number, Guard guard = {}) { step(number, "cp_async_wait_all", {}, guard); }
    void bar(int number) { step(number, "bar_sync", {0}); }
    void read(int number, Reg where, std::int64_t offset = 0) {
        (*this)(number, "ld_shared_u32", {at(where, offset)});
    }
    /// Each thread stores what it reads from `where` after the first 2048 bytes.
    void give_back(int number, Reg where) {
        const std::vector<Reg> values = list(number, "ld_shared_v4_b32", {Operand(), at(where)});
        step(number, "st_global_v4_b32", {at(from, 2048), values});
    }

    int tile = 0;
    Reg global, here, neighbour, from;
};

std::vector<std::byte> pattern() {
    std::vector<std::byte> out(4096);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::byte(i * 11 + i / 256 + 1);
    return out;
}

Outcome run_on(const Program& program, std::vector<std::byte>& data, std::uint64_t seed = 0,
               bool detect_races = true) {
    const std::vector<GlobalBuffer> buffers{{data.data(), static_cast<std::int64_t>(data.size()), 0x10000}};
    const std::vector<std::uint64_t> params{0x10000};
    SimulatedLaunch launch;
    launch.params = params;
    launch.buffers = buffers;
    launch.seed = seed;
    launch.detect_races = detect_races;
    return run_both(program, launch);
}

/// Expects that every schedule finds `want` and nothing else. Returns the last outcome.
Outcome expect_on(const Program& program, const Found& want) {
    Outcome outcome;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        std::vector<std::byte> data = pattern();
        outcome = run_on(program, data, seed);
        INFO("seed " << seed << '\n' << text_of(outcome));
        CHECK(found(outcome) == want);
    }
    return outcome;
}

std::uint32_t word(const std::vector<std::byte>& data, std::size_t offset) {
    std::uint32_t out = 0;
    std::memcpy(&out, data.data() + offset, 4);
    return out;
}

}  // namespace

TEST_CASE("bytes come from global memory, and zeros after the first src_size") {
    for (const int bytes : {4, 8, 16})
        for (const bool skip : {false, true}) {
            CopyScript k;
            isa::Form form;
            form.set(isa::Field::bytes, bytes).set(isa::Field::cop, 0);
            const Reg count = k(1, "rem_u32", {k.thread, bytes + 1});
            const Reg odd = k(1, "setp_eq_u32", {k(1, "and_b32", {k.thread, 1}), 1});
            for (int part = 0; part < 16; part += bytes)
                k.add(10, *isa::find(skip ? "cp.async.ignore_src" : "cp.async"), form,
                      {at(k.here, part), at(k.from, part), skip ? odd : count});
            k.wait_all(11);
            k.give_back(12, k.here);
            const Program program = k.finish();
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                std::vector<std::byte> data = pattern(), want = data;
                for (std::size_t t = 0; t < 64; ++t)
                    for (std::size_t b = 0; b < 16; ++b) {
                        const auto size = static_cast<std::size_t>(bytes);
                        const bool taken = skip ? t % 2 == 0 : b % size < t % (size + 1);
                        want[2048 + 16 * t + b] = taken ? want[16 * t + b] : std::byte{0};
                    }
                const Outcome outcome = run_on(program, data, seed);
                INFO(bytes << " bytes, seed " << seed << '\n' << text_of(outcome));
                CHECK(outcome.findings.empty());
                CHECK(data == want);
            }
        }
}

TEST_CASE("a copy comes at some moment up to the wait") {
    CopyScript k(32);
    k.copy(10);
    const Reg early = k(11, "ld_shared_u32", {at(k.here)});
    k.wait_all(12);
    const Reg late = k(13, "ld_shared_u32", {at(k.here)});
    k.step(14, "st_global_u32", {at(k.from, 2048), early});
    k.step(14, "st_global_u32", {at(k.from, 2052), late});
    const Program program = k.finish();
    int came_early = 0, came_late = 0;
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        std::vector<std::byte> data = pattern();
        run_on(program, data, seed, false);
        CHECK(word(data, 2052) == word(data, 0));
        ++(word(data, 2048) == word(data, 0) ? came_early : came_late);
    }
    CHECK(came_early > 0);
    CHECK(came_late > 0);
}

TEST_CASE("what has not been waited for may be neither read nor written") {
    for (const bool writes : {false, true})
        for (const bool committed : {false, true}) {
            CopyScript k;
            k.copy(10);
            if (committed) k.commit(11);
            k.bar(12);
            if (writes)
                k.step(13, "st_shared_u32", {at(k.neighbour), k.thread});
            else
                k.read(13, k.neighbour);
            k.bar(14);
            k.wait_all(15);
            const Outcome outcome = expect_on(k.finish(), {{"WG-GROUP-04", 13}});
            CHECK(outcome.findings[0].notes[0].where.line == 10);
            CHECK_THAT(outcome.findings[0].message,
                       ContainsSubstring(writes ? "writes `tile`" : "reads `tile`") &&
                           ContainsSubstring("which the cp.async writes"));
            CHECK(outcome.findings[0].fix.starts_with(
                "the threads of line 10 have to wait for their cp.async, then to meet thread "));
        }
}

TEST_CASE("a wait is that of the thread: others need a barrier after it") {
    for (const int mistake : {0, 1, 2}) {
        CopyScript k;
        k.copy(10);
        k.commit(11);
        if (mistake == 2) k.bar(12);
        k.wait_group(13, 0);
        if (mistake == 0) k.bar(14);
        k.read(15, k.here);
        k.read(16, k.neighbour);
        const Program program = k.finish();
        if (mistake == 0) {
            expect_on(program, {});
            continue;
        }
        int raced = 0;
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            std::vector<std::byte> data = pattern();
            const Found is = found(run_on(program, data, seed));
            // A thread that looks early reads bytes in flight, or bytes whose copy has not been issued.
            for (const auto& [rule, line] : is) CHECK((line == 16 || (line == 10 && rule == "WG-RACE-01")));
            CHECK_FALSE(is.empty());
            raced += is.contains({"WG-RACE-01", 16});
        }
        CHECK(raced > 0);
    }
}

TEST_CASE("wait_group n leaves the n youngest groups, and empty groups count") {
    struct Case {
        int pending;
        bool empty;
        Found want;
    };
    for (const Case& c : {Case{0, false, {}}, Case{1, false, {{"WG-GROUP-04", 21}}},
                          Case{2, false, {{"WG-GROUP-04", 20}, {"WG-GROUP-04", 21}}}, Case{1, true, {}},
                          Case{2, true, {{"WG-GROUP-04", 21}}}}) {
        CopyScript k(32);
        k.step(10, "cp_async_cg", {at(k.here), at(k.from)});
        k.commit(11);
        k.step(12, "cp_async_cg", {at(k.here, 1024), at(k.from)});
        k.commit(13);
        if (c.empty) k.commit(14);
        k.wait_group(15, c.pending);
        k.read(20, k.here);
        k.read(21, k.here, 1024);
        k.wait_all(22);
        INFO("wait_group " << c.pending << (c.empty ? " after an empty group" : ""));
        expect_on(k.finish(), c.want);
    }
}

TEST_CASE("lanes have groups of their own") {
    CopyScript k(32);
    const Reg low = k(1, "setp_lt_u32", {k.thread, 16});
    k.copy(10, {low});
    k.commit(11, {low});
    k.copy(12, {low, true});
    k.wait_group(13, 0);  // the others have committed nothing
    k.step(20, "ld_shared_u32", {Operand(), at(k.here)}, {low});
    k.step(21, "ld_shared_u32", {Operand(), at(k.here)}, {low, true});
    k.wait_all(22);
    k.read(23, k.here);
    expect_on(k.finish(), {{"WG-GROUP-04", 21}});
}

TEST_CASE("a copy is waited for before the CTA ends, by its thread or with an mbarrier") {
    SECTION("by some lanes only, and of the groups but the last") {
        CopyScript k(32);
        k.copy(10);
        k.commit(11);
        k.step(12, "cp_async_cg", {at(k.here, 1024), at(k.from)});
        k.commit(13);
        const bool all = GENERATE(false, true);
        k.wait_group(14, all ? 0 : 1);
        const Outcome outcome = expect_on(k.finish(), all ? Found{} : Found{{"WG-GROUP-06", 12}});
        if (all) return;
        CHECK(outcome.findings[0].message ==
              "the CTA ends, and nothing has waited for this cp.async of thread 0");
        CHECK(outcome.findings[0].fix ==
              "each thread has to wait for its own (cp.async.wait_all) before the kernel ends");
    }
    SECTION("a wait of other lanes is none") {
        CopyScript k(32);
        const Reg low = k(1, "setp_lt_u32", {k.thread, 16});
        k.copy(10);
        k.wait_all(11, {low});
        const Outcome outcome = expect_on(k.finish(), {{"WG-GROUP-06", 10}});
        CHECK_THAT(outcome.findings[0].message, ContainsSubstring("thread 16"));
    }
    SECTION("an mbarrier is told") {
        const bool waits = GENERATE(false, true);
        CopyScript k;
        const int full = k.mbarriers("full", 1);
        k.init(2, full, {64});
        k.copy(10);
        k.step(11, "cp_async_mbarrier_arrive_noinc", {in_buffer(full)});
        if (waits) k.wait(12, in_buffer(full), 0);
        expect_on(k.finish(), waits ? Found{} : Found{{"WG-GROUP-06", 10}});
    }
}

TEST_CASE("a stage is refilled only when everybody has read it") {
    for (const bool correct : {false, true}) {
        CopyScript k;
        const Reg round = k.begin_loop(10, 3);
        k.copy(11);
        k.wait_all(12);
        k.bar(13);
        k.read(14, k.neighbour);
        if (correct) k.bar(15);
        k.end_loop(16, round);
        const Program program = k.finish();
        if (correct) {
            expect_on(program, {});
            continue;
        }
        bool any = false;
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            std::vector<std::byte> data = pattern();
            any |= found(run_on(program, data, seed)).contains({"WG-RACE-01", 11});
        }
        CHECK(any);
    }
}

TEST_CASE("wgmma reads what cp.async brings after a wait, a proxy fence and a barrier, in this order") {
    struct Case {
        const char* order;  // w wait, f fence, b barrier
        const char* rule;
    };
    for (const Case& c : {Case{"wfb", nullptr}, Case{"wb", "WG-PROXY-01"}, Case{"fwb", "WG-PROXY-01"},
                          Case{"fb", "WG-GROUP-04"}, Case{"wbf", nullptr}}) {
        MmaScript k;
        k.builder.param("x", isa::Type::u64, Dtype::bf16);
        const Reg global = k(1, "ld_param_u64", {Operand::param(0)});
        const Reg from = k(1, "mad_lo_u64", {k(1, "cvt_u64_u32", {k.thread}), 16, global});
        k.step(10, "cp_async_cg", {at(k.a_at), at(from)});
        k.step(11, "cp_async_cg", {at(k.b_at), at(from)}, {k.few});
        int line = 12;
        for (const char* step = c.order; *step != 0; ++step)
            k.step(line++,
                   *step == 'w'   ? "cp_async_wait_all"
                   : *step == 'f' ? "fence_proxy_async"
                                  : "bar_sync",
                   *step == 'b' ? std::vector<Arg>{0} : std::vector<Arg>{});
        k.whole_mma(20);
        INFO(c.order);
        expect_on(k.finish(), c.rule == nullptr ? Found{} : Found{{c.rule, 21}});
    }
}

namespace {

/// Warp 0 copies for all threads, 64 bytes per lane; an mbarrier waits for its copies.
struct PipeScript : CopyScript {
    explicit PipeScript(int arrivals) {
        full = mbarriers("full", 1);
        init(2, full, {arrivals});
        producer = (*this)(1, "setp_lt_u32", {thread, 32});
    }
    void produce(int number, const char* arrive) {
        step(number, "cp_async_cg", {at(here), at(from)}, {producer});
        step(number + 1, "cp_async_cg", {at(here, 512), at(from, 512)}, {producer});
        step(number + 2, arrive, {in_buffer(full)}, {producer});
    }
    int full = 0;
    Reg producer;
};

}  // namespace

TEST_CASE("an mbarrier completes when the copies have come that its arrivals wait for") {
    for (const bool noinc : {true, false}) {
        // Without noinc the arrivals are not among those that init counts.
        PipeScript k(32);
        k.produce(10, noinc ? "cp_async_mbarrier_arrive_noinc" : "cp_async_mbarrier_arrive");
        if (!noinc) k.step(13, "mbarrier_arrive", {in_buffer(k.full)}, {k.producer});
        k.wait(14, in_buffer(k.full), 0);
        k.give_back(15, k.here);
        const Program program = k.finish();
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            std::vector<std::byte> data = pattern(), want = data;
            std::copy_n(want.begin(), 1024, want.begin() + 2048);
            const Outcome outcome = run_on(program, data, seed);
            INFO(noinc << " seed " << seed << '\n' << text_of(outcome));
            CHECK(outcome.findings.empty());
            CHECK(data == want);
        }
    }
}

TEST_CASE("what an mbarrier is to tell is told by a wait for it alone, or to the thread by its groups") {
    for (const int mistake : {0, 1, 2}) {
        PipeScript k(32);
        k.produce(10, "cp_async_mbarrier_arrive_noinc");
        if (mistake == 0) k.wait_all(13, {k.producer});
        if (mistake == 1) k.bar(13);
        if (mistake == 2) k.wait(13, in_buffer(k.full), 0);
        k.step(14, "ld_shared_u32", {Operand(), at(k.here)}, {k.producer, mistake == 1});
        k.wait(15, in_buffer(k.full), 0);
        const Program program = k.finish();
        if (mistake != 1) {
            expect_on(program, {});
            continue;
        }
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            std::vector<std::byte> data = pattern();
            const Found is = found(run_on(program, data, seed));
            CHECK((is == Found{{"WG-GROUP-04", 14}} || is == Found{{"WG-TMA-02", 14}}));
        }
    }
}

TEST_CASE("a phase waits for all arrivals of copies") {
    PipeScript k(33);  // one too few
    k.produce(10, "cp_async_mbarrier_arrive_noinc");
    k.wait(14, in_buffer(k.full), 0);
    expect_on(k.finish(), {{"WG-MBAR-05", 14}});
}

TEST_CASE("after an mbarrier a wgmma needs the proxy fence of those who wait") {
    for (const bool fenced : {true, false}) {
        MmaScript k;
        k.builder.param("x", isa::Type::u64, Dtype::bf16);
        const Reg global = k(1, "ld_param_u64", {Operand::param(0)});
        const Reg from = k(1, "mad_lo_u64", {k(1, "cvt_u64_u32", {k.thread}), 16, global});
        const int full = k.builder.shared("full", 8, 8, std::nullopt);
        const Reg first = k(1, "setp_eq_u32", {k.thread, 0});
        k.step(2, "mbarrier_init", {in_buffer(full), 128}, {first});
        k.step(3, "bar_sync", {0});
        k.step(10, "cp_async_cg", {at(k.a_at), at(from)});
        k.step(11, "cp_async_cg", {at(k.b_at), at(from)}, {k.few});
        k.step(12, "cp_async_mbarrier_arrive_noinc", {in_buffer(full)});
        k.builder.at(Script::line(13));
        k.builder.begin_loop();
        const Reg done = k(13, "mbarrier_try_wait_parity", {in_buffer(full), 0});
        k.builder.loop_condition(k(13, "not_pred", {done}));
        k.builder.end_loop();
        if (fenced) k.step(14, "fence_proxy_async");
        k.whole_mma(20);
        const Outcome outcome = expect_on(k.finish(), fenced ? Found{} : Found{{"WG-PROXY-01", 21}});
        if (!fenced) CHECK_THAT(outcome.findings[0].message, ContainsSubstring("which the cp.async wrote"));
    }
}

TEST_CASE("copies stay inside their buffers, aligned, and take no more than they copy") {
    struct Case {
        int to, from, count;
        const char* rule;
    };
    for (const Case& c :
         {Case{0, 0, 16, nullptr}, Case{8, 0, 16, "WG-MEM-02"}, Case{0, 4, 16, "WG-MEM-02"},
          Case{0, 4096, 16, "WG-MEM-01"}, Case{2048, 0, 16, "WG-MEM-03"}, Case{0, 0, 17, "WG-FORM-02"},
          Case{0, 4096, 0, nullptr}, Case{0, 4104, 0, nullptr}}) {
        CopyScript k(32);
        k.step(10, "cp_async_cg", {in_buffer(k.tile, c.to), at(k.global, c.from), k.constant(c.count)},
               {k.first});
        k.wait_all(11);
        INFO(c.to << " " << c.from << " " << c.count);
        expect_on(k.finish(), c.rule == nullptr ? Found{} : Found{{c.rule, 10}});
    }
}
