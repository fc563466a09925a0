#include "ptx/lower.hpp"

#include <string>

#include "isa/opaque.hpp"
#include "tests/catch.hpp"

using namespace wgrun;

namespace {

ptx::Lowered lowered(const std::string& body, const std::string& parameters = "",
                     const std::string& module = "") {
    const ptx::Parsed parsed = ptx::parse("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n" +
                                                       module + ".visible .entry k(" + parameters +
                                                       ")\n.reqntid 128, 1, 1\n{\n" + body + "\n}\n");
    for (const Diagnostic& error : parsed.errors) UNSCOPED_INFO(to_text(error));
    REQUIRE(parsed.errors.empty());
    return ptx::lower(parsed.module, parsed.module.functions.back());
}

/// The names of all steps.
std::vector<std::string> names(const Program& program) {
    std::vector<std::string> out;
    for_each_step(program, [&](const Step& step) { out.emplace_back(step.op->name); });
    return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("instructions become steps of their records, with the line of the text") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .pred p;\nmov.u32 %r1, %tid.x;\n@!p add.s32 %r2, %r1, -1;\n"
        "setp.lt.s32 p, %r2, 0x10;\nret;");
    CHECK(names(k.program) == Names{"special", "add", "setp"});
    CHECK(k.instructions == 4);
    CHECK(k.opaque == 0);
    CHECK(k.errors.empty());
    const Step& add = k.program.blocks()[0].steps[1];
    CHECK(add.where == Where::at("k.ptx", 10));
    CHECK(add.guard_negated);
    CHECK(add.operands[2].imm == -1);
    CHECK(k.program.threads() == 128);
    // Registers that are declared and not used cost nothing.
    CHECK(k.program.registers().size() == 3);
}

TEST_CASE("of the shared memory at module level a kernel has what it refers to") {
    // What ptxas -v says of them: 40000 and 40056 bytes. A function whose address stands in an initial value
    // may be called.
    const ptx::Parsed parsed = ptx::parse("k.ptx", R"(.version 8.0
.target sm_90a
.address_size 64
.func reads();
.func calls();
.shared .align 8 .b8 a[40000], b[40000], c[16], d[16], e[24], unused[200000];
.global .u64 table[1] = { reads };
.visible .entry first() .reqntid 32, 1, 1 { .reg .b32 %r<4>; mov.u32 %r1, 7; st.shared.u32 [a+16], %r1; ret; }
.visible .entry second() .reqntid 32, 1, 1 {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; mov.u32 %r1, b; mov.u64 %rd1, table; call calls; ret; }
.func calls() { .reg .b32 %r<4>; ld.shared.v2.u32 {%r1, %r2}, [c]; mov.u32 %r3, d; ret; }
.func reads() { .reg .b32 %r<4>; ld.shared.u32 %r1, [e]; ret; }
)");
    REQUIRE(parsed.errors.empty());
    std::vector<std::int64_t> bytes;
    for (const ptx::Function& function : parsed.module.functions) {
        if (!function.entry) continue;
        const ptx::Lowered k = ptx::lower(parsed.module, function);
        CHECK(k.errors.empty());
        bytes.push_back(k.program.shared_bytes());
    }
    CHECK(bytes == std::vector<std::int64_t>{40000, 40056});
}

TEST_CASE("a declaration of a billion registers costs nothing") {
    const ptx::Lowered k = lowered(".reg .b32 %r<2000000000>;\nmov.b32 %r1999999999, 1;\nret;");
    CHECK(k.program.registers().size() == 1);
    CHECK(k.errors.empty());
}

TEST_CASE("names belong to their scope, labels too") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<4>;\n.reg .pred p;\n"
        "{ .reg .b32 p; W: mov.b32 p, 1; bra D; bra W; D: }\n"
        "{ .reg .b64 p; W: mov.b64 p, 2; bra D; bra W; D: }\n"
        "@p bra E;\nmov.b32 %r1, 3;\nE: ret;");
    CHECK(k.errors.empty());
    CHECK(names(k.program) == Names{"mov", "mov", "mov"});
    CHECK(k.program.registers().size() == 4);
}

