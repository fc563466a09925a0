// What ptxas may make of a program: machine code that looks unlike it, and keeps it. It is never refuted.
//
// The instructions are those that ptxas 12.8.93 makes at -O3 of these programs, without what computes
// addresses.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "kernel/machine_code.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

namespace {

constexpr int first = 12;  // the line of the first statement

/// Statements of PTX, a line each.
std::string ptx_of(const std::vector<std::string>& statements) {
    std::string text = R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
.reqntid 128, 1, 1
{
.shared .align 128 .b8 tile[8192];
.reg .b64 %p, %d<2>; .reg .b32 %n, %t, %s, %r, %u; .reg .pred %q, %v<4>; .reg .f32 %f<4>;
mov.u32 %s, tile; mov.b64 %d0, 0x4000004000010000; mov.b64 %d1, 0x4000004000010100;
ld.param.u64 %p, [p];
ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, 128;
)";
    for (const std::string& statement : statements) text += statement + '\n';
    return text + "ret;\n}\n";
}

/// An instruction, and the statement that it comes from.
using Code = std::vector<std::pair<int, std::string>>;

KeptKernel kept(const std::vector<std::string>& statements, const Code& code) {
    std::string text = ".text.k:\n";
    const auto line = [&](int number) {
        text += fmt::format("//## File \".nv_debug_ptx_txt\", line {}\n", number);
    };
    for (const auto& [statement, instruction] : code) {
        if (instruction.starts_with(":")) {
            text += instruction.substr(1) + ":\n";
            continue;
        }
        line(first + statement);
        text += fmt::format("/*0000*/ {};\n", instruction);
    }
    line(first + static_cast<int>(statements.size()));
    text += "/*0000*/ EXIT;\n";
    std::vector<KeptKernel> out = kept_of_text("k.ptx", ptx_of(statements), sass::read_listing(text));
    REQUIRE(out.size() == 1);
    return std::move(out[0]);
}

using enum Verdict::Kind;
Verdict::Kind verdict(const std::vector<std::string>& statements, const Code& code) {
    return kept(statements, code).verdict.kind;
}

const std::string commit = "wgmma.commit_group.sync.aligned;", wait = "wgmma.wait_group.sync.aligned 0;";
const std::string empty_group = "HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0";

}  // namespace

TEST_CASE("a fence of the proxies of global memory takes no memory barrier") {
    const auto of = [](const std::string& space, const Code& code) {
        return verdict({"fence.proxy.async" + space + ";", "bar.sync 0;"}, code);
    };
    CHECK(of(".global", {{0, "FENCE.VIEW.ASYNC.G"}, {1, "BAR.SYNC.DEFER_BLOCKING 0x0"}}) == proved);
    CHECK(of(".shared::cta", {{0, "FENCE.VIEW.ASYNC.S"}, {1, "BAR.SYNC.DEFER_BLOCKING 0x0"}}) == refuted);
    CHECK(of(".shared::cta",
             {{0, "@!PT MEMBAR.ALL.CTA"}, {0, "FENCE.VIEW.ASYNC.S"}, {1, "BAR.SYNC.DEFER_BLOCKING 0x0"}}) ==
          refuted);
    CHECK(of(".global", {{1, "BAR.SYNC.DEFER_BLOCKING 0x0"}}) == refuted);
    // The view of global memory takes the place of no other.
    for (const std::string space : {".shared::cta", ""})
        for (const std::string view : {".S", ".G"})
            CHECK(of(space, {{0, "MEMBAR.ALL.CTA"},
                             {0, "FENCE.VIEW.ASYNC" + view},
                             {1, "BAR.SYNC.DEFER_BLOCKING 0x0"}}) == (view == ".S" ? proved : refuted));
}

TEST_CASE("statements of one line are not told apart") {
    const Code code{{0, "MEMBAR.ALL.CTA"}, {0, "FENCE.VIEW.ASYNC.S"}, {0, "MEMBAR.SC.GPU"}};
    const KeptKernel shared = kept({"fence.proxy.async.shared::cta; membar.gl;"}, code);
    CHECK(shared.findings.empty());
    CHECK(shared.verdict.kind == undecided);
    CHECK(shared.verdict.reason.find("several statements stand on line 12") != std::string::npos);
}

