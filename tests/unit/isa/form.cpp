// Completing and refusing qualifiers: the results of resolve, and every kind of message.
#include "tests/catch.hpp"
#include "tests/forms.hpp"

using namespace wgrun;
using namespace wgrun::isa;

namespace {

/// "type=f32 vec=4" as a form; spelled as in scripts.
Form form(std::string_view text) {
    Form out;
    while (!text.empty()) {
        const std::size_t equals = text.find('='), end = std::min(text.find(' '), text.size());
        const auto field = parse_field(text.substr(0, equals));
        REQUIRE(field);
        const auto value = parse_value(*field, text.substr(equals + 1, end - equals - 1));
        REQUIRE(value);
        out.set(*field, *value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string resolved(std::string_view name, std::string_view asked) {
    return test::spelled(resolve(*find(name), form(asked)));
}

std::string refused(std::string_view name, std::string_view asked) {
    try {
        return "legal: " + test::spelled(resolve(*find(name), form(asked)));
    } catch (const ArgumentError& error) {
        CHECK(error.finding().rule == "WG-FORM-01");
        CHECK(error.finding().section == find(name)->section);
        return error.finding().message;
    }
}

}  // namespace

TEST_CASE("fields are parsed as they are spelled") {
    for (int i = 0; i < field_count; ++i) {
        const auto field = static_cast<Field>(i);
        CHECK(parse_field(to_string(field)) == field);
        for (int value : test::writable_values(field)) {
            const std::string text = spelled(field, value);
            const bool flag = parse_value(field, "1") == 1 && parse_value(field, text) == 1;
            if (!text.empty()) CHECK(parse_value(field, text) == (flag ? 1 : value));
        }
    }
    CHECK_FALSE(parse_field("shape"));
    CHECK(parse_value(Field::vec, "v4") == 4);
    CHECK(parse_value(Field::vec, "4") == 4);
    CHECK(parse_value(Field::satfinite, "satfinite") == 1);
    CHECK(parse_value(Field::n, "64") == 64);
    for (const char* text : {"", "64x", "x", "99999999999", "6.4", " 64"})
        CHECK_FALSE(parse_value(Field::n, text));
    for (const char* text : {"", "99", "lt ", "LT"}) CHECK_FALSE(parse_value(Field::cmp, text));
}

TEST_CASE("what follows from the row or has a fallback may be left out") {
    CHECK(resolved("wgmma.mma_async", "n=64 d=f32 a=bf16 b=bf16") ==
          "d=f32 a=bf16 b=bf16 m=64 n=64 k=16 a_in=shared trans_a=0 trans_b=0 scale_a=1 scale_b=1");
    CHECK(resolved("wgmma.mma_async", "n=64 a=e5m2 b=e4m3 d=f16 a_in=registers") ==
          "d=f16 a=e5m2 b=e4m3 m=64 n=64 k=32 a_in=registers scale_a=1 scale_b=1");
    CHECK(resolved("wgmma.mma_async", "n=48 a=b1 b=b1") ==
          "d=s32 a=b1 b=b1 m=64 n=48 k=256 op=and.popc a_in=shared");
    CHECK(resolved("add", "type=f32") == "type=f32 round=rn ftz=0 sat=0");
    CHECK(resolved("add", "type=u32") == "type=u32");
    CHECK(resolved("mul", "type=s16") == "type=s16 half=lo");
    CHECK(resolved("ld", "type=f32 space=global") == "type=f32 space=global vec=1");
    CHECK(resolved("rcp", "type=f32") == "type=f32 round=rn ftz=0");
    CHECK(resolved("rcp", "type=f32 approx=approx") == "type=f32 approx=approx ftz=0");
    CHECK(resolved("cvt", "type=s32 from=f32") == "type=s32 from=f32 round=rzi");
    CHECK(resolved("wgmma.fence", "") == "");
    CHECK(resolved("fence.proxy.async", "") == "");
}

TEST_CASE("a refusal names the qualifier and what would be legal") {
    CHECK(refused("wgmma.mma_async", "n=64 k=8 d=f32 a=bf16 b=bf16") ==
          "wgmma.mma_async: k=8 is not legal for d=f32, a=bf16, b=bf16 (legal: 16)");
    CHECK(refused("wgmma.mma_async", "n=12 d=f32 a=bf16 b=bf16") ==
          "wgmma.mma_async: n=12 is not legal for d=f32, a=bf16, b=bf16 (legal: 8, 16, 24, ..., 256)");
    CHECK(refused("wgmma.mma_async", "n=40 d=s32 a=s8 b=u8") ==
          "wgmma.mma_async: n=40 is not legal for d=s32, a=s8, b=u8 (legal: 8, 16, 24, 32, 48, 64, 80, ..., "
          "256)");
    CHECK(refused("wgmma.mma_async", "n=64 d=f16 a=bf16 b=bf16") ==
          "wgmma.mma_async: d=f16 is not legal for a=bf16, b=bf16 (legal: f32)");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=f16 b=bf16") ==
          "wgmma.mma_async: b=bf16 is not legal for d=f32, a=f16 (legal: f16)");
    CHECK(refused("wgmma.mma_async", "m=128 n=64 d=f32 a=f16 b=f16") ==
          "wgmma.mma_async: m=128 is not legal for d=f32, a=f16, b=f16 (legal: 64)");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=tf32 b=tf32 trans_b=1") ==
          "wgmma.mma_async takes no `trans_b` for d=f32, a=tf32, b=tf32");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=f16 b=f16 a_in=registers trans_a=1") ==
          "wgmma.mma_async takes no `trans_a` for d=f32, a=f16, b=f16, a_in=registers");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=f16 b=f16 satfinite=1") ==
          "wgmma.mma_async takes no `satfinite` for d=f32, a=f16, b=f16");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=f16 b=f16 scale_a=0") ==
          "wgmma.mma_async: scale_a=0 is not legal for d=f32, a=f16, b=f16 (legal: -1, 1)");
    CHECK(refused("wgmma.mma_async", "n=64 d=s32 a=s8 b=s8 satfinite=2") ==
          "wgmma.mma_async: satfinite=2 is not legal for d=s32, a=s8, b=s8 (legal: 0, 1)");
    CHECK(refused("wgmma.mma_async", "n=64 d=f32 a=f16 b=f16 vec=2") == "wgmma.mma_async takes no `vec`");
    CHECK(refused("ld", "type=f64 space=global vec=4") ==
          "ld: vec=v4 is not legal for type=f64, space=global (legal: 1, v2)");
    CHECK(refused("ld", "type=f32 space=param") ==
          "ld: space=param is not legal for type=f32 (legal: global, shared, shared::cta, shared::cluster, "
          "local)");
    CHECK(refused("setp", "type=s32 cmp=lo") ==
          "setp: cmp=lo is not legal for type=s32 (legal: eq, ne, lt, le, gt, ge)");
    CHECK(refused("mul", "type=u64 half=wide") == "mul: half=wide is not legal for type=u64 (legal: lo, hi)");
    CHECK(refused("rsqrt", "type=f32 approx=0") == "rsqrt: approx=0 is not legal for type=f32 (legal: 1)");
    CHECK(refused("wgmma.fence", "type=f32") == "wgmma.fence takes no `type`");
}

