// What the assembler would refuse: versions, chips, illegal forms. All texts were compared with ptxas 13.0.
#include <fmt/format.h>

#include <string>

#include "isa/later.hpp"
#include "ptx/heading.hpp"
#include "ptx/lower.hpp"
#include "tests/catch.hpp"
#include "tests/ptx_lines.hpp"

using namespace wgrun;

namespace {

struct Heading {
    std::string version = "8.3", target = "sm_90a";
};

std::vector<Diagnostic> refused(const std::string& body, const Heading& heading = {}) {
    const ptx::Parsed parsed = ptx::parse(
        "k.ptx",
        fmt::format(".version {}\n.target {}\n.address_size 64\n.visible .entry k()\n.reqntid 128\n{{\n"
                    ".reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<9>; .reg .b16 %h<9>; "
                    ".reg .pred %p<9>; .shared .align 1024 .b8 s[1024];\n{}\nret;\n}}\n",
                    heading.version, heading.target, body));
    REQUIRE(parsed.errors.empty());
    const ptx::Lowered lowered = ptx::lower(parsed.module, parsed.module.functions.back());
    CHECK(lowered.errors.empty());
    // What is illegal is said, and is not "not checked".
    if (!lowered.refused.empty()) CHECK(lowered.opaque == 0);
    return lowered.refused;
}

Diagnostic one(const std::string& body, const Heading& heading = {}) {
    const std::vector<Diagnostic> all = refused(body, heading);
    INFO(body);
    REQUIRE(all.size() == 1);
    CHECK(all[0].severity == Severity::error);
    return all[0];
}

std::string list(const std::string& name, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i > 0 ? ", " : "", name, i);
    return out + "}";
}

/// A wgmma of that shape and those types with `count` accumulators in registers `of`.
std::string wgmma(const std::string& form, const std::string& of, int count, const std::string& rest) {
    return fmt::format("wgmma.mma_async.sync.aligned.{} {}, {};", form, list(of, count), rest);
}

}  // namespace

TEST_CASE("an instruction of a later version than the text's, and of another chip") {
    const std::vector<Diagnostic> fence = refused("wgmma.fence.sync.aligned;", {"7.8", "sm_90"});
    REQUIRE(fence.size() == 2);
    CHECK(fence[0].message == "wgmma.fence is of .target sm_90a: the text has sm_90");
    CHECK(fence[1].message == "wgmma.fence is of .version 8.0: the text has 7.8");
    const Diagnostic chip =
        one("wgmma.fence.sync.aligned;\nwgmma.commit_group.sync.aligned;", {"8.0", "sm_90"});
    CHECK(chip.message == "wgmma.fence is of .target sm_90a: the text has sm_90");
    CHECK(chip.rule == "WG-FORM-06");
    CHECK(chip.where.line == 8);
    CHECK(chip.fix == ".target sm_90a");
    REQUIRE(chip.notes.size() == 2);
    CHECK(chip.notes[0].where.line == 2);
    CHECK(chip.notes[1].message == "the last of 2 such places");
    CHECK(refused("wgmma.fence.sync.aligned;", {"8.0", "sm_90a"}).empty());
    CHECK(one("setmaxnreg.inc.sync.aligned.u32 160;", {"8.0", "sm_90"}).fix == ".target sm_90a");
    CHECK(one("fence.acquire.cluster;", {"8.5", "sm_90"}).message ==
          "fence is of .version 8.6: the text has 8.5");
    CHECK(refused("fence.acquire.cluster;", {"8.6", "sm_90"}).empty());
    const std::string relaxed = "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [s], 0;";
    CHECK(one(relaxed, {"8.5", "sm_90"}).fix == ".version 8.6, or a later one");
    CHECK(refused(relaxed, {"8.6", "sm_90"}).empty());
}

