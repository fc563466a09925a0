// PTX texts of small programs, to the letter.
#include "tests/unit/emit/kit.hpp"

using namespace kit;

TEST_CASE("an empty kernel") {
    CHECK(emit::ptx(Script(64).finish()).text == R"(// kernel
.version 8.0
.target sm_90a
.address_size 64

.visible .entry kernel(
)
.maxntid 64, 1, 1
.minnctapersm 1
{
    ret;
}
)");
}

TEST_CASE("parameters, a cluster, shared memory, registers by class, and where lines come from") {
    Script s(256, {2, 1, 1});
    const int A = s.builder.param("A", Type::u64, Dtype::bf16, true);
    s.builder.param("n", Type::s32, {});
    s.builder.shared("first", 100, 16, {});
    const int second = s.builder.shared("second", 2048, 1024, {});
    const Reg address = s.add("ld.param", typed(Type::u64), {{}, Operand::param(A)});
    const Reg base = s.add("mov", typed(Type::u32), {{}, Operand::shared(second, 64)});
    const Reg x =
        s.add("ld", with(typed(Type::f32), Field::space, "global"), {{}, Operand::address(address, -4)});
    s.add("st", with(typed(Type::f32), Field::space, "shared"), {Operand::address(base, 16), reg(x)});
    Operand buffer = Operand::shared(second, 8);
    buffer.kind = Operand::Kind::address;
    s.add("ld", with(typed(Type::b16), Field::space, "shared"), {{}, buffer});
    s.add("setp", with(typed(Type::f64), Field::cmp, "lt"), {{}, reg(s.builder.reg(Type::f64)), num(0.5)});
    const emit::Text text = emit::ptx(s.finish());
    CHECK(text.text == R"(// kernel
.version 8.0
.target sm_90a
.address_size 64

.extern .shared .align 1024 .b8 wgrun_shared[];
.visible .entry kernel(
    .param .u64 param_A,
    .param .s32 param_n
)
.maxntid 256, 1, 1
.minnctapersm 1
.reqnctapercluster 2, 1, 1
{
    .reg .b16 %rs<1>;
    .reg .b32 %r<1>;
    .reg .b64 %rd<1>;
    .reg .f32 %f<1>;
    .reg .f64 %fd<1>;
    .reg .pred %p<1>;
    // wgrun_shared+0: first, 100 bytes
    // wgrun_shared+1024: second, 2048 bytes
    // k.lua:2
    ld.param.u64 %rd0, [param_A];
    // k.lua:3
    mov.u32 %r0, wgrun_shared+1088;
    // k.lua:4
    ld.global.f32 %f0, [%rd0+-4];
    // k.lua:5
    st.shared.f32 [%r0+16], %f0;
    // k.lua:6
    ld.shared.b16 %rs0, [wgrun_shared+1032];
    // k.lua:7
    setp.lt.f64 %p0, %fd0, 0d3FE0000000000000;
    ret;
}
)");
    // One entry a line of the text; both the remark and the statement belong to the line of the script.
    REQUIRE(text.lines.size() ==
            static_cast<std::size_t>(std::count(text.text.begin(), text.text.end(), '\n')));
    CHECK_FALSE(text.lines[0]);
    CHECK(text.lines[22] == Where::at("dir/k.lua", 2));
    CHECK(text.lines[22] == Where::at("dir/k.lua", 2));
    CHECK(text.lines[32] == Where::at("dir/k.lua", 7));
}

TEST_CASE("loops and branches") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), i = s.builder.reg(Type::u32);
    s.builder.begin_loop();
    s.add("setp", with(typed(Type::u32), Field::cmp, "lt"), {reg(p), reg(i), num(4)});
    s.builder.loop_condition(p);
    s.builder.begin_if(p);
    s.add("bar.sync", {}, {});
    s.builder.end_if();
    s.builder.begin_if(p, true);
    s.add("bar.sync", {}, {num(1)});
    s.builder.begin_else();
    s.add("bar.sync", {}, {num(2), num(64)});
    s.builder.end_if();
    s.builder.end_loop();
    CHECK(body(emit::ptx(s.finish()), "$loop_0") == R"($loop_0:
setp.lt.u32 %p0, %r0, 4;
@!%p0 bra $end_0;
@!%p0 bra $endif_1;
bar.sync 0;
$endif_1:
@%p0 bra $else_2;
bar.sync 1;
bra $endif_2;
$else_2:
bar.sync 2, 64;
$endif_2:
bra $loop_0;
$end_0:
ret;
}
)");
}

TEST_CASE("guards, also over every instruction of a text of several") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), r = s.builder.reg(Type::u32), d = s.builder.reg(Type::b64);
    s.add("add", typed(Type::u32), {reg(r), reg(r), num(1)}, p);
    s.add("add", typed(Type::u32), {reg(r), reg(r), num(1)}, p, true);
    s.add("matrix.descriptor", {}, {reg(d), reg(r), imm(0x4000004000010000)});
    s.add("matrix.descriptor", {}, {reg(d), reg(r), imm(0x4000004000010000)}, p, true);
    CHECK(body(emit::ptx(s.finish()), "@%p0") == R"(@%p0 add.u32 %r0, %r0, 1;
@!%p0 add.u32 %r0, %r0, 1;
cvt.u64.u32 %rd0, %r0;
and.b64 %rd0, %rd0, 0x3FFFF;
shr.u64 %rd0, %rd0, 4;
or.b64 %rd0, %rd0, 4611686293305360384;
@!%p0 cvt.u64.u32 %rd0, %r0;
@!%p0 and.b64 %rd0, %rd0, 0x3FFFF;
@!%p0 shr.u64 %rd0, %rd0, 4;
@!%p0 or.b64 %rd0, %rd0, 4611686293305360384;
ret;
}
)");
}