TEST_CASE("what is missing is asked for") {
    CHECK(refused("wgmma.mma_async", "d=f32 a=bf16 b=bf16") ==
          "wgmma.mma_async needs `n` for d=f32, a=bf16, b=bf16 (legal: 8, 16, 24, ..., 256)");
    CHECK(refused("add", "") ==
          "add needs `type` (legal: u16, s16, f16, bf16, u32, s32, f32, f16x2, bf16x2, u16x2, s16x2, u64, "
          "s64, f64)");
    CHECK(refused("isspacep", "") ==
          "isspacep needs `space` (legal: global, shared, shared::cta, shared::cluster, local)");
    CHECK(refused("setp", "type=f32") ==
          "setp needs `cmp` for type=f32 (legal: eq, ne, lt, ..., ge, equ, neu, ltu, ..., nan)");
    CHECK(refused("cvt", "from=f32 round=rpi") ==
          "cvt needs `type` for from=f32 (legal: u32, s32, u64, s64)");
    CHECK(refused("special", "") ==
          "special needs `sreg` (legal: tid.x, tid.y, tid.z, ..., is_explicit_cluster)");
}

TEST_CASE("row_of finds the row of a complete form, with its PTX version") {
    const Instruction& op = *find("wgmma.mma_async");
    const auto version = [&](std::string_view asked) { return row_of(op, resolve(op, form(asked))).min_ptx; };
    CHECK(version("n=64 d=s32 a=s8 b=u8") == PtxVersion{8, 4});
    CHECK(version("n=64 d=s32 a=u8 b=u8") == PtxVersion{8, 0});
    CHECK_THROWS_WITH(row_of(op, form("n=3")), ContainsSubstring("wgmma.mma_async: "));
}

TEST_CASE("128 bits are asked for by name") {
    int rows = 0;
    for (const Instruction* op : all())
        for (const Row& row : op->rows) {
            const Choice* type = row.find(Field::type);
            if (type == nullptr || type->values() != std::vector{static_cast<int>(Type::b128)}) continue;
            if (op->name.ends_with(".b128")) continue;
            Form asked;
            for (const Choice& choice : row.choices)
                if (&choice != type && !choice.fallback) asked.set(choice.field, choice.values().front());
            INFO(op->name << ": " << test::spelled(asked));
            bool filled_in = false;
            try {
                filled_in = resolve(*op, asked).type() == Type::b128;
            } catch (const ArgumentError&) {  // it is asked for
            }
            CHECK_FALSE(filled_in);
            ++rows;
        }
    CHECK(rows > 20);
    CHECK(refused("mov", "").starts_with("mov needs `type` (legal: pred, b16, u16, s16, b32, "));
    CHECK(refused("ld", "space=global").starts_with("ld needs `type` for space=global (legal: b8, u8, s8, "));
}