TEST_CASE("groups without products") {
    const std::string fence = "wgmma.fence.sync.aligned;";
    const std::string product =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 0, 1, 1, 0, 0;";
    const std::string made = "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0";
    const std::string waits = "WARPGROUP.DEPBAR.LE gsb0, 0x0", arrives = "WARPGROUP.ARRIVE";
    CHECK(verdict({commit, wait}, {{-1, arrives}, {-1, empty_group}, {1, waits}}) == proved);
    const std::vector<std::string> twice{fence, product, commit, commit, wait, "st.global.f32 [%p], %f0;"};
    const auto of = [&](const std::string& instruction) {
        return verdict(twice, {{0, arrives},
                               {-1, instruction},
                               {-1, empty_group},
                               {4, waits},
                               {5, "STG.E desc[UR4][R2.64], R24"}});
    };
    CHECK(of(made) == proved);
    CHECK(of(empty_group) == refuted);
}

TEST_CASE("groups without products in a loop, without optimisation") {
    // Each is committed by a product of no use, whose registers get values again in the next turn.
    const std::vector<std::string> program{
        "again:",         commit, commit, "wgmma.wait_group.sync.aligned 1;", "setp.ne.u32 %q, %n, 0;",
        "@%q bra again;", wait};
    const std::string use = "HGMMA.64x8x16.F16 R24, gdesc[UR4], R24, !UPT, gsb0";
    const KeptKernel loop = kept(program, {{0, ":.L_a"},
                                           {1, "MOV R24, RZ"},
                                           {1, use},
                                           {2, "MOV R24, RZ"},
                                           {2, use},
                                           {3, "WARPGROUP.DEPBAR.LE gsb0, 0x1"},
                                           {4, "ISETP.NE.U32.AND P0, PT, R2, RZ, PT"},
                                           {5, "@P0 BRA `(.L_a)"},
                                           {6, "WARPGROUP.DEPBAR.LE gsb0, 0x0"}});
    INFO(loop.verdict.reason);
    CHECK(loop.verdict.kind == proved);
}

TEST_CASE("a product whose accumulators nothing reads may go") {
    const std::vector<std::string> program{
        "wgmma.fence.sync.aligned;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 0, 1, 1, 0, 0;",
        commit, wait};
    const Code code{{0, "WARPGROUP.ARRIVE"}, {-1, empty_group}, {3, "WARPGROUP.DEPBAR.LE gsb0, 0x0"}};
    CHECK(verdict(program, code) == undecided);
    std::vector<std::string> reads = program;
    reads.push_back("st.global.f32 [%p], %f2;");
    Code stores = code;
    stores.emplace_back(4, "STG.E desc[UR4][R2.64], R26");
    CHECK(verdict(reads, stores) == refuted);
}

TEST_CASE("a product whose accumulators the next one overwrites may go, and one that feeds it") {
    const auto product = [](int scale) {
        return fmt::format(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{%f0,%f1,%f2,%f3}}, %d0, %d1, {}, 1, 1, "
            "0, 0;",
            scale);
    };
    const std::string fence = "wgmma.fence.sync.aligned;", stores = "st.global.f32 [%p], %f0;";
    const auto of = [&](int second, const std::string& between) {
        return verdict(
            {fence, product(0), commit, wait, between, fence, product(second), commit, wait, stores},
            {{5, "WARPGROUP.ARRIVE"},
             {-1, "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0"},
             {8, "WARPGROUP.DEPBAR.LE gsb0, 0x0"},
             {9, "STG.E desc[UR4][R2.64], R24"}});
    };
    CHECK(of(0, "mov.u32 %r, 0;") == proved);
    CHECK(of(1, "mov.u32 %r, 0;") == refuted);
    CHECK(of(0, "st.global.f32 [%p+64], %f1;") == refuted);
    CHECK(of(0, "add.f32 %f1, %f1, %f2;") == proved);  // nobody reads the sum
}

TEST_CASE("a wait that is never executed covers nothing") {
    const std::vector<std::string> program{
        "wgmma.fence.sync.aligned;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 0, 1, 1, 0, 0;",
        commit, wait, "st.global.f32 [%p], %f0;"};
    const auto of = [&](const std::string& guard) {
        return verdict(program, {{0, "WARPGROUP.ARRIVE"},
                                 {-1, "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0"},
                                 {3, guard + "WARPGROUP.DEPBAR.LE gsb0, 0x0"},
                                 {4, "STG.E desc[UR4][R2.64], R24"}});
    };
    CHECK(of("") == proved);
    CHECK(of("@PT ") == proved);
    CHECK(of("@!PT ") == refuted);
    CHECK(of("@!UPT ") == refuted);
}