TEST_CASE("negated predicates, vectors, and literals of all types") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), q = s.builder.reg(Type::pred), a = s.builder.reg(Type::u64);
    const std::vector<Reg> f = s.builder.regs(Type::f32, 4);
    s.add("and", typed(Type::pred), {reg(q), negated(p), num(1)});
    s.add("selp", typed(Type::f32), {reg(f[0]), num(1), num(-0.0), negated(p)});
    s.add("ld", with(with(typed(Type::f32), Field::space, "global"), Field::vec, "v4"),
          {Operand::of(f), Operand::address(a, 0)});
    s.add("mov", typed(Type::f64), {{}, num(0.1)});
    s.add("mov", typed(Type::s32), {{}, num(-5)});
    s.add("mov", typed(Type::u16), {{}, num(65535)});
    s.add("mov", typed(Type::b64), {{}, imm(-1)});
    s.add("mov", typed(Type::s64), {{}, imm(INT64_MAX)});
    s.add("wgmma.wait_group", {}, {num(7)});
    s.add("fence.proxy.async", with({}, Field::space, "shared::cta"), {});
    CHECK(body(emit::ptx(s.finish()), "and.pred") == R"(and.pred %p1, !%p0, 1;
selp.f32 %f0, 0f3F800000, 0f80000000, !%p0;
ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];
mov.f64 %fd0, 0d3FB999999999999A;
mov.s32 %r0, -5;
mov.u16 %rs0, 65535;
mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF;
mov.s64 %rd2, 9223372036854775807;
wgmma.wait_group.sync.aligned 7;
fence.proxy.async.shared::cta;
ret;
}
)");
}

TEST_CASE("wgmma, and the version that its types ask for") {
    Script s;
    const Reg da = s.builder.reg(Type::b64), db = s.builder.reg(Type::b64), p = s.builder.reg(Type::pred);
    const Form s8u8 = Form().set(Field::n, 8).set(Field::a, Type::s8).set(Field::b, Type::u8);
    const Form bf16 = Form().set(Field::n, 8).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
    s.add("wgmma.mma_async", bf16, {Operand::of(s.builder.regs(Type::f32, 4)), reg(da), reg(db), negated(p)});
    s.add("wgmma.mma_async", Form(bf16).set(Field::trans_b, 1),
          {Operand::of(s.builder.regs(Type::f32, 4)), Operand::of(s.builder.regs(Type::b32, 4)), reg(db)});
    s.add("wgmma.mma_async", s8u8, {Operand::of(s.builder.regs(Type::s32, 4)), reg(da), reg(db), num(0)});
    const emit::Text text = emit::ptx(s.finish());
    CHECK_THAT(text.text, ContainsSubstring(".version 8.4\n"));
    CHECK(body(text, "wgmma") ==
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, !%p0, 1, 1, "
          "0, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, %f7}, {%r0, %r1, %r2, %r3}, "
          "%rd1, 1, 1, 1, 1;\n"
          "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r4, %r5, %r6, %r7}, %rd0, %rd1, 0;\n"
          "ret;\n}\n");
}

TEST_CASE("jumps name labels, and say nothing where the text goes there") {
    Script s;
    const Reg p = s.builder.reg(Type::pred);
    const int again = s.builder.label("$L__BB0_1"), out = s.builder.label();
    s.builder.jump(out, p, true);
    s.builder.place(again);
    s.add("wgmma.fence", {}, {});
    s.builder.jump(again, p);
    s.builder.jump(out);
    s.builder.place(out);
    s.builder.leave(Leave::kernel);
    const Program program = s.finish();
    CHECK(body(emit::ptx(program), "@!%p0") == R"(@!%p0 bra $place_1;
$L__BB0_1:
wgmma.fence.sync.aligned;
@%p0 bra $L__BB0_1;
$place_1:
exit;
ret;
}
)");
    const std::string cuda = emit::cuda(program).text;
    for (const char* line :
         {"if (!p0) goto place_1;\n", "place_0:;\n", "if (p0) goto place_0;\n", "place_1:;\n", "return;\n"})
        CHECK(cuda.find(line) != std::string::npos);
}

TEST_CASE("labels of constructs avoid the names that other labels have") {
    Script s;
    const Reg p = s.builder.reg(Type::pred);
    s.builder.place(s.builder.label("$endif_0"));
    s.builder.begin_if(p);
    s.add("wgmma.fence", {}, {});
    s.builder.end_if();
    CHECK(body(emit::ptx(s.finish()), "$endif_0:") == R"($endif_0:
@!%p0 bra $endif_0_;
wgmma.fence.sync.aligned;
$endif_0_:
ret;
}
)");
}
