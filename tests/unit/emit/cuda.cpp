// CUDA C++ texts of small programs, to the letter.
#include "tests/unit/emit/kit.hpp"

using namespace kit;

TEST_CASE("an empty kernel in CUDA C++") {
    CHECK(emit::cuda(Script(64).finish()).text == R"(// kernel
#pragma nv_diag_suppress 549  // variable is used before its value is set
extern "C" __global__ void __launch_bounds__(64, 1)
kernel() {
}
)");
}

TEST_CASE("parameters, a cluster, shared memory, plain moves") {
    Script s(256, {2, 1, 1});
    const int A = s.builder.param("A", Type::u64, Dtype::bf16, true), n = s.builder.param("n", Type::s32, {});
    const int buffer = s.builder.shared("tile", 2048, 1024, {});
    const Reg address = s.add("ld.param", typed(Type::u64), {{}, Operand::param(A)});
    s.add("ld.param", typed(Type::s32), {{}, Operand::param(n)});
    const Reg base = s.add("mov", typed(Type::u32), {{}, Operand::shared(buffer, 64)});
    const Reg x =
        s.add("ld", with(typed(Type::f32), Field::space, "global"), {{}, Operand::address(address, -4)});
    s.add("st", with(typed(Type::f32), Field::space, "shared"), {Operand::address(base, 16), reg(x)});
    Operand direct = Operand::shared(buffer, 8);
    direct.kind = Operand::Kind::address;
    s.add("ld", with(typed(Type::b16), Field::space, "shared"), {{}, direct});
    const emit::Text text = emit::cuda(s.finish());
    CHECK(text.text == R"(// kernel
#pragma nv_diag_suppress 549  // variable is used before its value is set
extern "C" __global__ void __launch_bounds__(256, 1) __cluster_dims__(2, 1, 1)
kernel(unsigned long long param_A, int param_n) {
    extern __shared__ __align__(1024) unsigned char wgrun_shared[];
    const unsigned shared_base = (unsigned)__cvta_generic_to_shared(wgrun_shared);
    // shared_base + 0: tile, 2048 bytes
    unsigned r1, r2;
    float f3;
    unsigned short h4;
    unsigned long long l0;
    // k.lua:2
    l0 = param_A;
    // k.lua:3
    r1 = param_n;
    // k.lua:4
    r2 = shared_base + 64;
    // k.lua:5
    asm volatile("ld.global.f32 %0, [%1+-4];" : "=f"(f3) : "l"(l0) : "memory");
    // k.lua:6
    asm volatile("st.shared.f32 [%0+16], %1;" :  : "r"(r2), "f"(f3) : "memory");
    // k.lua:7
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(h4) : "r"(shared_base + 8) : "memory");
}
)");
    REQUIRE(text.lines.size() ==
            static_cast<std::size_t>(std::count(text.text.begin(), text.text.end(), '\n')));
    CHECK(text.lines[12] == Where::at("dir/k.lua", 2));
}

TEST_CASE("a structure by value, read at an offset and through its address") {
    Script s(32);
    s.builder.param("n", Type::u32, {});
    const int params = s.builder.structure("s", 24, 8);
    Operand part = Operand::param(params);
    part.offset = 8;
    s.add("ld.param.at", typed(Type::u64), {{}, part});
    const Reg at = s.add("param.address", typed(Type::u64), {{}, Operand::param(params)});
    s.add("ld.param.at", typed(Type::u32), {{}, Operand::address(at, 16)});
    const Program program = s.finish();
    CHECK(emit::cuda(program).text == R"(// kernel
#pragma nv_diag_suppress 549  // variable is used before its value is set
struct alignas(8) Structure1 { unsigned char bytes[24]; };
extern "C" __global__ void __launch_bounds__(32, 1)
kernel(const __grid_constant__ unsigned param_n, const __grid_constant__ Structure1 param_s) {
    unsigned r2;
    unsigned long long l0, l1;
    // k.lua:2
    asm("ld.param.u64 %0, [%1];" : "=l"(l0) : "l"((__cvta_generic_to_grid_constant(&param_s) + 8)));
    // k.lua:3
    asm("mov.u64 %0, %1;" : "=l"(l1) : "l"(__cvta_generic_to_grid_constant(&param_s)));
    // k.lua:4
    asm("ld.param.u32 %0, [%1+16];" : "=r"(r2) : "l"(l1));
}
)");
    const std::string ptx = emit::ptx(program).text;
    CHECK(ptx.find(".param .u32 param_n,") != std::string::npos);
    CHECK(ptx.find(".param .align 8 .b8 param_s[24]") != std::string::npos);
    CHECK(ptx.find("ld.param.u64 %rd0, [param_s+8];") != std::string::npos);
    CHECK(ptx.find("mov.u64 %rd1, param_s;") != std::string::npos);
}

TEST_CASE("loops, branches and guards are those of C++") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), i = s.builder.reg(Type::u32);
    s.builder.begin_loop();
    s.add("setp", with(typed(Type::u32), Field::cmp, "lt"), {reg(p), reg(i), num(4)});
    s.builder.loop_condition(p);
    s.builder.begin_if(p, true);
    s.add("mov", typed(Type::u32), {reg(i), num(1)}, p);
    s.builder.begin_else();
    s.add("add", typed(Type::u32), {reg(i), reg(i), num(1)}, p, true);
    s.builder.end_if();
    s.builder.end_loop();
    CHECK(body(emit::cuda(s.finish()), "for (") == R"(for (;;) {
asm("{ .reg .pred q0; setp.lt.u32 q0, %1, 4; selp.b32 %0, 1, 0, q0; }" : "=r"(p0) : "r"(r1));
if (!p0) break;
if (!p0) {
if (p0) r1 = 1;
} else {
if (!p0) asm("add.u32 %0, %1, 1;" : "=r"(r1) : "r"(r1));
}
}
}
)");
}