TEST_CASE("a bulk copy between the shared memories of CTAs") {
    const std::string copy =
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s+1024], [%s], 64, "
        "[%s+2048];";
    CHECK(verdict({copy}, {{0, "UBLKCP.S.S [UR6], [UR4], UR5"}}) == proved);
    CHECK(verdict({copy}, {}) == refuted);
}

TEST_CASE("what ptxas ignores is no duty") {
    const Code store{{1, "STG.E desc[UR4][R2.64], R5"}};
    const std::string stores = "st.global.u32 [%p], 1;";
    const KeptKernel ignored = kept({"setmaxnreg.dec.sync.aligned.u32 40;", stores}, store);
    CHECK(ignored.findings.empty());
    CHECK(ignored.verdict.kind == undecided);
    CHECK(verdict({"fence.proxy.alias;", stores}, store) == proved);
}

TEST_CASE("stores that are merged, and stores that are overwritten") {
    const std::string a = "st.shared.u32 [%s], %t;", b = "st.shared.u32 [%s+4], %n;";
    CHECK(verdict({a, b}, {{1, "STS.64 [UR4], R2"}}) == undecided);
    CHECK(verdict({a, b}, {{1, "STS [UR4+0x4], R2"}}) == refuted);
    CHECK(verdict({a, b}, {}) == refuted);
    CHECK(verdict({a, a}, {{1, "STS [UR4], R2"}}) == undecided);
    CHECK(verdict({a, a}, {}) == refuted);
    // Registers of the address that differ by a number, and one that changes.
    const std::string next = "add.u32 %r, %s, 4;", moved = "add.u32 %s, %s, 4;";
    CHECK(verdict({next, b, "st.shared.u32 [%r], %t;"}, {{1, "STS [UR4+0x4], R2"}}) == undecided);
    CHECK(verdict({next, a, "st.shared.u32 [%r], %t;"}, {{1, "STS [UR4], R2"}}) == refuted);
    CHECK(verdict({b, moved, a}, {{2, "STS [UR4], R2"}}) == undecided);
    const std::pair<int, std::string> barrier{1, "BAR.SYNC.DEFER_BLOCKING 0x0"};
    CHECK(verdict({a, "bar.sync 0;", a}, {barrier, {2, "STS [UR4], R2"}}) == refuted);
    CHECK(verdict({a, "bar.sync 0;", b}, {barrier, {2, "STS.64 [UR4], R2"}}) == refuted);
    CHECK(verdict({"st.global.u32 [%p], %t;", b}, {{1, "STS.64 [UR4], R2"}}) == refuted);
}

TEST_CASE("an address that is computed twice, and stores of two blocks that become one") {
    const std::string once = "add.u32 %r, %s, %t;", again = "add.u32 %u, %s, %t;";
    CHECK(verdict({once, again, "st.shared.u32 [%r], %n;", "st.shared.u32 [%u], %t;"},
                  {{3, "STS [R4], R2"}}) == undecided);
    CHECK(verdict({once, "add.u32 %u, %s, %n;", "st.shared.u32 [%r], %n;", "st.shared.u32 [%u], %t;"},
                  {{3, "STS [R4], R2"}}) == refuted);
    const std::vector<std::string> arms{"setp.lt.u32 %v0, %t, %n;",
                                        "@%v0 bra other;",
                                        "st.shared.u32 [%s], %n;",
                                        "bra join;",
                                        "other:",
                                        "st.shared.u32 [%s], %t;",
                                        "join:",
                                        "bar.sync 0;"};
    const std::pair<int, std::string> barrier{7, "BAR.SYNC.DEFER_BLOCKING 0x0"};
    CHECK(verdict(arms, {{5, "STS [R4], R2"}, barrier}) == undecided);
    CHECK(verdict(arms, {barrier}) != proved);
    std::vector<std::string> apart = arms;
    apart[2] = "st.shared.u32 [%s+64], %n;";
    CHECK(verdict(apart, {{2, "@P0 STS [R4], R2"}, barrier}) != proved);
}

