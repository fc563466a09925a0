// How long steps occupy the arithmetic pipes, by the work that their records name.
#include "isa/throughput.hpp"

#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::isa;

namespace {

Throughput of(std::string_view name, Type type) {
    const Instruction* op = find(name);
    REQUIRE(op != nullptr);
    Step step;
    step.op = op;
    step.form.set(Field::type, static_cast<int>(type));
    return throughput(step);
}

}  // namespace

TEST_CASE("integers and floats have pipes of their own") {
    CHECK(of("add", Type::s32).pipe == Pipe::alu);
    CHECK(of("add", Type::f32).pipe == Pipe::fma);
    CHECK(of("min", Type::f32).pipe == Pipe::alu);
    CHECK(of("min.NaN", Type::f32).pipe == Pipe::alu);
    CHECK(of("fma", Type::f64).pipe == Pipe::binary64);
    CHECK(of("ex2", Type::f32).pipe == Pipe::special);
    CHECK(of("mov", Type::b32).pipe == Pipe::none);
}

TEST_CASE("integers of 64 bits take twice as long, and quotients longer") {
    CHECK(of("and", Type::b64).cycles == 2 * of("and", Type::b32).cycles);
    CHECK(of("div", Type::s32).cycles > of("div", Type::f32).cycles);
    CHECK(of("ex2", Type::f32).cycles > of("fma", Type::f32).cycles);
}

TEST_CASE("a product of matrices of a warp takes longer with its K") {
    Step step;
    step.op = find("mma.sync");
    REQUIRE(step.op != nullptr);
    step.form = resolve(*step.op, Form()
                                      .set(Field::d, static_cast<int>(Type::f32))
                                      .set(Field::a, static_cast<int>(Type::f16))
                                      .set(Field::b, static_cast<int>(Type::f16)));
    const Throughput whole = throughput(step);
    CHECK(whole.pipe == Pipe::matrix);
    step.form.set(Field::k, step.form.get(Field::k) / 2);
    CHECK(throughput(step).cycles < whole.cycles);
}
