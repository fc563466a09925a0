// Messages of threads: formats, order, folding, and the steps that replace them on the GPU.
#include "program/messages.hpp"

#include <array>
#include <bit>

#include "isa/device_print.hpp"
#include "program/printing.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using isa::Type;

namespace {

std::string said(std::string_view format, Type type, std::uint64_t value) {
    Message message;
    message.types = {type};
    const std::array counts{0};
    message.pieces = parse_format(format, message.types, counts);
    return text_of(message, std::span(&value, 1));
}

/// Each thread prints its number.
Program numbers() {
    Builder b("numbers", 64, {}, Where::at("folder/k.lua", 1));
    const Reg x = b.reg(Type::u32);
    b.at(Where::at("folder/k.lua", 7));
    b.say(Message::Kind::print, "x = %u", {Operand::of(x)});
    b.at(Where::at("folder/k.lua", 8));
    b.say(Message::Kind::trap, "", {});
    return b.finish();
}

}  // namespace

TEST_CASE("messages: values are read as their registers have them") {
    CHECK(said("%d", Type::s32, 0xFFFFFFFF) == "-1");
    CHECK(said("%d", Type::u32, 0xFFFFFFFF) == "4294967295");
    CHECK(said("%d", Type::s16, 0xFFFE) == "-2");
    CHECK(said("%d", Type::s64, UINT64_MAX) == "-1");
    CHECK(said("%u", Type::s32, 0xFFFFFFFF) == "4294967295");
    CHECK(said("%#06x|", Type::b16, 0x1AB) == "0x01ab|");
    CHECK(said("%x", Type::f32, std::bit_cast<std::uint32_t>(1.0F)) == "3f800000");
    CHECK(said("%.2f", Type::f32, std::bit_cast<std::uint32_t>(2.0F)) == "2.00");
    CHECK(said("%g", Type::s32, 0xFFFFFFFF) == "-1");
    CHECK(said("%s", Type::f32, std::bit_cast<std::uint32_t>(0.1F)) == "0.1");
    CHECK(said("%s", Type::f64, std::bit_cast<std::uint64_t>(0.1)) == "0.1");
    CHECK(said("%s", Type::pred, 1) == "true");
    CHECK(said("%s", Type::b32, 255) == "0xff");
    CHECK(said("%s", Type::s32, 0xFFFFFFFF) == "-1");
    CHECK(said("100%% of %d", Type::pred, 1) == "100% of 1");
    CHECK(said("%99.99f", Type::f64, std::bit_cast<std::uint64_t>(1e300)).size() > 300);
}

TEST_CASE("messages: a format that does not fit is refused") {
    for (const char* format : {"%", "%q", "%123d", "%.123d", "% ", "%n", "%ld", "%*d"})
        CHECK_THROWS_AS(said(format, Type::u32, 0), ArgumentError);
    CHECK_THROWS_AS(said("%f", Type::b32, 0), ArgumentError);
    CHECK_THROWS_AS(said("%d", Type::f64, 0), ArgumentError);
    CHECK_THROWS_AS(said("%d %d", Type::u32, 0), ArgumentError);
    CHECK_THROWS_AS(said("nothing", Type::u32, 0), ArgumentError);
}

TEST_CASE("messages: the order is that of CTAs, rounds and threads, whoever was first") {
    const Program program = numbers();
    MessageLog log(program, {2, 1, 1}, 100);
    const auto add = [&](std::uint32_t cta, std::uint32_t thread, std::uint64_t value) {
        log.add({cta, 0, 0}, thread, 0, std::span(&value, 1));
    };
    add(1, 0, 5);
    add(0, 33, 5);
    add(0, 33, 6);
    add(0, 2, 5);
    add(0, 1, 4);
    add(0, 0, 5);
    add(0, 2, 5);
    add(0, 3, 5);
    const std::vector<std::string> expected{
        "[k.lua:7 cta 0 threads 0, 2-3, 33] x = 5", "[k.lua:7 cta 0 thread 1] x = 4",
        "[k.lua:7 cta 0 thread 2] x = 5", "[k.lua:7 cta 0 thread 33] x = 6",
        "[k.lua:7 cta 1 thread 0] x = 5"};
    CHECK(log.lines() == expected);
    CHECK_FALSE(log.end());
    log.add({1, 0, 0}, 9, 1, {});
    REQUIRE(log.end());
    CHECK(log.end()->where.line == 8);
    CHECK(log.end()->message == "the kernel traps (cta 1 thread 9)");
}

TEST_CASE("messages: those of several devices name theirs") {
    const Program program = numbers();
    MessageLog log(program, {1, 2, 1}, 100);
    const std::uint64_t value = 5;
    log.add({0, 1, 0}, 3, 0, std::span(&value, 1), 1);
    log.add({0, 1, 0}, 3, 0, std::span(&value, 1));
    CHECK(log.lines() == std::vector<std::string>{"[k.lua:7 device 0 cta {0, 1, 0} thread 3] x = 5",
                                                  "[k.lua:7 device 1 cta {0, 1, 0} thread 3] x = 5"});
}

TEST_CASE("messages: what has no room is counted") {
    const Program program = numbers();
    MessageLog log(program, {1, 1, 1}, 3);
    const std::uint64_t value = 1;
    for (std::uint32_t thread = 0; thread < 5; ++thread) log.add({0, 0, 0}, thread, 0, std::span(&value, 1));
    REQUIRE(log.lines().size() == 2);
    CHECK(log.lines()[0] == "[k.lua:7 cta 0 threads 0-2] x = 1");
    CHECK(log.lines()[1].starts_with("[kernel numbers: 2 more messages"));
}

TEST_CASE("messages: what the GPU runs has a parameter more, and nothing of the records as written") {
    const Program program = numbers(), to = printing(program);
    REQUIRE(to.params().size() == 1);
    CHECK(to.params().front().type == Type::u64);
    int words = 0, ends = 0;
    for_each_step(to, [&](const Step& step) {
        CHECK_FALSE(isa::device_print::prints(*step.op));
        words += step.op == &isa::device_print::word();
        ends += step.op == &isa::device_print::end();
    });
    CHECK(words == 1);
    CHECK(ends == 1);
    CHECK_THROWS_AS(refuse_messages(program, "this"), ArgumentError);
    CHECK_NOTHROW(refuse_messages(Builder("quiet", 32, {}, {}).finish(), "this"));
}