TEST_CASE("a guard that a branch before it contradicts") {
    const std::vector<std::string> nested{"setp.lt.u32 %v0, %n, 5;", "setp.ge.u32 %v1, %n, 5;",
                                          "@!%v0 bra past;",         "@%v1 st.shared.u32 [%s], %t;",
                                          "@%v1 bar.sync 3;",        "past:",
                                          "st.global.u32 [%p], 1;"};
    const std::pair<int, std::string> store{6, "STG.E desc[UR4][R2.64], R5"};
    CHECK(verdict(nested, {store}) == undecided);
    // The same guard holds before the branch.
    const std::vector<std::string> before{"setp.lt.u32 %v0, %n, 5;",
                                          "@%v0 st.shared.u32 [%s], %t;",
                                          "@%v0 bra past;",
                                          "@%v0 st.shared.u32 [%s+64], %t;",
                                          "past:",
                                          "st.global.u32 [%p], 1;"};
    CHECK(verdict(before, {{1, "@P0 STS [R4], R5"}, {5, "STG.E desc[UR4][R2.64], R5"}}) == undecided);
}

TEST_CASE("values of single threads") {
    // "ld.param.u64 %p" is a line before the statements.
    const std::vector<std::string> program{"mul.wide.u32 %d1, %t, 4;", "add.u64 %d1, %p, %d1;",
                                           "st.global.u32 [%d1+8], %n;"};
    const auto of = [&](const std::string& scale, const std::string& store,
                        const std::string& before = "NOP") {
        return verdict(program, {{-2, "S2R R4, SR_TID.X"},
                                 {-1, "LDC R5, c[0x0][0x218]"},
                                 {-1, "LDC.64 R2, c[0x0][0x210]"},
                                 {-2, "ISETP.GE.U32.AND P0, PT, R4, 0x40, PT"},
                                 {0, "IMAD.WIDE.U32 R2, R4, " + scale + ", R2"},
                                 {2, before},
                                 {2, store}});
    };
    const std::string store = "STG.E desc[UR4][R2.64+0x8], R5";
    CHECK(of("0x4", store) == proved);
    CHECK(of("0x8", store) == refuted);
    CHECK(of("0x4", "STG.E desc[UR4][R2.64+0xc], R5") == refuted);
    CHECK(of("0x4", "STG.E desc[UR4][R2.64+0x8], R4") == refuted);
    CHECK(of("0x4", "@P0 " + store) == refuted);
    CHECK(of("0x4", "@!P0 " + store) == refuted);
    CHECK(of("0x4", store, "@P0 EXIT") == refuted);
    CHECK(of("0x4", "@P1 " + store) == proved);  // nobody knows P1
    CHECK(of("R6", store) == proved);            // nor R6
}

TEST_CASE("registers before their first write, and addresses of 64 bits in uniform registers") {
    const std::vector<std::string> program{"mov.u32 %r, 4096;", "st.global.u32 [%p+64], %r;",
                                           "mov.u32 %u, 7;", "st.global.u32 [%p+128], %u;"};
    const auto of = [&](const Code& loads, const std::string& first) {
        Code code = loads;
        code.insert(code.end(), {{1, first}, {2, "MOV R6, 0x7"}, {3, "STG.E desc[UR8][R2.64+0x80], R6"}});
        return verdict(program, code);
    };
    const Code loads{
        {-1, "LDC.64 R2, c[0x0][0x210]"}, {-1, "ULDC.64 UR4, c[0x0][0x210]"}, {0, "MOV R5, 0x1000"}};
    CHECK(of(loads, "STG.E desc[UR8][R2.64+0x40], R5") == proved);
    CHECK(of(loads, "STG.E desc[UR8][RZ.U32+UR4+0x40], R5") == proved);
    CHECK(of(loads, "STG.E desc[UR8][RZ.U32+UR4+0x44], R5") == refuted);
    // A generic address has 64 bits, whether nvdisasm says so or not.
    CHECK(of(loads, "ST.E [R2+0x40], R5") == proved);
    CHECK(of(loads, "ST.E [R2+0x44], R5") == refuted);
    // R6 is written behind the store; nothing writes R7, which something may do that is not shown.
    CHECK(of(loads, "STG.E desc[UR8][R2.64+0x40], R6") == refuted);
    CHECK(of(loads, "STG.E desc[UR8][R2.64+0x40], R7") == proved);
}

