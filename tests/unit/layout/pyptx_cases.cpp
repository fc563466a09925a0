// Where pyptx's picker answers wrongly (its findings by number), what the PTX ISA says instead.
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tile.hpp"

using namespace wgrun;

namespace {

Tile tile(Dtype dtype, int mn, int k, Major major, std::optional<SwizzleMode> swizzle = std::nullopt) {
    return Tile({dtype, mn, k, major, swizzle, AtomOrder::mn});
}

}  // namespace

TEST_CASE("2: a K step in the next 128-byte stripe starts where the stripe starts") {
    // 64 x 128 bf16: two stripes of 64 x 128 bytes. pyptx steps 32 bytes on and on.
    const Tile t = tile(Dtype::bf16, 64, 128, Major::k);
    CHECK(t.swizzle() == SwizzleMode::b128);
    CHECK(t.lbo() == 16);  // not used, encoded as 1
    CHECK(t.descriptor(0, 3).start == 96);
    CHECK(t.descriptor(0, 4).start == 64 * 128);
    CHECK(t.descriptor(0, 7).start == 64 * 128 + 96);
}

TEST_CASE("3: 16 bytes of K are no operand, and K-major without a swizzle is available at usable widths") {
    CHECK_THROWS_WITH(tile(Dtype::bf16, 64, 8, Major::k), ContainsSubstring("k is not a multiple of 16"));
    CHECK_THROWS_WITH(tile(Dtype::s8, 64, 16, Major::k), ContainsSubstring("k is not a multiple of 32"));
    const Tile t = tile(Dtype::bf16, 64, 16, Major::k, SwizzleMode::none);
    CHECK(t.lbo() == 64 * 16);  // to the second 16-byte column
    CHECK(t.sbo() == 128);
}

TEST_CASE("4: only 16-bit types have an MN-major form") {
    for (const Dtype dtype : {Dtype::tf32, Dtype::e4m3, Dtype::e5m2, Dtype::s8, Dtype::u8, Dtype::b1})
        CHECK_THROWS_WITH(tile(dtype, 256, 256, Major::mn), ContainsSubstring("must be K-major"));
}

TEST_CASE("5: one and a half atoms are none") {
    CHECK_THROWS_WITH(tile(Dtype::bf16, 96, 64, Major::mn, SwizzleMode::b128),
                      ContainsSubstring("192 bytes of M/N are not a whole number of 128-byte"));
    const Tile t = tile(Dtype::bf16, 96, 64, Major::mn);
    CHECK(t.swizzle() == SwizzleMode::b64);
    CHECK(t.bytes() == 96 * 64 * 2);
    const Tile by_stripe({Dtype::bf16, 96, 64, Major::mn, std::nullopt, AtomOrder::k});
    CHECK(by_stripe.lbo() == 64 * 64);
    CHECK(by_stripe.sbo() == 512);
}

TEST_CASE("6: fewer K rows than an instruction reads") {
    CHECK_THROWS_WITH(tile(Dtype::bf16, 64, 8, Major::mn), ContainsSubstring("k is not a multiple of 16"));
}

TEST_CASE("7: MN-major rows of 48, 80, 96 and 112 bytes are several smaller atoms") {
    const struct {
        int mn;
        SwizzleMode swizzle;
    } rows[]{
        {24, SwizzleMode::none}, {40, SwizzleMode::none}, {48, SwizzleMode::b32}, {56, SwizzleMode::none}};
    for (const auto& [mn, swizzle] : rows) CHECK(tile(Dtype::bf16, mn, 64, Major::mn).swizzle() == swizzle);
    const Tile by_stripe({Dtype::bf16, 48, 64, Major::mn, SwizzleMode::b32, AtomOrder::k});
    CHECK(by_stripe.lbo() == 64 * 32);
    CHECK(by_stripe.sbo() == 256);
}

TEST_CASE("8: every atom that divides the tile will do") {
    CHECK(legal_swizzles(Dtype::bf16, 64, 64, Major::k) ==
          std::vector{SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32, SwizzleMode::none});
}

TEST_CASE("9: a tile of several stripes is filled by one box a stripe") {
    const TmaBox box = tile(Dtype::bf16, 64, 256, Major::k).tma_box();
    CHECK(box.inner == 64);
    CHECK(box.outer == 64);
    REQUIRE(box.panels.size() == 4);
    CHECK(box.panels[3] == TmaPanel{3 * 64 * 128, 0, 192});
}

TEST_CASE("10: 128-aligned is not enough for a base offset of 0") {
    const Tile t = tile(Dtype::bf16, 64, 64, Major::k);
    CHECK_THROWS_WITH(t.descriptor(0x20480), ContainsSubstring("0x20480 is not a multiple of 1024 bytes"));
    CHECK(t.descriptor(0x20480,
                       OperandBlock{.kstep = 0, .ksteps = 1, .mn_offset = 0, .mn = 0, .base_offset = true})
              .base_offset == 1);
}

TEST_CASE("odd arguments: names are checked, an LBO that does not fit is no 0") {
    CHECK_THROWS_WITH(parse_major("k"), ContainsSubstring("unknown major-ness \"k\""));
    // 4096 rows of 128 bytes: pyptx's LBO of 512 KiB becomes 0 in 14 bits.
    CHECK_THROWS_WITH(tile(Dtype::e4m3, 4096, 128, Major::k),
                      ContainsSubstring("larger than the 262144 bytes that a matrix descriptor reaches"));
    CHECK(tile(Dtype::b1, 64, 1024, Major::k).swizzle() == SwizzleMode::b128);
}
