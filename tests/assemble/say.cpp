// Kernels whose threads say something: both texts are accepted, guarded or not.
#include "emit/emit.hpp"
#include "program/guarded.hpp"
#include "program/printing.hpp"
#include "tests/assemble/batch.hpp"
#include "tests/catch.hpp"
#include "wgrun/gpu.hpp"

using namespace wgrun;
using isa::Type;

namespace {

/// Every kind of register in a print, in an assertion (of a predicate and a negated one) and in a trap, also
/// under a guard; a breakpoint.
Program program() {
    Builder b("talk", 128, {2, 1, 1}, Where::at("k.lua", 1));
    b.param("messages", Type::u32, {});  // a name that the build wants too
    const Reg p = b.reg(Type::pred);
    std::vector<Operand> values{Operand::of(p)};
    std::string format = "%d";
    for (const Type type : {Type::b16, Type::u16, Type::s16, Type::b32, Type::u32, Type::s32, Type::f32,
                            Type::b64, Type::u64, Type::s64, Type::f64}) {
        values.push_back(Operand::of(b.reg(type)));
        values.push_back(Operand::of(b.regs(type, 3)));
        format += " %s %s";
    }
    b.breakpoint();
    Operand condition = Operand::of(p);
    for (const bool negated : {false, true}) {
        b.say(Message::Kind::print, format, values, {}, p, negated);
        condition.negated = negated;
        b.say(Message::Kind::assertion, format, values, condition);
    }
    b.begin_loop();
    b.loop_condition(p);
    b.begin_if(p);
    b.say(Message::Kind::trap, "", {}, {}, p);
    b.begin_else();
    b.say(Message::Kind::trap, format, values);
    b.end_if();
    b.end_loop();
    return b.finish();
}

}  // namespace

TEST_CASE("kernels that speak assemble") {
    if (test::no_ptxas()) return;
    const Program original = program();
    CHECK_NOTHROW(gpu::ptxas_assemble(emit::ptx(printing(original)).text));
    CHECK_NOTHROW(gpu::ptxas_assemble(emit::ptx(guarded(printing(original)).program).text));
    const std::string lines = "--generate-line-info";
    CHECK_NOTHROW(gpu::ptxas_assemble(emit::ptx_with_lines(printing(original)).text, std::span(&lines, 1)));
}

TEST_CASE("kernels that speak compile as CUDA C++") {
    if (test::no_nvrtc()) return;
    const Program original = program();
    CHECK_NOTHROW(gpu::nvrtc_compile(emit::cuda(printing(original)).text));
    CHECK_NOTHROW(gpu::nvrtc_compile(emit::cuda(guarded(printing(original)).program).text));
}
