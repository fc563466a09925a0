// Building a program: names, launch shapes, registers, shared memory, loops and branches.
#include "tests/catch.hpp"
#include "wgrun/program.hpp"

using namespace wgrun;
using isa::Field;
using isa::Form;
using isa::Type;

namespace {

const Where here = Where::at("k.lua", 1);
Builder builder() { return Builder("kernel", 128, {}, here); }

void step(Builder& b, int line) {
    b.at(Where::at("k.lua", line));
    b.add(*isa::find("wgmma.fence"), {}, {});
}

std::vector<int> lines_of(const Program& program) {
    std::vector<int> out;
    for_each_step(program, [&](const Step& s) { out.push_back(s.where.line); });
    return out;
}

}  // namespace

TEST_CASE("a kernel has a name, 1 to 1024 threads and a cluster that can be launched") {
    for (const char* name : {"", "1st", "a b", "a-b", "x$", "_", "ä"})
        CHECK_THROWS_WITH(
            Builder(name, 128, {}, here),
            "kernel name `" + std::string(name) + "`: letters, digits and _ only, not starting with a digit");
    CHECK_NOTHROW(Builder("_Gemm_2", 1, {}, here));
    CHECK_THROWS_WITH(Builder("k", 0, {}, here), "kernel k: threads = 0, a CTA has 1 to 1024");
    CHECK_THROWS_WITH(Builder("k", 1025, {}, here), "kernel k: threads = 1025, a CTA has 1 to 1024");
    CHECK_THROWS_WITH(Builder("k", -1, {}, here), "kernel k: threads = -1, a CTA has 1 to 1024");
    CHECK_NOTHROW(Builder("k", 1024, {4, 2, 2}, here));
    CHECK_THROWS_WITH(Builder("k", 128, {3, 3, 2}, here),
                      "kernel k: a cluster of 3 x 3 x 2 CTAs, 1 to 16 in all fit a group of SMs");
    CHECK_THROWS_WITH(Builder("k", 128, {0, 1, 1}, here),
                      "kernel k: a cluster of 0 x 1 x 1 CTAs, 1 to 16 in all fit a group of SMs");
    // The product is 2^65 + 1: in 64 bits it would be 1.
    CHECK_THROWS_WITH(
        Builder("k", 128, {33, 1119412321, 998724481}, here),
        "kernel k: a cluster of 33 x 1119412321 x 998724481 CTAs, 1 to 16 in all fit a group of SMs");
}

TEST_CASE("registers have the type that PTX declares them with, and a place") {
    Builder b = builder();
    b.at(Where::at("k.lua", 7));
    const Reg r = b.reg(Type::bf16);
    CHECK(b.type_of(r) == Type::b16);
    const std::vector<Reg> regs = b.regs(Type::f32, 3);
    CHECK((regs.size() == 3 && regs[1].id == regs[0].id + 1 && regs[2].id == regs[0].id + 2));
    CHECK_THROWS_WITH(b.reg(Type::none), "a register needs a type");
    CHECK_THROWS_WITH(b.regs(Type::f32, 0), "an array of 0 registers: 1 to 1024 are possible");
    CHECK_THROWS_WITH(b.regs(Type::f32, 1025), "an array of 1025 registers: 1 to 1024 are possible");
    CHECK_THROWS_WITH(b.type_of(Reg{}), "a register of another kernel");
    const Program program = b.finish();
    CHECK(program.registers()[r.id].where.line == 7);
}

TEST_CASE("parameters have names of their own") {
    Builder b = builder();
    CHECK(b.param("A", Type::u64, Dtype::bf16, true) == 0);
    CHECK(b.param("n", Type::u32, {}) == 1);
    CHECK_THROWS_WITH(b.param("n", Type::u32, {}), "two parameters called `n`");
    CHECK_THROWS_WITH(b.param("2n", Type::u32, {}),
                      "parameter name `2n`: letters, digits and _ only, not starting with a digit");
    const Program program = b.finish();
    CHECK((program.params()[0].pointee == Dtype::bf16 && program.params()[0].constant));
}

