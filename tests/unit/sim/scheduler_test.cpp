// Control flow, divergence, barriers, and the order in which warps and CTAs run.
#include <numeric>
#include <random>
#include <thread>

#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// Runs a kernel whose thread t stores a u32 at x[t]. Returns them.
std::vector<std::uint32_t> results(const Program& program, std::size_t count, std::uint64_t seed = 0,
                                   Dim3 grid = {}) {
    std::vector<std::uint32_t> out(count, 0xDEAD);
    const std::vector<GlobalBuffer> buffers{
        {reinterpret_cast<std::byte*>(out.data()), static_cast<std::int64_t>(count * 4), 0x10000}};
    const std::vector<std::uint64_t> params{0x10000};
    SimulatedLaunch launch;
    launch.grid = grid;
    launch.params = params;
    launch.buffers = buffers;
    launch.seed = seed;
    const Outcome outcome = run_both(program, launch);
    for (const Diagnostic& finding : outcome.findings) FAIL_CHECK(to_text(finding));
    return out;
}

struct ResultScript : Script {
    explicit ResultScript(int threads) : Script(threads) {
        builder.param("x", isa::Type::u64, Dtype::u32);
        thread = tid();
        result = builder.reg(isa::Type::u32);
    }
    Program leave(Reg index) {
        const Reg base = (*this)(90, "ld_param_u64", {Operand::param(0)});
        step(90, "st_global_u32", {at((*this)(90, "mad_wide_u32", {index, 4, base})), result});
        return finish();
    }
    Reg thread, result;
};

}  // namespace

TEST_CASE("branches run both arms, each with its lanes, and come together again") {
    ResultScript k(48);
    k.step(1, "mov_u32", {k.result, 0});
    const Reg odd = k(1, "setp_eq_u32", {k(1, "and_b32", {k.thread, 1}), 1});
    const Reg low = k(1, "setp_lt_u32", {k.thread, 10});
    k.begin_if(2, odd);
    k.begin_if(3, low);
    k.step(4, "add_u32", {k.result, k.result, 1});
    k.builder.end_if();
    k.step(5, "add_u32", {k.result, k.result, 10});
    k.builder.begin_else();
    k.begin_if(6, low, true);
    k.step(7, "add_u32", {k.result, k.result, 100});
    k.builder.begin_else();
    k.step(8, "add_u32", {k.result, k.result, 1000});
    k.builder.end_if();
    k.builder.end_if();
    k.step(9, "add_u32", {k.result, k.result, 10000});
    const std::vector<std::uint32_t> got = results(k.leave(k.thread), 48);
    for (std::uint32_t t = 0; t < 48; ++t)
        CHECK(got[t] == 10000U + (t % 2 ? 10 + (t < 10) : t < 10 ? 1000U : 100U));
}

TEST_CASE("loops run as often as each thread says, also never and inside others") {
    ResultScript k(40);
    k.step(1, "mov_u32", {k.result, 0});
    const Reg i = k.begin_loop(2, k.thread);
    const Reg j = k.begin_loop(3, i);
    k.step(4, "add_u32", {k.result, k.result, 1});
    k.end_loop(3, j);
    k.end_loop(2, i);
    const std::vector<std::uint32_t> got = results(k.leave(k.thread), 40);
    for (std::uint32_t t = 0; t < 40; ++t) CHECK(got[t] == (t == 0 ? 0 : t * (t - 1) / 2));
}

TEST_CASE("guards, also negated") {
    ResultScript k(32);
    const Reg low = k(1, "setp_lt_u32", {k.thread, 7});
    k.step(2, "mov_u32", {k.result, 1}, {low});
    k.step(3, "mov_u32", {k.result, 2}, {low, true});
    const std::vector<std::uint32_t> got = results(k.leave(k.thread), 32);
    for (std::uint32_t t = 0; t < 32; ++t) CHECK(got[t] == (t < 7 ? 1 : 2));
}

TEST_CASE("every CTA knows its place") {
    ResultScript k(2);
    const Reg x = k.special("ctaid.x"), y = k.special("ctaid.y"), z = k.special("ctaid.z");
    const Reg nx = k.special("nctaid.x"), ny = k.special("nctaid.y");
    const Reg cta = k(1, "mad_lo_u32", {k(1, "mad_lo_u32", {z, ny, y}), nx, x});
    const Reg index = k(1, "mad_lo_u32", {cta, k.special("ntid.x"), k.thread});
    k.step(2, "mov_u32", {k.result, index});
    const std::vector<std::uint32_t> got = results(k.leave(index), 3 * 4 * 5 * 2, 0, {3, 4, 5});
    std::vector<std::uint32_t> want(got.size());
    std::iota(want.begin(), want.end(), 0U);
    CHECK(got == want);
}