TEST_CASE("names that end with digits themselves") {
    const ptx::Lowered k = lowered(".reg .b32 %r1<3>, %r<20>;\nmov.b32 %r11, 1;\nmov.b32 %r19, 2;\nret;");
    CHECK(k.errors.empty());
    CHECK(k.program.registers().size() == 2);
}

TEST_CASE("what nothing declares is an error") {
    const ptx::Lowered k = lowered(".reg .b32 %r<4>;\nmov.b32 %r4, 1;\nbra nowhere;\n@q bra L;\nL:\nL: ret;");
    REQUIRE(k.errors.size() == 4);
    CHECK(k.errors[0].message == "no register is called `%r4` here");
    CHECK(k.errors[1].message == "no label is called `nowhere` here");
    CHECK(k.errors[2].message == "no predicate is called `q` here");
    CHECK(k.errors[3].message == "the label `L` is here twice");
}

TEST_CASE("the graph follows branches, returns and exits") {
    const ptx::Lowered k = lowered(
        ".reg .pred p;\n.reg .b32 %r<3>;\nTOP:\nmov.b32 %r1, 1;\n@p bra TOP;\n@!p exit;\n"
        "mov.b32 %r2, 2;\nbra.uni END;\nEND: ret;");
    CHECK(k.errors.empty());
    const auto& blocks = k.program.blocks();
    int branches = 0, exits = 0;
    for (const BasicBlock& block : blocks) {
        branches += block.end == BasicBlock::End::branch;
        exits += block.end == BasicBlock::End::exit;
    }
    CHECK(branches == 2);
    CHECK(exits >= 1);
}

TEST_CASE("an unknown instruction is kept, and stops nothing") {
    const ptx::Lowered k =
        lowered(".reg .b32 %r<9>;\nfancy.new.b32 %r1, [%r2+8], {%r3, %r4};\nmov.b32 %r5, %r1;\nret;");
    CHECK(names(k.program) == Names{"opaque", "mov"});
    CHECK(k.opaque == 1);
    CHECK(k.unread.at("fancy.new.b32") == std::vector{8});
    const Step& step = k.program.blocks()[0].steps[0];
    CHECK(isa::is_opaque(*step.op));
    CHECK(step.operands[0].list.size() == 1);
    CHECK(step.operands[1].list.size() == 3);
}

TEST_CASE("addresses of local memory are read, and the memory is the program's") {
    const ptx::Lowered k = lowered(
        ".local .align 16 .b8 depot[40];\n.local .b32 one;\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n"
        "mov.u64 %rd1, depot;\nmov.b64 %rd2, depot+8;\nmov.u64 %rd3, one;\ncvta.local.u64 %rd4, %rd1;\n"
        "st.local.u32 [%rd2+4], %r1;\nret;");
    CHECK(k.unread.empty());
    CHECK(names(k.program) == Names{"local.address", "local.address", "local.address", "cvta", "st"});
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].operands[1].imm == 0);
    CHECK(steps[1].operands[1].imm == 8);
    CHECK(steps[2].operands[1].imm == 40);
    CHECK(k.program.local_bytes() == 44);
    CHECK(k.program.local_align() == 16);
}

TEST_CASE("structures that are passed by value are read at offsets and through addresses") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .b16 %rs<9>;\n"
        "ld.param.u32 %r1, [s+4];\nld.param.v2.u64 {%rd1, %rd2}, [s+16];\nmov.b64 %rd3, s;\n"
        "ld.param.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd3+-8];\ncvta.param.u64 %rd4, %rd3;\n"
        "mov.b32 %r2, n;\nld.param.u32 %r3, [n];\nld.param.u64 %rd5, [s];\nret;",
        ".param .u32 n, .param .align 16 .b8 s[40]");
    CHECK(k.unread.empty());
    CHECK(names(k.program) == Names{"ld.param.at", "ld.param.at", "param.address", "ld.param.at",
                                    "cvta.param.at", "param.address", "ld.param", "ld.param.at"});
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].operands[1].index == 1);
    CHECK(steps[0].operands[1].offset == 4);
    CHECK(k.program.params()[1].structure == 40);
    CHECK(k.program.param_offset(1) == 16);
    CHECK(k.program.param_offset(2) == 56);
}