TEST_CASE("shared memory: one buffer behind the other, aligned, up to 227 KiB") {
    Builder b = builder();
    b.shared("a", 100, 16, {});
    const int second = b.shared("b", 1024, 1024, {});
    CHECK(b.shared_buffer(second).offset == 1024);
    CHECK_THROWS_WITH(b.shared("c", 0, 16, {}), "shared memory of 0 bytes");
    CHECK_THROWS_WITH(b.shared("c", -5, 16, {}), "shared memory of -5 bytes");
    for (std::int64_t align : {0, -16, 3, 48, 2048})
        CHECK_THROWS_WITH(b.shared("c", 16, align, {}),
                          "alignment " + std::to_string(align) + ": a power of two up to 1024 bytes");
    try {
        b.shared("c", 230401, 16, {});
        FAIL("taken");
    } catch (const ArgumentError& error) {
        CHECK(error.finding().message ==
              "shared memory: 230401 bytes on top of 2048 exceed the 232448 bytes (227 KiB) of a CTA");
        CHECK(error.finding().fix == "smaller tiles or fewer stages");
    }
    CHECK_THROWS_WITH(b.shared("c", INT64_MAX, 16, {}), ContainsSubstring("exceed the 232448 bytes"));
    b.shared("c", 230400, 16, {});
    CHECK_THROWS(b.shared("d", 1, 1, {}));
    const Program program = b.finish();
    CHECK(program.shared_bytes() == max_shared_bytes);
    CHECK(program.shared_align() == 1024);
}

TEST_CASE("a program without shared memory has none") {
    const Program program = builder().finish();
    CHECK(program.shared_bytes() == 0);
    CHECK(program.shared_align() == 16);
}

TEST_CASE("loops and branches nest, and steps keep their order and lines") {
    Builder b = builder();
    const Reg p = b.reg(Type::pred);
    step(b, 2);
    b.begin_loop();
    step(b, 3);
    b.loop_condition(p);
    step(b, 4);
    b.begin_if(p, true);
    step(b, 5);
    b.begin_else();
    step(b, 6);
    b.end_if();
    b.end_loop();
    step(b, 7);
    const Program program = b.finish();
    CHECK(lines_of(program) == std::vector{2, 3, 4, 5, 6, 7});
    using End = BasicBlock::End;
    using Kind = Label::Kind;
    const std::vector<BasicBlock>& blocks = program.blocks();
    const auto is = [&](BlockId id, Kind kind, End end, BlockId taken, BlockId otherwise, std::size_t steps) {
        const BasicBlock& block = blocks.at(id);
        return block.label.kind == kind && block.end == end && block.taken == taken &&
               block.otherwise == otherwise && block.steps.size() == steps;
    };
    REQUIRE(blocks.size() == 7);
    CHECK(is(0, Kind::none, End::jump, 1, no_block, 1));
    CHECK(is(1, Kind::loop, End::branch, 2, 6, 1));
    CHECK(is(2, Kind::none, End::branch, 3, 4, 1));
    CHECK(is(3, Kind::none, End::jump, 5, no_block, 1));
    CHECK(is(4, Kind::otherwise, End::jump, 5, no_block, 1));
    CHECK(is(5, Kind::joined, End::jump, 1, no_block, 0));
    CHECK(is(6, Kind::after, End::exit, no_block, no_block, 1));
    CHECK((blocks[1].condition == p && !blocks[1].negated && blocks[1].label.where.line == 2));
    CHECK((blocks[2].condition == p && blocks[2].negated));
}

