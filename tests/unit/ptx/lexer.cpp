#include "ptx/lexer.hpp"

#include <bit>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace wgrun::ptx;

namespace {

std::vector<Token> tokens(std::string_view text) {
    Lexer lexer(text);
    std::vector<Token> out;
    do out.push_back(lexer.next());
    while (out.back().kind != Token::Kind::end);
    out.pop_back();
    return out;
}

Token only(std::string_view text) {
    const std::vector<Token> all = tokens(text);
    REQUIRE(all.size() == 1);
    CHECK(all[0].span.size == text.size());
    return all[0];
}

}  // namespace

TEST_CASE("integers in every notation") {
    const auto value = [](std::string_view text) {
        const Token token = only(text);
        REQUIRE(token.kind == Token::Kind::integer);
        return static_cast<std::uint64_t>(token.value);
    };
    CHECK(value("0") == 0);
    CHECK(value("42") == 42);
    CHECK(value("42U") == 42);
    CHECK(value("0x2a") == 42);
    CHECK(value("0X2AU") == 42);
    CHECK(value("0b101010") == 42);
    CHECK(value("052") == 42);
    CHECK(value("18446744073709551615") == UINT64_MAX);
    CHECK(value("0xFFFFFFFFFFFFFFFF") == UINT64_MAX);
}

TEST_CASE("real numbers in every notation") {
    const Token half = only("0f3F000000");
    CHECK(half.kind == Token::Kind::f32);
    CHECK(std::bit_cast<float>(static_cast<std::uint32_t>(half.value)) == 0.5F);
    for (const std::string_view text : {"0d3FE0000000000000", "0.5", "5e-1", "5.0E-1"}) {
        CAPTURE(text);
        const Token token = only(text);
        CHECK(token.kind == Token::Kind::f64);
        CHECK(std::bit_cast<double>(token.value) == 0.5);
    }
}

TEST_CASE("what is no number is said to be none") {
    for (const std::string_view text :
         {"0f3F", "0f3F0000000", "0d12", "12ab", "08", "0b12", "0x", "18446744073709551616"}) {
        CAPTURE(text);
        CHECK(only(text).kind == Token::Kind::bad);
    }
}

TEST_CASE("words, qualifiers and the dots between them") {
    const std::vector<Token> all = tokens("%tid.x .L2::cache_hint $L__BB0_1 _ %");
    REQUIRE(all.size() == 6);
    CHECK(all[0].kind == Token::Kind::word);
    CHECK(all[1].kind == Token::Kind::dotted);
    CHECK(all[2].kind == Token::Kind::dotted);
    CHECK(all[2].span.size == std::string_view(".L2::cache_hint").size());
    CHECK(all[3].kind == Token::Kind::word);
    CHECK(all[4].kind == Token::Kind::word);
    CHECK(all[5].symbol == '%');
}

TEST_CASE("comments and lines of a preprocessor are skipped, and lines are counted") {
    const std::vector<Token> all = tokens("# 1 \"kernel.cu\"\na /* b\n c */ d // e\nf");
    REQUIRE(all.size() == 3);
    CHECK(all[0].first);
    CHECK(all[1].first);  // a comment may end in the next line
    CHECK(all[2].first);
    CHECK(tokens("a b")[1].first == false);
}

TEST_CASE("text that never ends, and bytes that are no text") {
    CHECK(tokens("/* no end")[0].kind == Token::Kind::bad);
    CHECK(tokens("\"no end\n")[0].kind == Token::Kind::bad);
    const std::string bytes("\x01\x02\xff\x00\xfe", 5);
    const std::vector<Token> all = tokens(bytes);
    REQUIRE(all.size() == 1);  // one complaint for all of them
    CHECK(all[0].kind == Token::Kind::bad);
}