TEST_CASE("addresses of 64 bits in shared memory are halved") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
        "stmatrix.sync.aligned.x2.m8n8.shared.b16 [%rd1+16], {%r1, %r2};\nld.shared.u32 %r3, [%rd2];\n"
        "ld.global.u32 %r3, [%rd2];\nld.shared.u32 %r3, [%r1];\nret;");
    CHECK(k.unread.empty());
    CHECK(names(k.program) == Names{"cvt", "stmatrix", "cvt", "ld", "ld", "ld"});
}

TEST_CASE("equivalent spellings are the same instruction") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .f32 %f<4>;\n.reg .pred p;\n"
        "mad.rn.f32 %f1, %f2, %f3, %f1;\nfma.rn.f32 %f1, %f2, %f3, %f1;\n"
        "mbarrier.init.shared.b64 [%r1], 1;\nmbarrier.init.shared::cta.b64 [%r1], 1;\n"
        "barrier.sync.aligned 0;\nbar.sync 0;\nld.weak.shared.b32 %r1, [%r2];\nret;");
    CHECK(k.unread.empty());
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].form == steps[1].form);
    CHECK(steps[2].form == steps[3].form);
    CHECK(steps[4].op == steps[5].op);
}

TEST_CASE("A in registers: the last numbers of a wgmma mean what its form has") {
    std::string d;
    for (int i = 0; i < 4; ++i) d += (i > 0 ? ", %f" : "%f") + std::to_string(i);
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .f32 %f<4>;\n.reg .pred p;\n.reg .b64 %rd<2>;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" +
        d +
        "}, {%r0, %r1, %r2, %r3}, %rd0, p, 1, -1, 1;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {" +
        d + "}, %rd1, %rd0, 0, -1, 1, 0, 1;\nret;");
    CHECK(k.unread.empty());
    const auto& steps = k.program.blocks()[0].steps;
    using isa::Field;
    CHECK(steps[0].form.get(Field::scale_b) == -1);
    CHECK(steps[0].form.get(Field::trans_b) == 1);
    CHECK_FALSE(steps[0].form.has(Field::trans_a));
    CHECK(steps[1].form.get(Field::scale_a) == -1);
    CHECK(steps[1].form.get(Field::trans_a) == 0);
    CHECK(steps[1].operand("scale_d").imm == 0);
}

TEST_CASE("constants in a vector come from registers that hold them") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .b64 "
        "%rd<4>;\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {0, %r2}], [%r3];\nret;");
    CHECK(names(k.program) == Names{"mov", "cp.async.bulk.tensor"});
}

TEST_CASE("variables in shared memory are buffers; all arrays without a size begin the dynamic memory") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.shared .align 8 .b64 bar[4];\nmov.u32 %r1, bar;\nmov.u32 %r2, a;\nadd.s32 %r3, "
        "%r2, 4;\n"
        "st.shared.u32 [b+16], %r3;\nld.shared.u32 %r5, [flag];\nret;",
        "",
        ".extern .shared .align 128 .b8 a[];\n.extern .shared .align 1024 .b8 b[];\n.shared .b32 flag;\n");
    CHECK(k.errors.empty());
    CHECK(k.unread.empty());
    REQUIRE(k.program.shared().size() == 3);
    CHECK(k.program.shared()[1].bytes == 32);
    CHECK(k.program.shared()[2].align == 1024);
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].operands[1].index == 1);
    CHECK(steps[1].operands[1].index == 2);
    CHECK(steps[3].operands[0].index == 2);
    CHECK(steps[3].operands[0].offset == 16);
}

TEST_CASE("places in the source, with the calls that were inlined") {
    const ptx::Parsed parsed = ptx::parse(
        "k.ptx",
        ".version 8.0\n.target sm_90a\n.address_size 64\n.file 1 \"a.cu\"\n.file 2 \"b.cuh\"\n.entry k()\n{\n"
        ".loc 2 7 1, function_name $n, inlined_at 2 9 3\nret;\n.loc 2 9 3, function_name $m, inlined_at 1 30 "
        "5\nret;\n"
        ".loc 1 31 1\nret;\n}\n");
    REQUIRE(parsed.errors.empty());
    const std::vector<Where> inner = ptx::sources_of(parsed.module, 9);
    REQUIRE(inner.size() == 3);
    CHECK(inner[0] == Where::at("b.cuh", 7));
    CHECK(inner[1] == Where::at("b.cuh", 9));
    CHECK(inner[2] == Where::at("a.cu", 30));
    CHECK(ptx::sources_of(parsed.module, 13) == std::vector{Where::at("a.cu", 31)});
    CHECK(ptx::sources_of(parsed.module, 3).empty());
}

