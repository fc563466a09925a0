// Numbers of a launch that are given: constants where the program reads them.
#include "wgrun/assumptions.hpp"

#include "isa/parameter_read.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/script.hpp"

using namespace wgrun;
using isa::Type;
using test::Script, test::typed;

namespace {

/// The immediates that `mov` gives registers, in the order of the text.
std::vector<std::int64_t> constants(const Program& program) {
    std::vector<std::int64_t> out;
    for_each_step(program, [&](const Step& step) {
        if (step.op->name == "mov" && step.operands[1].kind == Operand::Kind::imm)
            out.push_back(step.operands[1].imm);
    });
    return out;
}

std::size_t reads(const Program& program) {
    std::size_t out = 0;
    for_each_step(program, [&](const Step& step) { out += isa::parameter_read(step) ? 1 : 0; });
    return out;
}

}  // namespace

TEST_CASE("a parameter that is given is a constant, and no other is") {
    Script s;
    const int n = s.builder.param("n", Type::u32, {}), m = s.builder.param("m", Type::s32, {});
    const int f = s.builder.param("f", Type::f32, {}), x = s.builder.param("X", Type::u64, Dtype::f32);
    s.add("ld.param", typed(Type::u32), {{}, Operand::param(n)});
    s.add("ld.param", typed(Type::s32), {{}, Operand::param(m)});
    s.add("ld.param", typed(Type::f32), {{}, Operand::param(f)});
    s.add("ld.param", typed(Type::u64), {{}, Operand::param(x)});
    const Program program = s.builder.finish();
    CHECK(names_number(program, "n"));
    CHECK_FALSE(names_number(program, "f"));
    CHECK_FALSE(names_number(program, "X"));
    CHECK_FALSE(names_number(program, "n+0"));
    CHECK_FALSE(names_number(program, "k"));
    const Program given = with_numbers(program, {.numbers = {{"n", 64}, {"m", -3}, {"f", 1}, {"k", 2}}});
    CHECK(constants(given) == std::vector<std::int64_t>{64, -3});
    CHECK(reads(given) == 2);
    CHECK(reads(with_numbers(program, {})) == 4);
    CHECK_THROWS_AS(with_numbers(program, {.numbers = {{"n", std::int64_t{1} << 32}}}), ArgumentError);
    CHECK_THROWS_AS(with_numbers(program, {.numbers = {{"n", -(std::int64_t{1} << 31) - 1}}}), ArgumentError);
    CHECK(constants(with_numbers(program, {.numbers = {{"n", (std::int64_t{1} << 32) - 1}}})) ==
          std::vector<std::int64_t>{(std::int64_t{1} << 32) - 1});
}

TEST_CASE("what is proved of launches of which something is given") {
    Script s;
    s.builder.param("n", Type::u32, {});
    const Program program = s.builder.finish();
    CHECK(narrowed("all launches", program, {}) == "all launches");
    CHECK(narrowed("all launches with m >= 1", program, {}) == "all launches with m >= 1");
    CHECK(narrowed("all launches with m >= 1", program,
                   {.grid = Dim3{4, 2},
                    .block = Dim3{256},
                    .cluster = Dim3{2, 1, 1},
                    .numbers = {{"n", 8}, {"k", 1}}}) ==
          "all launches of 256 threads in clusters of 2 in grids of 4 x 2 with n = 8, m >= 1");
}