TEST_CASE("labels make blocks of any shape") {
    Builder b = builder();
    const Reg p = b.reg(Type::pred);
    const int again = b.label("$L__BB0_1"), out = b.label(), unused = b.label();
    b.jump(out, p);  // 0: to 3, or on
    b.place(again);  // 1
    step(b, 2);
    b.jump(again, p, true);
    b.jump(out);   // 2
    b.place(out);  // 3
    step(b, 3);
    b.jump(again);  // behind its place
    CHECK_THROWS_WITH(b.place(out), "a label is in two places");
    CHECK_THROWS_WITH(b.label("$L__BB0_1"), "two labels called `$L__BB0_1`");
    for (const char* name : {"1", "_", "$", "a b", "a-b", "a.b"})
        CHECK_THROWS_WITH(b.label(name), Catch::Matchers::StartsWith("label `"));
    CHECK_THROWS_WITH(b.jump(again, b.reg(Type::u32)), "the condition of a jump is a predicate");
    CHECK_THROWS_WITH(b.jump(7), "a label of another kernel");
    CHECK_THROWS_WITH(b.place(-1), "a label of another kernel");
    Builder other = builder();
    other.at(Where::at("k.lua", 9));
    other.jump(other.label("nowhere"));
    CHECK_THROWS_WITH(other.finish(), "a jump to label `nowhere`, which is nowhere");
    static_cast<void>(unused);  // a label that nothing names need not be anywhere
    const Program program = b.finish();
    const std::vector<BasicBlock>& blocks = program.blocks();
    REQUIRE(blocks.size() == 5);
    CHECK((blocks[0].taken == 3 && blocks[0].otherwise == 1));
    CHECK((blocks[1].taken == 1 && blocks[1].otherwise == 2 && blocks[1].negated));
    CHECK(blocks[1].label.name == "$L__BB0_1");
    CHECK((blocks[2].taken == 3 && blocks[2].end == BasicBlock::End::jump));
    CHECK((blocks[3].taken == 1 && blocks[3].steps.size() == 1));
}

TEST_CASE("an empty else is none") {
    Builder b = builder();
    const Reg p = b.reg(Type::pred);
    b.begin_if(p);
    step(b, 2);
    b.begin_else();
    b.end_if();
    const Program program = b.finish();
    REQUIRE(program.blocks().size() == 3);
    CHECK(program.blocks()[2].label.kind == Label::Kind::joined);
    CHECK((program.blocks()[0].otherwise == 2 && program.blocks()[1].taken == 2));
}

TEST_CASE("blocks are closed in their order") {
    Builder b = builder();
    const Reg p = b.reg(Type::pred);
    CHECK_THROWS_WITH(b.end_loop(), "no loop to end here");
    CHECK_THROWS_WITH(b.end_if(), "no branch to end here");
    CHECK_THROWS_WITH(b.begin_else(), "no branch to continue with an else");
    CHECK_THROWS_WITH(b.loop_condition(p), "no loop is waiting for its condition");
    b.begin_loop();
    CHECK_THROWS_WITH(b.end_loop(), "no loop to end here");  // no condition yet
    CHECK_THROWS_WITH(b.end_if(), "no branch to end here");
    CHECK_THROWS_WITH(b.loop_condition(b.reg(Type::u32)), "the condition of a loop is a predicate");
    CHECK_THROWS_WITH(b.finish(), "kernel kernel: a loop or branch is still open");
    b.loop_condition(p);
    CHECK_THROWS_WITH(b.loop_condition(p), "no loop is waiting for its condition");
    CHECK_THROWS_WITH(b.begin_if(b.reg(Type::b32)), "the condition of a branch is a predicate");
    b.begin_if(p);
    CHECK_THROWS_WITH(b.end_loop(), "no loop to end here");
    b.begin_else();
    CHECK_THROWS_WITH(b.begin_else(), "no branch to continue with an else");
    CHECK_THROWS_WITH(b.finish(), "kernel kernel: a loop or branch is still open");
    b.end_if();
    b.end_loop();
    CHECK_NOTHROW(b.finish());
}

TEST_CASE("the PTX version is the least that has all forms") {
    const auto with = [](Type a, Type b) {
        Builder builder("k", 128, {}, here);
        builder.add(*isa::find("wgmma.mma_async"), Form().set(Field::n, 8).set(Field::a, a).set(Field::b, b),
                    {Operand::of(builder.regs(Type::s32, 4)), Operand::number(0), Operand::number(0)});
        return builder.finish().min_ptx();
    };
    CHECK(builder().finish().min_ptx() == isa::PtxVersion{8, 0});
    CHECK(with(Type::s8, Type::s8) == isa::PtxVersion{8, 0});
    CHECK(with(Type::s8, Type::u8) == isa::PtxVersion{8, 4});
}

TEST_CASE("a builder can be moved while blocks are open") {
    Builder b = builder();
    const Reg p = b.reg(Type::pred);
    b.begin_if(p);
    Builder other = std::move(b);
    step(other, 3);
    other.end_if();
    CHECK(lines_of(other.finish()) == std::vector{3});
}