TEST_CASE("qualifiers in another order are the same instruction") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<4>;\n.reg .pred p;\n"
        "atom.acq_rel.gpu.global.add.f32 %f1, [%rd1], %f2;\natom.global.gpu.acq_rel.add.f32 %f1, [%rd1], "
        "%f2;\n"
        "ld.acquire.gpu.global.b32 %r1, [%rd1];\nld.global.gpu.acquire.b32 %r1, [%rd1];\n"
        "red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};\n"
        "cvt.f32.rn.u32 %f1, %r1;\nsetp.u32.lt p, %r1, %r2;\nret;");
    CHECK(k.unread.empty());
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].form == steps[1].form);
    CHECK(steps[2].form == steps[3].form);
    // The types of a conversion keep their order.
    CHECK(steps[5].form.type() == isa::Type::f32);
    CHECK(steps[5].form.type(isa::Field::from) == isa::Type::u32);
    // What a record spells out does, too: this is no copy from shared to global memory.
    CHECK(lowered(".reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n"
                  "cp.async.bulk.shared::cta.bulk_group.global [%rd1], [%r1], 16;\nret;")
              .program.blocks()[0]
              .steps[0]
              .op->name == "opaque");
}

TEST_CASE("the inner %r<n> hides as many registers as it declares") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<100>;\n{ .reg .b64 %r<4>;\nmov.b64 %r3, 1;\nmov.b32 %r4, 2; }\nmov.b32 %r3, 3;\nret;");
    CHECK(k.errors.empty());
    CHECK(k.opaque == 0);
    CHECK(k.program.registers().size() == 3);
}

// Triton's conversion of e4m3 declares its registers so.
TEST_CASE("a and a<2> are three registers") {
    const ptx::Lowered k = lowered(
        ".reg .b16 %h;\n.reg .b32 %r;\nmov.b16 %h, 1;\n{ .reg .b32 a;\n.reg .f16 a<2>;\n"
        "cvt.rn.f16x2.e4m3x2 a, %h;\nmov.b32 {a0, a1}, a;\nmov.b32 %r, {a1, a0}; }\nret;");
    CHECK(k.errors.empty());
    CHECK(k.opaque == 0);
    CHECK(k.program.registers().size() == 5);
}

TEST_CASE("results that nobody wants") {
    const ptx::Lowered k = lowered(".reg .b32 %r<4>;\n.reg .b16 %h<4>;\nmov.b32 {_, %h1}, %r1;\nret;");
    CHECK(names(k.program) == Names{"unpack"});
    // One that a record can do without is left out.
    const ptx::Lowered elected = lowered(".reg .pred p;\nelect.sync _|p, -1;\nret;");
    CHECK(elected.errors.empty());
    CHECK(elected.program.registers().size() == 1);
}

TEST_CASE("the condition code is a predicate that no operand names") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\nmad.lo.cc.u32 %r1, %r2, %r3, %r4;\nmadc.hi.u32 %r5, %r2, %r3, 0;\n"
        "add.cc.s32 %r1, %r1, %r2;\naddc.cc.s32 %r1, %r1, 5;\nsubc.s32 %r1, %r1, %r2;\nret;");
    CHECK(k.unread.empty());
    CHECK(names(k.program) == Names{"mad.cc", "madc", "add.cc", "addc.cc", "subc"});
    const auto& steps = k.program.blocks()[0].steps;
    CHECK(steps[0].operand("cc").reg == steps[1].operand("cc_in").reg);
    CHECK(k.program.registers()[steps[0].operand("cc").reg.id].type == isa::Type::pred);
}

