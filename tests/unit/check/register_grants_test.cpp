// The registers of a CTA in an abstract execution: WG-REG-02, -03, -04.
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

namespace {

/// A wgmma of N columns by the first warpgroup or by all. Returns its line.
int multiply(Roles& k, int buffer, int n) {
    const Reg d = k.descriptor(buffer);
    const std::vector<Reg> acc = k.accumulators(n);
    k.fence();
    const int line = k.mma(acc, d, d, Kernel::imm(0), Form().set(Field::n, n));
    k.commit();
    k.wait(0);
    return line;
}

}  // namespace

TEST_CASE("dec gives back, inc takes") {
    // 384 threads enter with 168, or with those of the largest inc.
    const auto [op, registers, message] = GENERATE(table<std::string, int, std::string>(
        {{"dec", 160, ""},
         {"dec", 168, ""},
         {"inc", 168, ""},
         {"dec", 176, "setmaxnreg.dec to 176 registers a thread, which has 168"},
         {"inc", 160, ""}}));
    Roles k(384);
    const int line = k.setmaxnreg(op, registers);
    const Execution out = k.execute();
    INFO(op << registers);
    CHECK(out.message() == message);
    CHECK(out.findings == (message.empty() ? Findings{} : Findings{{"WG-REG-02", line}}));
}

TEST_CASE("the pool: what one role gives back another one takes") {
    // 3 x 168: 24 + 2 x 240 fit, 32 + 2 x 240 do not; nor 40 + 2 x 232 + 8.
    const auto [left, taken, fits] = GENERATE(table<int, int, bool>(
        {{24, 240, true}, {40, 232, true}, {32, 240, false}, {48, 232, false}, {24, 248, false}}));
    const bool taker_first = GENERATE(false, true);
    Roles k(384);
    int inc = 0;
    const auto give = [&, left = left] { k.setmaxnreg("dec", left); };
    const auto take = [&, taken = taken] { inc = k.setmaxnreg("inc", taken); };
    if (taker_first)
        k.branch(k.warps(0, 7), take, give);
    else
        k.branch(k.warps(0, 3), give, take);
    const Execution out = k.execute();
    INFO(left << ' ' << taken);
    CHECK(out.findings == (fits ? Findings{} : Findings{{"WG-REG-02", inc}}));
    CHECK(out.complete == fits);
    if (!fits)
        CHECK_THAT(out.message(),
                   ContainsSubstring("the kernel hangs") && ContainsSubstring("registers a thread"));
}