TEST_CASE("a version that does not have the chip") {
    const Diagnostic alone = one("mov.u32 %r1, 1;", {"7.8", "sm_90a"});
    CHECK(alone.message == ".target sm_90a came with .version 8.0: the text has 7.8");
    CHECK(alone.where.line == 2);
    CHECK(one("mov.u32 %r1, 1;", {"7.5", "sm_90"}).fix == ".version 7.8, or a later one");
    CHECK(refused("mov.u32 %r1, 1;", {"6.5", "sm_75"}).empty());
    CHECK(refused("mov.u32 %r1, 1;", {"7.8", "sm_90"}).empty());
}

TEST_CASE("illegal forms of wgmma name what is legal") {
    const std::string in_shared = "%rd1, %rd2, 0";
    CHECK(one(wgmma("m64n40k32.s32.s8.s8", "r", 20, in_shared)).message ==
          "wgmma.mma_async: n=40 is not legal for d=s32, a=s8, b=s8, a_in=shared (legal: 8, 16, 24, 32, 48, "
          "64, 80, "
          "..., 256)");
    CHECK(one(wgmma("m64n40k32.s32.s8.s8", "r", 20, in_shared)).fix == "n = 32 or 48");
    CHECK(one(wgmma("m64n12k16.f32.bf16.bf16", "f", 6, in_shared + ", 1, 1, 0, 0")).fix == "n = 8 or 16");
    CHECK(one(wgmma("m64n264k16.f32.bf16.bf16", "f", 4, in_shared + ", 1, 1, 0, 0")).fix == "n = 256");
    CHECK(one(wgmma("m64n8k16.f32.tf32.tf32", "f", 4, in_shared + ", 1, 1")).fix == "k = 8");
    CHECK(one(wgmma("m64n8k16.f16.bf16.bf16", "r", 2, in_shared + ", 1, 1, 0, 0")).fix == "d = f32");
    const Diagnostic transposed = one(wgmma("m64n8k32.f32.e4m3.e4m3", "f", 4, in_shared + ", 1, 1, 0, 1"));
    CHECK(transposed.message.starts_with("wgmma.mma_async takes no `trans_"));
    CHECK(transposed.fix.starts_with("no transpose immediates"));
    CHECK(one(wgmma("m64n8k8.f32.tf32.tf32", "f", 4, in_shared + ", 1, 1, 1, 0")).rule == "WG-FORM-01");
    CHECK(one(wgmma("m64n8k32.s32.s8.s8", "r", 4, in_shared + ", 1, 1")).message.find("takes no `scale_") !=
          std::string::npos);
    CHECK(one(wgmma("m64n8k16.f32.bf16.f16", "f", 4, in_shared + ", 1, 1, 0, 0")).rule == "WG-FORM-01");
    // In registers A has no transposition, and two immediates too many are told as such.
    CHECK(one(wgmma("m64n8k16.f32.bf16.bf16", "f", 4, "{%r1, %r2, %r3, %r4}, %rd2, 0, 1, 1, 0, 0")).rule ==
          "WG-FORM-01");
    CHECK(refused(wgmma("m64n8k16.f32.bf16.bf16", "f", 4, "{%r1, %r2, %r3, %r4}, %rd2, 0, 1, 1, 0")).empty());
    CHECK(refused(wgmma("m64n48k32.s32.s8.s8", "r", 24, in_shared)).empty());
}

TEST_CASE("lists of another length, and numbers out of range") {
    const Diagnostic accumulators =
        one(wgmma("m64n16k16.f32.bf16.bf16", "f", 4, "%rd1, %rd2, 0, 1, 1, 0, 0"));
    CHECK(accumulators.rule == "WG-FORM-02");
    CHECK(accumulators.message.find("8 registers are expected, not 4") != std::string::npos);
    CHECK(one("setmaxnreg.inc.sync.aligned.u32 100;").message ==
          "setmaxnreg, operand n: 100 is out of range (legal: 24 to 256 in steps of 8)");
    CHECK(one("setmaxnreg.dec.sync.aligned.u32 16;").rule == "WG-FORM-02");
    CHECK(one("bar.sync 16;").message == "bar.sync, operand barrier: 16 is out of range (legal: 0 to 15)");
    CHECK(refused("setmaxnreg.dec.sync.aligned.u32 24;\nbar.sync 15;").empty());
    CHECK(refused("mbarrier.arrive.expect_tx.shared.b64 _, [s], 0;").empty());
}