TEST_CASE("variables of the module are parameters that the launch does not pass") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.const.u32 %r1, [table+4];\nmov.u64 %rd1, count;\n"
        "cvta.global.u64 %rd2, count;\nst.global.u32 [count], %r1;\natom.global.add.u32 %r2, [%rd1], 1;\n"
        "mov.u64 %rd3, table;\ncvta.const.u64 %rd4, %rd3;\nret;",
        ".param .u32 n",
        ".const .align 4 .u32 table[3] = {1, -2};\n.global .u32 count;\n.global .f32 other = 0f3F800000;\n");
    CHECK(k.unread.empty());
    CHECK(k.errors.empty());
    REQUIRE(k.variables.size() == 2);
    CHECK(k.program.params().size() == 3);
    CHECK(k.program.passed_params() == 1);
    CHECK(k.variables[0].name == "table");
    CHECK(k.variables[0].constant);
    CHECK(k.variables[0].bytes.size() == 12);
    CHECK(k.variables[0].bytes[4] == std::byte{0xFE});
    CHECK(k.variables[0].bytes[8] == std::byte{0});
    CHECK_FALSE(k.variables[1].constant);
}

TEST_CASE("a variable with the address of another one is not followed") {
    const ptx::Lowered k = lowered(".reg .b64 %rd<3>;\nmov.u64 %rd1, table;\nret;", "",
                                   ".global .u32 x;\n.global .u64 table[1] = {x};\n");
    CHECK(k.opaque == 1);
}

TEST_CASE("a function is read in place of its calls") {
    const std::string twice =
        ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<3>;\n.reg .pred p;\n"
        "ld.param.b32 %r1, [in];\nsetp.eq.u32 p, %r1, 0;\n@p bra ZERO;\nadd.u32 %r1, %r1, %r1;\nZERO:\n"
        "st.param.b32 [out], %r1;\nret;\n}\n";
    const std::string call =
        "{ .param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall.uni (b), twice, (a);\n"
        "ld.param.b32 %r1, [b];\n}\n";
    const ptx::Lowered k =
        lowered(".reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\n" + call + call + "ret;", "", twice);
    CHECK(k.errors.empty());
    CHECK(k.unread.empty());
    CHECK_FALSE(k.unknown.calls);
    const Names all = names(k.program);
    CHECK(std::ranges::count(all, "setp") == 2);
    CHECK(std::ranges::count(all, "opaque") == 0);
}

TEST_CASE("calls that cannot be followed are said") {
    const std::string call = ".reg .b32 %r<9>;\ncall.uni again;\nret;";
    CHECK(lowered(call, "", ".func again()\n{\ncall again;\nret;\n}\n").unknown.calls);
    CHECK(lowered(call, "", ".extern .func again();\n").unknown.calls);
}

TEST_CASE("a branch by an index is one to each label of its list") {
    const std::string body =
        ".reg .b32 %r<4>;\n.reg .pred p;\nmov.u32 %r1, %tid.x;\n"
        "list: .branchtargets A, B,\n C;\n@!p brx.idx %r1, list;\nmov.b32 %r2, 0;\nbra C;\n"
        "A: mov.b32 %r2, 1;\nbra C;\nB: mov.b32 %r2, 2;\nC: ret;";
    const ptx::Lowered k = lowered(body);
    CHECK(k.errors.empty());
    CHECK(k.opaque == 0);
    CHECK_FALSE(k.unknown.indirect);
    CHECK(names(k.program) == Names{"special", "setp", "setp", "mov", "mov", "mov"});
    // Each label that is listed begins a block, and each comparison ends one.
    CHECK(k.program.blocks().size() >= 7);
    const ptx::Lowered wrong = lowered(
        ".reg .b32 %r<4>;\nmov.b32 %r1, 0;\nlist: .branchtargets A, nowhere;\nbrx.idx %r1, list;\nA: ret;");
    REQUIRE(wrong.errors.size() == 1);
    CHECK(wrong.errors[0].message == "no label is called `nowhere` here");
    // A list that is not known leaves open where the branch leads.
    const ptx::Lowered unknown = lowered(".reg .b32 %r<4>;\nmov.b32 %r1, 0;\nbrx.idx %r1, elsewhere;\nret;");
    CHECK(unknown.unknown.indirect);
}

TEST_CASE("an alias is another name of a function") {
    const ptx::Lowered k = lowered("call.uni second;\nret;", "",
                                   ".func first() { .reg .b32 %r; mov.b32 %r, 1; ret; }\n.func second();\n"
                                   ".alias second, first;\n");
    CHECK(k.opaque == 0);
    CHECK(names(k.program) == Names{"mov"});
}