TEST_CASE("a constant that is dropped from a sum of pairs") {
    const std::vector<std::string> program{"mov.b32 %r, 0x00640064;", "add.s16x2 %u, %n, %r;",
                                           "st.global.u32 [%p], %u;"};
    const auto of = [&](const std::string& sum) {
        return verdict(program, {{-1, "LDC R5, c[0x0][0x218]"},
                                 {-1, "LDC.64 R2, c[0x0][0x210]"},
                                 {1, sum},
                                 {2, "STG.E desc[UR4][R2.64], R6"}});
    };
    CHECK(of("VIADD.16x2 R6, R5, 0x640064") == proved);
    CHECK(of("VIADD.16x2 R6, R5, 0x0") == refuted);
    CHECK(of("VIMNMX.S16x2 R6, R5, 0x640064, PT") == proved);  // it is not followed
}

TEST_CASE("a load of which a part is needed") {
    const std::vector<std::string> scalar{"ld.global.u64 %d1, [%p+64];", "cvt.u32.u64 %r, %d1;",
                                          "st.global.u32 [%p], %r;"};
    const std::vector<std::string> pair{"ld.global.v2.u32 {%r, %u}, [%p+64];", "add.u32 %r, %r, %u;",
                                        "st.global.u32 [%p], %r;"};
    const Code narrow{{0, "LDG.E R5, desc[UR4][R2.64+0x40]"}, {2, "STG.E desc[UR4][R2.64], R5"}};
    CHECK(verdict(scalar, narrow) == undecided);
    CHECK(verdict(pair, narrow) == refuted);
}

TEST_CASE("a load whose other results nothing needs") {
    const auto of = [](const std::string& guard, const std::string& value) {
        return verdict(
            {"ld.shared.v2.u32 {%r, %u}, [%s];", "setp.ne.u32 %v0, 0, 0;", "add.u32 %t, " + value + ", 1;",
             guard + "st.global.u32 [%p+8], %t;", "st.global.u32 [%p], %r;"},
            {{0, "LDS R5, [R4]"}, {4, "STG.E desc[UR4][R2.64], R5"}});
    };
    CHECK(of("@%v0 ", "%u") == proved);
    CHECK(of("@%q ", "%u") == undecided);
    CHECK(of("", "%u") == refuted);
    // What is computed of it is not stored.
    CHECK(verdict({"ld.shared.v2.u32 {%r, %u}, [%s];", "add.u32 %u, %u, 1;", "st.global.u32 [%p], %r;"},
                  {{0, "LDS R5, [R4]"}, {2, "STG.E desc[UR4][R2.64], R5"}}) == proved);
}

TEST_CASE("accesses move across what is about other memory") {
    const std::vector<std::string> global{"ld.global.u32 %r, [%p+64];", "st.global.u32 [%p], 1;"},
        shared{"ld.shared.u32 %r, [%s];", "st.shared.u32 [%s+64], 1;"};
    const std::vector<std::string> there{"LDG.E R5, desc[UR4][R2.64+0x40]", "STG.E desc[UR4][R2.64], R6"},
        here{"LDS R5, [R4]", "STS [R4+0x40], R6"};
    /// Behind what comes between, where the program has the access before it: load (0) or store (1).
    const auto moved = [&](bool of_shared, std::size_t access, const std::string& statement,
                           const std::vector<std::string>& instructions) {
        Code code;
        for (const std::string& one : instructions) code.emplace_back(1, one);
        code.emplace_back(0, (of_shared ? here : there)[access]);
        code.emplace_back(2, "STG.E desc[UR4][R2.64+0x80], R5");
        return verdict({(of_shared ? shared : global)[access], statement, "st.global.u32 [%p+128], %r;"},
                       code);
    };
    const std::vector<std::string> fence{"MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC.S"};
    for (const std::size_t access : {0, 1}) {
        CAPTURE(access);
        CHECK(moved(false, access, "fence.proxy.async.shared::cta;", fence) == proved);
        CHECK(moved(true, access, "fence.proxy.async.shared::cta;", fence) == refuted);
        CHECK(moved(false, access, "fence.proxy.async;", fence) == refuted);
        CHECK(moved(true, access, "fence.proxy.async.global;", {"FENCE.VIEW.ASYNC.G"}) == proved);
        CHECK(moved(false, access, "fence.proxy.async.global;", {"FENCE.VIEW.ASYNC.G"}) == refuted);
        CHECK(moved(false, access, "cp.async.commit_group;", {"LDGDEPBAR"}) == proved);
        CHECK(moved(true, access, "cp.async.commit_group;", {"LDGDEPBAR"}) == proved);
        CHECK(moved(true, access, "cp.async.wait_group 0;", {"DEPBAR.LE SB0, 0x0"}) == refuted);
        CHECK(moved(false, access, "bar.sync 0;", {"BAR.SYNC.DEFER_BLOCKING 0x0"}) == refuted);
    }
    // A copy may read what a store would change.
    CHECK(moved(false, 0, "cp.async.wait_group 0;", {"DEPBAR.LE SB0, 0x0"}) == proved);
    CHECK(moved(false, 1, "cp.async.wait_group 0;", {"DEPBAR.LE SB0, 0x0"}) == refuted);
    CHECK(moved(false, 0, "cp.async.bulk.wait_group 0;", {"DEPBAR.LE SB0, 0x0"}) == refuted);
}

