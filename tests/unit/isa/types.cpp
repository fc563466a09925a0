// Types of registers and instructions.
#include "tests/catch.hpp"
#include "wgrun/isa.hpp"

using namespace wgrun::isa;

namespace {
const std::vector<Type> every_type = [] {
    std::vector<Type> out;
    for (int i = 1; i <= static_cast<int>(Type::f64); ++i) out.push_back(static_cast<Type>(i));
    return out;
}();
}  // namespace

TEST_CASE("types are parsed as they are spelled") {
    for (Type type : every_type) CHECK(parse_type(to_string(type)) == type);
    CHECK(to_string(Type::bf16x2) == "bf16x2");
    for (const char* name : {"", "f31", "F32", "b32 ", "none", "int"}) CHECK_FALSE(parse_type(name));
}

TEST_CASE("a register type is its own, holds as many bits, and is a type of PTX registers") {
    for (Type type : every_type) {
        INFO(to_string(type));
        const Type declared = register_type(type);
        CHECK(register_type(declared) == declared);
        CHECK(bits(declared) >= bits(type));
        CHECK(agrees(declared, type));
    }
    CHECK(register_type(Type::bf16) == Type::b16);
    CHECK(register_type(Type::tf32) == Type::b32);
    CHECK(register_type(Type::s8) == Type::s16);
    CHECK(register_type(Type::none) == Type::none);
}

TEST_CASE("agreement: equal widths, and equal kinds unless one is of bits") {
    CHECK(agrees(Type::b32, Type::f32));
    CHECK(agrees(Type::f32, Type::b32));
    CHECK(agrees(Type::u32, Type::s32));
    CHECK(agrees(Type::b64, Type::f64));
    CHECK(agrees(Type::b16, Type::bf16));
    CHECK(agrees(Type::pred, Type::pred));
    CHECK_FALSE(agrees(Type::u32, Type::f32));
    CHECK_FALSE(agrees(Type::f32, Type::s32));
    CHECK_FALSE(agrees(Type::u32, Type::u64));
    CHECK_FALSE(agrees(Type::u16, Type::u32));
    CHECK_FALSE(agrees(Type::pred, Type::b32));
    CHECK_FALSE(agrees(Type::b16, Type::pred));
    CHECK_FALSE(agrees(Type::none, Type::b32));
    // ptxas takes .b32 for these, but never .f32.
    for (Type type : {Type::tf32, Type::f16x2, Type::bf16x2}) {
        CHECK(agrees(Type::b32, type));
        CHECK_FALSE(agrees(Type::f32, type));
    }
}

TEST_CASE("floats and signs") {
    for (Type type :
         {Type::f16, Type::bf16, Type::f32, Type::tf32, Type::f64, Type::f16x2, Type::e4m3, Type::e5m2x2})
        CHECK(is_float(type));
    for (Type type : {Type::pred, Type::b1, Type::b16, Type::u32, Type::s64}) CHECK_FALSE(is_float(type));
    for (Type type : {Type::s8, Type::s16, Type::s32, Type::s64}) CHECK(is_signed(type));
    for (Type type : {Type::u8, Type::b32, Type::u64, Type::pred}) CHECK_FALSE(is_signed(type));
}