TEST_CASE("a tree reduction over shared memory gives the same sum under every schedule") {
    ResultScript k(256);
    const int buffer = k.buffer("buf", 1024);
    const Reg mine = k.address(buffer, k.thread, 4);
    k.step(2, "st_shared_u32", {at(mine), k.thread});
    k.step(3, "bar_sync", {0});
    for (int half = 128; half > 0; half /= 2) {
        const Reg works = k(4, "setp_lt_u32", {k.thread, half});
        k.begin_if(4, works);
        const Reg other = k(5, "ld_shared_u32", {at(mine, 4 * half)});
        k.step(6, "st_shared_u32", {at(mine), k(5, "add_u32", {other, k(5, "ld_shared_u32", {at(mine)})})});
        k.builder.end_if();
        k.step(7, "bar_sync", {0});
    }
    k.step(8, "ld_shared_u32", {k.result, in_buffer(buffer)});
    const Program program = k.leave(k.thread);
    for (std::uint64_t seed = 0; seed < 16; ++seed)
        CHECK(results(program, 256, seed) == std::vector<std::uint32_t>(256, 255 * 128));
}

TEST_CASE("the same seed gives the same run, another seed another one") {
    // Two warps race for one word; the schedule decides which comes last.
    ResultScript k(64);
    const int buffer = k.buffer("buf", 16);
    const Reg lane = k.special("laneid");
    k.step(2, "st_shared_u32", {in_buffer(buffer), k(2, "shr_u32", {k.thread, 5})},
           {k(2, "setp_eq_u32", {lane, 0})});
    k.step(3, "bar_sync", {0});
    k.step(4, "ld_shared_u32", {k.result, in_buffer(buffer)});
    const Program program = k.leave(k.thread);
    std::vector<std::uint32_t> out(64);
    const std::vector<GlobalBuffer> buffers{{reinterpret_cast<std::byte*>(out.data()), 256, 0x10000}};
    std::set<std::uint32_t> winners;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        const Outcome first = run_with(program, seed, buffers);
        const std::uint32_t winner = out[0];
        winners.insert(winner);
        const Outcome second = run_with(program, seed, buffers);
        CHECK(out[0] == winner);
        CHECK(first.steps == second.steps);
        REQUIRE(first.findings.size() == 1);
        CHECK(to_text(first.findings[0]) == to_text(second.findings[0]));
    }
    CHECK(winners == std::set<std::uint32_t>{0, 1});
}

TEST_CASE("the findings are those of the first CTA that has any, however many run at once") {
    ResultScript k(32);
    const Reg x = k.special("ctaid.x");
    k.step(2, "mov_u32", {k.result, 0});
    k.begin_if(3, k(3, "setp_ge_u32", {x, 5}));
    k(4, "ld_shared_u32", {at(k(3, "add_u32", {x, 64}))});
    k.builder.end_if();
    const Program program = k.leave(k.thread);
    std::vector<std::uint32_t> out(32);
    const std::vector<GlobalBuffer> buffers{{reinterpret_cast<std::byte*>(out.data()), 128, 0x10000}};
    const std::vector<std::uint64_t> params{0x10000};
    SimulatedLaunch launch;
    launch.grid = {40, 1, 1};
    launch.params = params;
    launch.buffers = buffers;
    std::set<std::uint64_t> steps;
    for (int i = 0; i < 10; ++i) {
        const Outcome outcome = run_both(program, launch);
        REQUIRE(outcome.findings.size() == 1);
        CHECK_THAT(outcome.findings[0].message, ContainsSubstring("CTA (5, 0, 0)"));
        steps.insert(outcome.steps);
    }
    CHECK(steps.size() == 1);
}

TEST_CASE("a barrier that somebody never reaches is a deadlock with places: WG-SYNC-02") {
    Script k(128);
    const Reg low = k(1, "setp_lt_u32", {k.tid(), 64});
    SECTION("the others have ended, and it is for those who have not") {
        k.begin_if(9, low);
        k.step(10, "bar_sync", {3});
        k.step(11, "bar_sync", {3});
        k.builder.end_if();
        expect(k.finish(), {});
    }
    SECTION("the others have ended") {
        k.begin_if(9, low);
        k.step(10, "bar_sync", {3, 128});
        k.builder.end_if();
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-02", 10}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        CHECK(finding.message ==
              "the kernel hangs: warps 0, 1 wait at barrier 3: 64 of 128 threads have arrived");
        REQUIRE(finding.notes.size() == 1);
        CHECK(finding.notes[0].message == "warps 2, 3 ended");
    }
    SECTION("the others wait elsewhere") {
        k.begin_if(9, low);
        k.step(10, "bar_sync", {1});
        k.builder.begin_else();
        k.step(11, "bar_sync", {2});
        k.builder.end_if();
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-02", 10}});
        const Diagnostic finding = run_with(program, 0).findings.at(0);
        REQUIRE(finding.notes.size() == 1);
        CHECK(finding.notes[0].where.line == 11);
        CHECK(finding.notes[0].message == "warps 2, 3 wait at barrier 2: 64 of 128 threads have arrived");
    }
    SECTION("counts that fit: no deadlock") {
        k.begin_if(9, low);
        k.step(10, "bar_sync", {1, 64});
        k.builder.begin_else();
        k.step(11, "bar_sync", {2, 64});
        k.builder.end_if();
        k.step(12, "bar_sync", {0});
        expect(k.finish(), {});
    }
}