TEST_CASE("those who wait for registers that a warp gives back later") {
    Roles k(384);
    k.branch(
        k.warps(0, 3),
        [&] {
            k.bar_sync(1, 128);
            k.setmaxnreg("dec", 24);
        },
        [&] { k.setmaxnreg("inc", 240); });
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("a warp that has left might give back what its setmaxnreg leave it") {
    // 512 threads enter with 128: 104 are what one warp can give another.
    const int taken = GENERATE(232, 240);
    const bool gives_back = GENERATE(true, false);
    Roles k(512);
    int inc = 0;
    k.branch(
        k.warps(0, 0),
        [&] {
            k.branch(k.compare("eq", k.unknown(), Kernel::imm(0)), [&] { k.bar_sync(1, 32); });
            if (gives_back) k.setmaxnreg("dec", 24);
        },
        [&] { inc = k.setmaxnreg("inc", taken); });
    const bool possible = gives_back && taken == 232;
    CHECK(k.execute().findings == (possible ? Findings{} : Findings{{"WG-REG-02", inc}}));
}

TEST_CASE("a warpgroup meets between two setmaxnreg") {
    const bool meets = GENERATE(false, true);
    Roles k(128);
    const int first = k.setmaxnreg("dec", 96);
    if (meets) k.bar_sync();
    const int second = k.setmaxnreg("dec", 64);
    const Execution out = k.execute();
    CHECK(out.findings == (meets ? Findings{} : Findings{{"WG-REG-03", second}}));
    if (meets) return;
    CHECK_THAT(out.message(), ContainsSubstring("a second setmaxnreg, and nothing tells warp"));
    CHECK(out.full[0].notes.at(0).where.line == first);
}

TEST_CASE("a barrier of other threads is none of the warpgroup") {
    Roles k(256);
    int second = 0;
    k.branch(k.warps(0, 3), [&] {
        k.setmaxnreg("dec", 96);
        k.branch(k.warps(0, 0), [&] { k.bar_sync(1, 32); });
        second = k.setmaxnreg("dec", 64);
    });
    CHECK(k.execute().findings == Findings{{"WG-REG-03", second}});
}

TEST_CASE("a wgmma has the registers that its role has: WG-REG-04") {
    // 128 accumulators and 26.
    const int registers = GENERATE(144, 152, 160);
    Roles k(384);
    const int tile = k.buffer(kit::tile(256));
    int mma = 0;
    k.branch(k.warps(0, 3), [&] {
        k.setmaxnreg("dec", registers);
        mma = multiply(k, tile, 256);
    });
    const Execution out = k.execute();
    CHECK(out.findings == Findings{});
    CHECK(out.remarks == (registers == 160 ? Findings{} : Findings{{"WG-REG-04", mma}}));
}

TEST_CASE("as many as it has are enough") {
    // f16 accumulators: N / 4 registers, 54 for N = 216, and 26.
    const int registers = GENERATE(72, 80);
    Roles k(128);
    const int tile = k.buffer(kit::tile(256));
    k.setmaxnreg("dec", registers);
    const Reg d = k.descriptor(tile);
    const std::vector<Reg> acc = k.builder().regs(Type::b32, 54);
    k.fence();
    const int mma = k.mma(
        acc, d, d, Kernel::imm(0),
        Form().set(Field::n, 216).set(Field::d, Type::f16).set(Field::a, Type::f16).set(Field::b, Type::f16));
    k.commit();
    k.wait(0);
    CHECK(k.execute().remarks == (registers == 80 ? Findings{} : Findings{{"WG-REG-04", mma}}));
}

TEST_CASE("without setmaxnreg a thread has its share of the SM, and 255") {
    const auto [threads, n, fits] = GENERATE(table<int, int, bool>({{128, 256, true},
                                                                    {384, 256, true},
                                                                    {512, 200, true},
                                                                    {512, 208, false},
                                                                    {1024, 72, true},
                                                                    {1024, 80, false}}));
    Roles k(threads);
    const int tile = k.buffer(kit::tile(256));
    const int mma = multiply(k, tile, n);
    INFO(threads << ' ' << n);
    CHECK(k.execute().remarks == (fits ? Findings{} : Findings{{"WG-REG-04", mma}}));
}

TEST_CASE("what no assembler takes is an error, what it may spill or ignore a warning") {
    // 104 accumulators and 26 in 128 registers; with 48 values alive besides; and where setmaxnreg gives
    // others.
    const auto severity = [](int threads, int n, bool resizes) {
        Roles k(threads);
        const int tile = k.buffer(kit::tile(256));
        if (resizes) k.setmaxnreg("dec", 96);
        multiply(k, tile, n);
        const std::vector<Diagnostic> found = check::check(k.builder().finish());
        REQUIRE(found.size() == 1);
        CHECK(found[0].rule == "WG-REG-04");
        return found[0].severity;
    };
    CHECK(severity(512, 208, false) == Severity::error);
    CHECK(severity(512, 208, true) == Severity::warning);
    CHECK(severity(384, 256, true) == Severity::warning);
}

TEST_CASE("each line is told once, with what the role has") {
    Roles k(384);
    const int tile = k.buffer(kit::tile(256));
    int first = 0, second = 0;
    const int dec = k.setmaxnreg("dec", 104);
    first = multiply(k, tile, 256);
    second = multiply(k, tile, 200);
    const Program program = k.builder().finish();
    const std::vector<Diagnostic> found = check::check(program);
    REQUIRE(found.size() == 2);
    CHECK(found[0].where.line == first);
    CHECK(found[1].where.line == second);
    CHECK_THAT(found[0].message, ContainsSubstring("need 154 registers of a thread or more, and it has 104"));
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].notes.at(0).where.line == dec);
    CHECK(found[0].notes.at(0).message == "104 registers from here on");
}