TEST_CASE("a barrier whose number and count are in one register") {
    const std::vector<std::string> program{"add.u32 %r, %n, 1;", "and.b32 %r, %r, 7;", "bar.sync %r, 128;",
                                           "st.global.u32 [%p], 1;"};
    const auto of = [&](const std::string& mask) {
        return verdict(program, {{-1, "LDC R5, c[0x0][0x218]"},
                                 {0, "VIADD R5, R5, 0x1"},
                                 {1, "LOP3.LUT R5, R5, " + mask + ", RZ, 0xc0, !PT"},
                                 {2, "LOP3.LUT R5, R5, 0x800000, RZ, 0xfc, !PT"},
                                 {2, "BAR.SYNC.DEFER_BLOCKING R5, R5"},
                                 {3, "STG.E desc[UR4][R2.64], R5"}});
    };
    CHECK(of("0x7") == proved);
    CHECK(of("0x6") == refuted);
}

TEST_CASE("what a division by zero gives is not compared") {
    const std::vector<std::string> program{"mov.u32 %r, 0;", "div.u32 %u, %t, %r;",
                                           "st.global.u32 [%p], %u;"};
    CHECK(verdict(program, {{-1, "LDC.64 R2, c[0x0][0x210]"},
                            {1, "MOV R5, 0x77"},
                            {2, "STG.E desc[UR4][R2.64], R5"}}) == proved);
}

TEST_CASE("guards that may never hold") {
    const std::string stores = "st.global.u32 [%p], 1;", store = "STG.E desc[UR4][R2.64], R5";
    CHECK(verdict({"@%q bar.sync 2, 128;", stores}, {{1, store}}) == undecided);
    CHECK(verdict({"@%q st.shared.u32 [%s], 1;", stores}, {{1, store}}) == undecided);
    CHECK(verdict({"@!%q bar.sync 1, 128;", "@%q bar.sync 2, 128;"},
                  {{0, "BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"}}) == undecided);
    // Without optimisation it is there.
    const std::vector<std::string> never{"mov.u32 %r, 0;", "setp.eq.u32 %v0, %r, 1;", "@%v0 bar.sync 5;"};
    CHECK(verdict(never, {}) == proved);
    CHECK(verdict(never, {{2, "@P0 BAR.SYNC.DEFER_BLOCKING 0x5"}}) == proved);
    // Numbers of the launch are compared, and a mask: ptxas cannot know.
    CHECK(verdict({"setp.lt.u32 %v0, %t, %n;", "@%v0 st.global.u32 [%p], 1;"}, {}) == refuted);
    CHECK(verdict({"setp.lt.u32 %v1, %t, %n;", "and.b32 %r, %t, 31;", "setp.eq.u32 %v2, %r, 0;",
                   "and.pred %v3, %v1, %v2;", "@%v3 bar.sync 1, 128;"},
                  {}) == refuted);
    CHECK(verdict({"and.b32 %r, %t, 31;", "setp.gt.u32 %v1, %r, 40;", "@%v1 bar.sync 1, 128;"}, {}) ==
          undecided);
    // A value is compared with itself.
    CHECK(verdict({"ld.global.u32 %r, [%p+64];", "setp.ne.u32 %v0, %r, %r;", "@%v0 st.global.u32 [%p], 1;"},
                  {{0, "LDG.E R5, desc[UR4][R2.64+0x40]"}}) == undecided);
    // Another operation with the same guard is there.
    CHECK(verdict({"@%q bar.sync 1, 128;", "@%q bar.sync 2, 128;"},
                  {{0, "@P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"}}) == refuted);
    CHECK(verdict({"@%q bar.sync 1, 128;", "setp.eq.u32 %q, %t, 999;", "@%q bar.sync 2, 128;"},
                  {{0, "@P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"}}) == undecided);
}
