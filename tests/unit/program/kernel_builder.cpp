// Kernels that a host writes by the names of instructions.
#include "wgrun/kernel_builder.hpp"

#include <algorithm>
#include <string>

#include "tests/catch.hpp"

using wgrun::ArgumentError;
using wgrun::KernelBuilder;
using wgrun::Program;
using wgrun::Value;
using wgrun::With;

namespace {

/// "add ld.global ...": its instructions in order.
std::string names(const Program& program) {
    std::string out;
    wgrun::for_each_step(program, [&](const wgrun::Step& step) {
        out += (out.empty() ? "" : " ") + std::string(step.op->name);
    });
    return out;
}

template <class Write>
Program written(Write write) {
    KernelBuilder k("test", {});
    write(k);
    return k.finish();
}

/// The message of the ArgumentError, which has to name this file.
template <class Write>
std::string refusal(Write write) {
    KernelBuilder k("test", {});
    try {
        write(k);
    } catch (const ArgumentError& error) {
        CHECK(error.finding().where.file.view().ends_with("kernel_builder.cpp"));
        CHECK(error.finding().where.line > 0);
        return error.finding().message;
    }
    return "nothing was refused";
}

}  // namespace

TEST_CASE("operators are an instruction each, and names those of scripts") {
    const Program program = written([](KernelBuilder& k) {
        const Value x = k.special("tid.x"), y = 3 + x * 2 - 1;
        const Value z = y / 3 % 5 & 6, shifted = ((x ^ 1) << 2) >> 1, to = k.reg("s32");
        k.set(to, ~(z | shifted));
        k.set(to, -k.param("n", "s32"));
        k("bar_sync", 0);
    });
    CHECK(names(program) ==
          "special mul add sub div rem and xor shl shr or not mov ld.param neg mov bar.sync");
}

TEST_CASE("steps and findings have the line of the host's source") {
    int line = 0;
    const Program program = written([&](KernelBuilder& k) {
        line = __LINE__ + 1;
        const Value x = k.special("tid.x") + 1;
        k("st_global_u32", k.element(k.param("X", "u32*"), x), x);
    });
    std::vector<int> lines;
    wgrun::for_each_step(program, [&](const wgrun::Step& step) { lines.push_back(step.where.line - line); });
    CHECK(lines == std::vector<int>{0, 0, 1, 1, 1, 1});
    CHECK(program.params()[0].where.line == line + 1);
}

TEST_CASE("constructs have bodies") {
    const Program program = written([](KernelBuilder& k) {
        const Value n = k.param("n", "u32"), sum = k.reg("u32");
        k.set(sum, 0);
        k.loop(n, [&](const Value& i) {
            k.if_(
                i == 3, [&] { k.continue_(); }, [&] { k.set(sum, sum + i); });
        });
        k.loop({.from = 1, .to = n, .step = 2}, [&](const Value&) { k.break_(); });
        k.while_([&] { return sum > 4; }, [&] { k.set(sum, sum >> 1); });
        k.repeat_([&] { return k("setp_lt", k("add", sum, sum, 1), 9); });
        const wgrun::Place end = k.label();
        k.jump(end, !(sum < 2));
        k.assert_(sum < 100, "sum = %u", {sum});
        k.print("%u of %u", {sum, n});
        k.exit();
        k.place(end);
    });
    const std::string all = names(program);
    CHECK_THAT(all, ContainsSubstring("setp"));
    const auto loops = std::ranges::count_if(program.blocks(), [](const wgrun::BasicBlock& block) {
        return block.label.kind == wgrun::Label::Kind::loop;
    });
    CHECK(loops == 3);
    CHECK(program.messages().size() == 2);
}

TEST_CASE("lists, offsets, guards and options by name") {
    const Program program = written([](KernelBuilder& k) {
        const Value address = k.param("X", "u32*");
        const Value four = k("ld_global_v4_b32", address, With{.offset = {16}});
        REQUIRE(four.size() == 4);
        const Value some = k("setp_eq_u32", k.special("tid.x"), 0);
        k("st_global_v4_b32", address, std::vector<Value>{four[3], 1, four[1], 2}, With{.guard = some});
        k("st_global_v4_b32", address, four, With{.guard = !some});
        k("ld", address, With{.qualifiers = {{"space", "global"}, {"type", "b32"}}});
    });
    std::vector<const wgrun::Step*> accesses;
    wgrun::for_each_step(program, [&](const wgrun::Step& step) {
        if (step.op->name == "ld.global" || step.op->name == "st.global" || step.op->name == "ld" ||
            step.op->name == "st")
            accesses.push_back(&step);
    });
    REQUIRE(accesses.size() == 4);
    CHECK(accesses[0]->operands[1].offset == 16);
    CHECK(accesses[1]->guard);
    CHECK_FALSE(accesses[1]->guard_negated);
    CHECK(accesses[2]->guard_negated);
}