TEST_CASE("predicates become ints around the assembly; negated ones keep their sign") {
    Script s;
    const Reg p = s.builder.reg(Type::pred), q = s.builder.reg(Type::pred), a = s.builder.reg(Type::u32),
              b = s.builder.reg(Type::u32);
    s.add("and", typed(Type::pred), {reg(q), negated(p), num(1)});
    s.add("and", typed(Type::pred), {reg(q), reg(q), reg(p)});
    s.add("selp", typed(Type::u32), {reg(a), reg(a), reg(b), negated(q)});
    s.add("mov", typed(Type::pred), {reg(q), negated(p)});
    CHECK(body(emit::cuda(s.finish()), "asm") ==
          "asm(\"{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; and.pred q0, !q1, 1; selp.b32 %0, 1, "
          "0, q0; }\" : "
          "\"=r\"(p1) : \"r\"(p0));\n"
          "asm(\"{ .reg .pred q0; .reg .pred q1; setp.ne.b32 q1, %1, 0; .reg .pred q2; setp.ne.b32 q2, %2, "
          "0; and.pred q0, q1, q2; "
          "selp.b32 %0, 1, 0, q0; }\" : \"=r\"(p1) : \"r\"(p1), \"r\"(p0));\n"
          "asm(\"{ .reg .pred q0; setp.ne.b32 q0, %3, 0; selp.u32 %0, %1, %2, !q0; }\" : \"=r\"(r2) : "
          "\"r\"(r2), \"r\"(r3), \"r\"(p1));\n"
          "p1 = !p0;\n}\n");
}

TEST_CASE("a register that is source and destination is bound as both, an accumulator once") {
    Script s;
    const Reg r = s.builder.reg(Type::u32), db = s.builder.reg(Type::b64);
    s.add("mul", typed(Type::u32), {reg(r), reg(r), reg(r)});
    const Form bf16 = Form().set(Field::n, 8).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
    s.add("wgmma.mma_async", bf16, {Operand::of(s.builder.regs(Type::f32, 4)), reg(db), reg(db), num(0)});
    CHECK(body(emit::cuda(s.finish()), "asm") ==
          "asm(\"mul.lo.u32 %0, %1, %1;\" : \"=r\"(r0) : \"r\"(r0));\n"
          "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 0, "
          "1, 1, 0, 0;\" : "
          "\"+f\"(f2), \"+f\"(f3), \"+f\"(f4), \"+f\"(f5) : \"l\"(l1) : \"memory\");\n}\n");
}

TEST_CASE("literals and texts of several instructions in C++") {
    Script s;
    const Reg f = s.builder.reg(Type::f32), d = s.builder.reg(Type::f64), w = s.builder.reg(Type::b32),
              r = s.builder.reg(Type::u32), p = s.builder.reg(Type::pred), l = s.builder.reg(Type::b64);
    s.add("mov", typed(Type::f32), {reg(f), num(-1.5)});
    s.add("mov", typed(Type::f64), {reg(d), num(0.1)});
    s.add("mov", typed(Type::s64), {reg(l), imm(-2)});
    s.add("mov", typed(Type::b32), {reg(w), num(-2)});
    s.add("mov", typed(Type::b32), {reg(w), reg(f)});  // bits, not a conversion
    s.add("mov", typed(Type::b32), {reg(f), reg(w)});
    s.add("mov", typed(Type::b32), {reg(f), num(5)});
    s.add("add", typed(Type::f32), {reg(f), reg(f), num(0.5)});
    s.add("add", typed(Type::f64), {reg(d), reg(d), num(0.5)});
    s.add("or", typed(Type::b64), {reg(l), reg(l), imm(INT64_MIN)});
    s.add("special", with({}, Field::sreg, "tid.x"), {reg(r)});
    s.add("matrix.descriptor", {}, {reg(l), reg(r), imm(0x4000004000010000)}, p);
    s.add("fence.proxy.async", {}, {});
    CHECK(body(emit::cuda(s.finish()), "f0 = ") == R"(f0 = __uint_as_float(0xBFC00000u);
d1 = __longlong_as_double(0x3FB999999999999All);
l5 = 0xFFFFFFFFFFFFFFFEull;
r2 = -2;
r2 = __float_as_uint(f0);
f0 = __uint_as_float(r2);
f0 = __uint_as_float(5);
asm("add.rn.f32 %0, %1, 0f3F000000;" : "=f"(f0) : "f"(f0));
asm("add.rn.f64 %0, %1, 0d3FE0000000000000;" : "=d"(d1) : "d"(d1));
asm("or.b64 %0, %1, 0x8000000000000000;" : "=l"(l5) : "l"(l5));
asm("mov.u32 %0, %%tid.x;" : "=r"(r3) : );
if (p4) l5 = 0x4000004000010000ull | (unsigned long long)((r3 & 0x3FFFF) >> 4);
asm volatile("fence.proxy.async;" :  :  : "memory");
}
)");
}