TEST_CASE("instructions of later chips") {
    const Diagnostic later = one("tcgen05.wait::ld.sync.aligned;", {"9.0", "sm_90a"});
    CHECK(later.message == "tcgen05.wait::ld.sync.aligned is of .target sm_100a: the text has sm_90a");
    CHECK(one("add.rn.f32x2 %rd1, %rd2, %rd3;", {"9.0", "sm_90a"}).fix == ".target sm_100");
    CHECK(one("mov.u32 %r1, s;\nst.bulk.weak.shared::cta [%r1], 64, 0;", {"9.0", "sm_90a"}).rule ==
          "WG-FORM-06");
    CHECK(one("ld.global.v4.u64 {%rd2, %rd3, %rd4, %rd5}, [%rd1];", {"9.0", "sm_90a"}).rule == "WG-FORM-06");
    CHECK(one("mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0;", {"8.0", "sm_89"}).message ==
          "mbarrier.try_wait.parity is of .target sm_90: the text has sm_89");
    CHECK(one("cp.async.ca.shared.global [s], [%rd1], 16;", {"8.0", "sm_75"}).fix == ".target sm_80");
    CHECK(refused("cp.async.ca.shared.global [s], [%rd1], 16;", {"8.0", "sm_80"}).empty());
    CHECK_FALSE(isa::first_chip_of("ld.global.v4.u32"));
    CHECK(isa::first_chip_of("redux.sync.add.s32") == isa::Arch{80});
    CHECK_FALSE(isa::first_chip_of("cvt.rn.f16x2.f32"));
    CHECK_FALSE(isa::first_chip_of("ld.param.v8.b16"));
}

TEST_CASE("of other opcodes a text may have forms that no row has") {
    for (const char* taken :
         {"atom.acq_rel.sys.add.L2::cache_hint.u32 %r0, [%rd1], %r2, %rd3;", "set.eq.bf16.b16 %h0, %h1, %h2;",
          "mapa.s32 %r0, %r1, %r2;",
          "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r0, %r1}, {%r2, %r3, %r4, %r5}, "
          "{%r6, %r7}, {%r0, %r1};"}) {
        INFO(taken);
        CHECK(refused(taken, {"9.0", "sm_90a"}).empty());
    }
    CHECK(one("cp.async.ca.shared.global [%r1], [%rd1], 12;").fix == "bytes = 8 or 16");
    CHECK(one("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r2, %r3, %r4}, [%r1];").rule == "WG-FORM-01");
    CHECK(one("mma.sync.aligned.m16n8k64.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, "
              "%r4}, {%r1, "
              "%r2}, {%f0, %f1, %f2, %f3};")
              .fix == "k = 16");
}