TEST_CASE("elements are counted in their bytes") {
    const Program program = written([](KernelBuilder& k) {
        const Value x = k.param("X", "const bf16*"), wide = k("cvt_u64_u32", k.special("tid.x"));
        k("ld_global_b16", k.element(x, 5));
        k("ld_global_b16", k.element(k.element(x, wide), k.special("tid.x")));
    });
    CHECK_THAT(names(program), ContainsSubstring("add"));
    wgrun::for_each_step(program, [](const wgrun::Step& step) {
        if (step.op->name == "add") CHECK(step.operands[2].imm == 10);
        if (step.op->name == "mad") CHECK(step.operands[2].imm == 2);
    });
}

TEST_CASE("mistakes name what is wrong and the line") {
    CHECK_THAT(refusal([](KernelBuilder& k) { k("ld_globl_f32", 1); }),
               ContainsSubstring("did you mean `ld_global_f32`"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k("no_such_thing"); }),
               ContainsSubstring("no instruction `no_such_thing`"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k("bar_sync", 1, 2, 3, 4); }), ContainsSubstring("takes"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.special("tid.w"); }), ContainsSubstring("tid.w"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.reg("u33"); }), ContainsSubstring("u33"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.param("X", "const u32"); }), ContainsSubstring("const u32"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.element(k.special("tid.x"), 1); }),
               ContainsSubstring("pointer"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.if_(k.special("tid.x"), [] {}); }),
               ContainsSubstring("predicate"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.while_([] { return Value(); }, [] {}); }),
               ContainsSubstring("predicate"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.break_(); }), ContainsSubstring("loop"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.place(k.label("9 lives")); }), ContainsSubstring("9 lives"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k("ld_global_f32", k.param("X", "bf16*")); }),
               ContainsSubstring("bf16"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.special("tid.x") + k.param("X", "f32*"); }),
               ContainsSubstring("add"));
    CHECK_THAT(refusal([](KernelBuilder& k) {
                   k("st_global_v4_f32", k.param("X", "f32*"), std::vector<Value>{Value(), 1});
               }),
               ContainsSubstring("a list takes"));
    CHECK_THAT(refusal([](KernelBuilder& k) { k.loop({.from = 1}, [](const Value&) {}); }),
               ContainsSubstring("missing"));
    const auto with = [](const With& options) {
        return refusal([&](KernelBuilder& k) { k("ld_global_f32", k.param("X", "f32*"), options); });
    };
    CHECK_THAT(with({.qualifiers = {{"spce", "global"}}}), ContainsSubstring("spce"));
    CHECK_THAT(with({.qualifiers = {{"space", "moon"}}}), ContainsSubstring("moon"));
    CHECK_THAT(with({.operands = {{"scale_d", 0}}}), ContainsSubstring("scale_d"));
    CHECK_THAT(with({.offset = {1, 2}}), ContainsSubstring("2 offsets"));
    CHECK_THAT(with({.guard = 1}), ContainsSubstring("predicate"));
}

TEST_CASE("values belong to one kernel") {
    KernelBuilder other("other", {});
    const Value x = other.special("tid.x");
    CHECK_THAT(refusal([&](KernelBuilder& k) { k("add_u32", x, 1); }), ContainsSubstring("another"));
    CHECK_THAT(refusal([&](KernelBuilder& k) { k("add_u32", x, k.special("tid.x")); }),
               ContainsSubstring("another"));
    CHECK_THAT(refusal([&](KernelBuilder& k) {
                   k("st_global_v2_u32", k.param("X", "u32*"), std::vector<Value>{x, k.special("tid.x")});
               }),
               ContainsSubstring("two kernels"));
    CHECK_THROWS_AS(Value(1) + Value(2), ArgumentError);
    CHECK_THROWS_AS(Value(1).type(), ArgumentError);
    CHECK_THROWS_AS(x[0], ArgumentError);
    CHECK_THROWS_AS(!x, ArgumentError);
    CHECK_THROWS_AS(KernelBuilder("big", {.block = {2048, 1, 1}}), ArgumentError);
}