TEST_CASE("special registers without a record are read, and their values are unknown") {
    const ptx::Lowered k = lowered(".reg .b32 %r<4>;\nmov.u32 %r1, %envreg2;\nadd.u32 %r2, %r1, 1;\nret;");
    CHECK(k.opaque == 0);
    CHECK(k.errors.empty());
    CHECK(names(k.program) == Names{"opaque", "add"});
}

TEST_CASE("a number where a record takes a register is moved into one") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<4>;\n.reg .b64 %a;\nmov.b32 %r1, 0;\nmov.b64 %a, 0;\n"
        "cp.async.cg.shared.global [%r1], [%a], 16, 16;\nret;");
    CHECK(k.opaque == 0);
    CHECK(names(k.program) == Names{"mov", "mov", "mov", "cp.async"});
}

TEST_CASE("a sum without a rounding is another one than .rn") {
    const std::string body =
        ".reg .f32 %f<9>;\n.reg .f64 %d<4>;\nmov.f32 %f1, 0f3F800000;\nadd.f32 %f2, %f1, %f1;\n"
        "add.rn.f32 %f3, %f1, %f1;\nmul.ftz.sat.f32 %f4, %f2, %f3;\nmov.f64 %d1, 0d3FF0000000000000;\n"
        "sub.f64 %d2, %d1, %d1;\nadd.contract.f32 %f5, %f1, %f1;\ndiv.rn.f32 %f6, %f1, %f2;\nret;";
    const ptx::Lowered k = lowered(body);
    REQUIRE(k.refused.size() == 1);
    CHECK(k.refused[0].message == "PTX has no add.contract.f32: `.contract` is none of its words");
    std::vector<std::string> printed;
    for_each_step(k.program, [&](const Step& step) {
        if (step.op->name != "opaque" && step.op->name != "mov")
            printed.push_back(isa::expand(
                step.op->ptx, step,
                [](const Operand&, const isa::OperandRule& rule) { return std::string(rule.name); }));
    });
    CHECK(printed == std::vector<std::string>{"add.f32 d, a, b", "add.rn.f32 d, a, b",
                                              "mul.ftz.sat.f32 d, a, b", "sub.f64 d, a, b",
                                              "div.rn.f32 d, a, b"});
}

TEST_CASE("mbarriers that order no memory, lop3 with a predicate, products of few bits are read") {
    const ptx::Lowered k = lowered(
        ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<4>;\n.shared .b64 s;\nmov.u32 %r1, s;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cta.b64 %rd1, [%r1], 2;\n"
        "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%r1], 16;\n"
        "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%r1], 0, 100;\n"
        "lop3.and.b32 %r2|%p2, %r1, %r1, %r1, 63, !%p1;\n"
        "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, "
        "%r4}, {%r5, %r6}, {%r1, %r2, %r3, %r4};\n"
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r1, %r2}, {%r3}, {%r4}, {%r1, "
        "%r2};\nret;");
    CHECK(k.unread.empty());
    CHECK(names(k.program) == Names{"mov", "mbarrier.arrive.state", "mbarrier.arrive.expect_tx",
                                    "mbarrier.try_wait.parity", "lop3.and", "mma.sync", "mma.sync"});
    // No script can call it.
    CHECK(isa::find("lop3.and") == nullptr);
}

TEST_CASE("a vector of registers is the list of its components") {
    const ptx::Lowered k = lowered(
        ".reg .v2 .f32 %v;\n.reg .b64 %rd<2>;\nmov.b64 %rd1, 0;\nld.global.v2.f32 %v, [%rd1];\nadd.f32 %v.r, "
        "%v.x, %v.g;\ntex.1d.v4.f32.s32 %v, [%rd1, {%rd1}];\nret;");
    const auto& steps = k.program.blocks()[0].steps;
    REQUIRE(steps.size() == 4);
    CHECK(steps[1].operands[0].list == std::vector{steps[2].operands[0].reg, steps[2].operands[2].reg});
    CHECK(steps[2].operands[0].reg == steps[2].operands[1].reg);
    CHECK(steps[3].operands[0].list == steps[1].operands[0].list);
}
