#include "tests/catch.hpp"
#include "wgrun/program.hpp"

using namespace wgrun;

namespace {

std::string refused(const TensorBox& box) {
    try {
        check_box(box);
        return "legal";
    } catch (const ArgumentError& error) {
        return error.finding().message;
    }
}

}  // namespace

TEST_CASE("a box within the limits of cuTensorMapEncodeTiled, and its bytes") {
    CHECK(refused({Dtype::bf16, {64, 128}, SwizzleMode::b128, true}) == "legal");
    CHECK(refused({Dtype::s8, {16, 1, 1, 1, 256}, SwizzleMode::none, false}) == "legal");
    CHECK(refused({Dtype::f32, {8}, SwizzleMode::b32, false}) == "legal");
    CHECK(TensorBox{Dtype::bf16, {64, 128}, SwizzleMode::b128, false}.bytes() == 16384);
    CHECK(TensorBox{Dtype::f64, {2, 3, 5}, SwizzleMode::none, false}.bytes() == 240);
}

TEST_CASE("lines shorter than the swizzle are as far apart as it is wide") {
    const TensorBox narrow{Dtype::f32, {8, 3, 2}, SwizzleMode::b128, false};
    CHECK(narrow.bytes() == 192);
    CHECK(narrow.pitch() == 128);
    CHECK(narrow.span() == 768);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
    narrow.for_each_run(1024, [&](std::uint32_t at, std::uint32_t bytes) { runs.emplace_back(at, bytes); });
    REQUIRE(runs.size() == 12);
    CHECK(runs[0] == std::pair{1024U, 16U});
    CHECK(runs[2] == std::pair{1024U + 128 + 16, 16U});  // the second line: its units change places
    CHECK(runs[3] == std::pair{1024U + 128, 16U});
    const TensorBox packed{Dtype::f32, {8, 3}, SwizzleMode::none, false};
    CHECK(packed.pitch() == 32);
    CHECK(packed.span() == packed.bytes());
}

TEST_CASE("a box beyond them is refused with the reason") {
    CHECK(refused({Dtype::bf16, {}, SwizzleMode::none, false}) ==
          "tensor map: box {} of bf16: 1 to 5 dimensions are possible");
    CHECK(refused({Dtype::bf16, {8, 1, 1, 1, 1, 1}, SwizzleMode::none, false}) ==
          "tensor map: box {8, 1, 1, 1, 1, 1} of bf16: 1 to 5 dimensions are possible");
    CHECK(refused({Dtype::bf16, {64, 257}, SwizzleMode::none, false}) ==
          "tensor map: box {64, 257} of bf16: each extent is 1 to 256 elements");
    CHECK(refused({Dtype::bf16, {0, 8}, SwizzleMode::none, false}) ==
          "tensor map: box {0, 8} of bf16: each extent is 1 to 256 elements");
    CHECK(refused({Dtype::bf16, {12, 8}, SwizzleMode::none, false}) ==
          "tensor map: box {12, 8} of bf16: 24 bytes wide, which is not a multiple of 16");
    CHECK(refused({Dtype::f16, {64, 8}, SwizzleMode::b64, false}) ==
          "tensor map: box {64, 8} of f16: 128 bytes wide: at most 64 with the 64B swizzle");
    CHECK(refused({Dtype::u8, {64, 8}, SwizzleMode::none, true}) ==
          "tensor map: box {64, 8} of u8: only floats can be filled with NaN");
    CHECK(refused({Dtype::b1, {128, 8}, SwizzleMode::none, false}) ==
          "tensor map: box {128, 8} of b1: elements are at least one byte");
}

TEST_CASE("a tensor map is a parameter: its name is its own") {
    Builder builder("k", 128, {}, {});
    CHECK(builder.tensor_map("A", {Dtype::bf16, {64, 8}, SwizzleMode::b128, false}, true) == 0);
    CHECK(builder.param_info(0).type == isa::Type::tensormap);
    CHECK(builder.param_info(0).constant);
    CHECK_THROWS_WITH(builder.param("A", isa::Type::u32, {}), "two parameters called `A`");
    CHECK_THROWS_WITH(builder.tensor_map("A", {}, false), "two parameters called `A`");
    CHECK_THROWS(builder.reg(isa::Type::tensormap));
}
