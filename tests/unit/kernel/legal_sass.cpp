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
.reg .b64 %p, %d<2>; .reg .b32 %n, %t, %s, %r; .reg .pred %q, %v<4>; .reg .f32 %f<4>;
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
    // Another operation with the same guard is there.
    CHECK(verdict({"@%q bar.sync 1, 128;", "@%q bar.sync 2, 128;"},
                  {{0, "@P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"}}) == refuted);
    CHECK(verdict({"@%q bar.sync 1, 128;", "setp.eq.u32 %q, %t, 999;", "@%q bar.sync 2, 128;"},
                  {{0, "@P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"}}) == undecided);
}