TEST_CASE("barriers: a warp whose lanes part, counts that differ, numbers out of range") {
    Script k(64);
    SECTION("lanes part: WG-SYNC-01") {
        k.step(10, "bar_sync", {0}, {k(1, "setp_lt_u32", {k.special("laneid"), 5})});
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-01", 10}});
        CHECK_THAT(run_with(program, 0).findings.at(0).message,
                   ContainsSubstring("bar.sync is executed by 5 of the 32 lanes of warp"));
    }
    SECTION("counts differ") {
        const Reg count = k(1, "selp_u32", {64, 128, k(1, "setp_lt_u32", {k.tid(), 32})});
        k.step(10, "bar_sync", {1, count});
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-02", 10}});
        CHECK_THAT(run_with(program, 0).findings.at(0).message, ContainsSubstring("others wait at it for"));
    }
    SECTION("barrier 16") {
        k.step(10, "bar_sync", {k.constant(16)});
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-02", 10}});
        CHECK_THAT(run_with(program, 0).findings.at(0).message,
                   ContainsSubstring("there are barriers 0 to 15"));
    }
}

TEST_CASE("an endless loop ends when it is told to") {
    Script k(32);
    k.begin_loop(2, 1);
    k.step(3, "bar_sync", {0});
    k.builder.end_loop();  // the counter never moves
    const Program program = k.finish();
    std::atomic<bool> stop = false;
    SimulatedLaunch launch;
    launch.stop = &stop;
    const std::jthread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        stop = true;
    });
    try {
        run(program, launch);
        FAIL("it ended by itself");
    } catch (const Error& error) {
        CHECK(error.code() == "EINTR");
        CHECK(std::string(error.what()) == "the simulation was interrupted");
    }
}

TEST_CASE("the last warp may be partial, and barriers count it whole") {
    ResultScript k(70);
    const int buffer = k.buffer("buf", 280);
    k.step(2, "st_shared_u32", {at(k.address(buffer, k.thread, 4)), k.thread});
    k.step(3, "bar_sync", {0});
    const Reg other = k(4, "sub_u32", {k.constant(69), k.thread});
    k.step(4, "ld_shared_u32", {k.result, at(k.address(buffer, other, 4))});
    const std::vector<std::uint32_t> got = results(k.leave(k.thread), 70);
    for (std::uint32_t t = 0; t < 70; ++t) CHECK(got[t] == 69 - t);
}

TEST_CASE("graphs of any shape do what they do thread by thread") {
    constexpr int threads = 40, most_blocks = 30;
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        struct Part {
            std::uint32_t plus, bit;
            int kind;  // 0: ends, 1: jumps, else branches
            std::size_t to;
        };
        std::vector<Part> parts(2 + random() % 8);
        for (Part& part : parts)
            part = {static_cast<std::uint32_t>(random() % 100), static_cast<std::uint32_t>(random() % 5),
                    static_cast<int>(random() % 8), random() % parts.size()};
        parts.back().kind = 0;

        ResultScript k(threads);
        Builder& b = k.builder;
        k.step(1, "mov_u32", {k.result, k.thread});
        const Reg left = k(1, "mov_u32", {most_blocks});
        std::vector<int> labels(parts.size());
        for (int& label : labels) label = b.label();
        const int out = b.label();
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part& part = parts[i];
            b.place(labels[i]);
            k.step(2, "mad_lo_u32", {k.result, k.result, 5, static_cast<int>(part.plus)});
            k.step(2, "sub_u32", {left, left, 1});
            b.jump(out, k(2, "setp_eq_u32", {left, 0}));
            if (part.kind == 0) {
                b.jump(out);
            } else if (part.kind == 1) {
                b.jump(labels[part.to]);
            } else {
                const Reg shifted = k(2, "shr_u32", {k.result, static_cast<int>(part.bit)});
                b.jump(labels[part.to], k(2, "setp_eq_u32", {k(2, "and_b32", {shifted, 1}), 1}));
            }
        }
        b.place(out);
        const std::vector<std::uint32_t> got = results(k.leave(k.thread), threads);

        std::vector<std::uint32_t> want;
        for (std::uint32_t t = 0; t < threads; ++t) {
            std::uint32_t value = t;
            std::size_t at = 0;
            for (int steps = most_blocks; steps > 0;) {
                const Part& part = parts[at];
                value = value * 5 + part.plus;
                if (--steps == 0 || part.kind == 0) break;
                at = part.kind == 1 || (value >> part.bit & 1) == 1 ? part.to : at + 1;
            }
            want.push_back(value);
        }
        INFO("round " << round);
        REQUIRE(got == want);
    }
}