TEST_CASE("fences for some accesses alone are read") {
    for (const char* fence : {"fence.acquire.sync_restrict::shared::cluster.cluster;",
                              "fence.release.sync_restrict::shared::cta.cluster;",
                              "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                              "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"}) {
        INFO(fence);
        CHECK(refused(fence, {"8.6", "sm_90"}).empty());
        CHECK(one(fence, {"8.5", "sm_90"}).rule == "WG-FORM-06");
    }
}

TEST_CASE("a text for a later chip has no rules") {
    const auto chip = [](const std::string& target) {
        return ptx::later_chip(ptx::parse("k.ptx", fmt::format(".version 8.7\n.target {}\n", target)).module);
    };
    const auto blackwell = chip("sm_100a");
    REQUIRE(blackwell);
    CHECK(blackwell->where.line == 2);
    CHECK(blackwell->message ==
          "the text is for sm_100a, of which wgrun has no rules: nothing of it is checked");
    CHECK(chip("sm_103f"));
    CHECK(chip("sm_120"));
    CHECK(chip("sm_100a, debug"));
    CHECK_FALSE(chip("sm_90a"));
    CHECK_FALSE(chip("sm_90, texmode_unified"));
    CHECK_FALSE(chip("sm_80"));
}

TEST_CASE("words that no instruction has, words that are missing, and operands that are too few") {
    const Diagnostic strange = one("ld.global.foo.u32 %r0, [%rd1];");
    CHECK(strange.rule == "WG-FORM-01");
    CHECK(strange.message == "PTX has no ld.global.foo.u32: `.foo` is none of its words");
    CHECK(strange.fix == "ld.global.u32");
    CHECK(one("mbarrier.arrive.release.gpu.shared::cta.b64 %rd0, [s];").rule == "WG-FORM-01");
    for (const char* missing :
         {"mul.u32 %r0, %r1, %r2;", "cvt.f16.f32 %h0, %f0;", "fma.f32 %f0, %f1, %f2, %f3;",
          "cvt.rn.e4m3x2.f32 %h0, %f0, %f1;", "ex2.f32 %f0, %f1;"}) {
        INFO(missing);
        CHECK(one(missing).rule == "WG-FORM-01");
    }
    CHECK(one("mbarrier.arrive.expect_tx.shared.b64 %rd0, [s];").message ==
          "mbarrier.arrive.expect_tx.shared.b64 has 2 operands (legal: 3)");
    CHECK(one("mbarrier.arrive.expect_tx.shared.b64 %rd0, [s];").rule == "WG-FORM-02");
    // What assemblers do without, and the order of the words.
    for (const char* taken : {"wgmma.fence.sync;",
                              "cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B [%r1], "
                              "[%rd1], 4, 2, %rd2;",
                              "mbarrier.init.b64 [%rd0], 1;", "cvt.sat.f32.f32 %f0, %f1;"}) {
        INFO(taken);
        CHECK(refused(taken).empty());
    }
}

TEST_CASE("illegal lines are refused, and legal ones are not") {
    const auto lowered = [](const std::string& line) {
        const ptx::Parsed parsed = ptx::parse(
            "k.ptx",
            ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.maxntid 128\n{\n" +
                test::line_registers + line + ";\nret;\n}\n");
        REQUIRE(parsed.errors.empty());
        return ptx::lower(parsed.module, parsed.module.functions.back()).refused;
    };
    for (const std::string& line : test::illegal_lines) {
        const std::vector<Diagnostic> refused = lowered(line);
        INFO(line);
        REQUIRE(refused.size() == 1);
        CHECK(refused[0].rule.starts_with("WG-FORM-0"));
    }
    for (const std::string& line : test::legal_lines)
        if (const std::vector<Diagnostic> refused = lowered(line); !refused.empty())
            FAIL_CHECK(line << ": " << refused[0].message);
}

TEST_CASE("a refusal of an illegal opcode or operand lists the legal ones") {
    const auto told = [](const std::string& body) {
        const Diagnostic finding = one(body, {"9.0", "sm_90a"});
        return fmt::format("{} [{}] {}", finding.message, finding.rule, finding.fix);
    };
    CHECK(told("cvt.f16.f32 %h0, %f0;") ==
          "PTX has no cvt.f16.f32 [WG-FORM-01] cvt.rm.f16.f32, or cvt.rn.f16.f32, or cvt.rz.f16.f32");
    CHECK(told("atom.global.add.f16 %h0, [%rd1], %h1;") ==
          "PTX has no atom.global.add.f16 [WG-FORM-01] atom.global.add.noftz.f16");
    CHECK(told("shl.b32 %r0, %r1, %rd2;") ==
          "the third operand of shl.b32 is in a register of .b64 (legal: .b32, .u32, .s32) [WG-FORM-02] ");
    CHECK(told("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1}, {%r0, %r1, %r2, %r3}, {%r4, "
               "%r5}, {%f4, %f5, %f6, %f7};") ==
          "the first operand of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 has 2 elements (legal: 4) "
          "[WG-FORM-02] ");
    CHECK(told("elect.sync %p0, -1;") == "the first operand of elect.sync is no pair, a|b [WG-FORM-02] ");
    CHECK(told("mbarrier.init.b64 %rd1, 1;") ==
          "the first operand of mbarrier.init.b64 is no address in brackets [WG-FORM-02] ");
}
