// Matrix descriptors as bits, and what tiles and descriptors refuse.
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tile.hpp"

using namespace wgrun;

namespace {

Tile tile(Dtype dtype, int mn, int k, Major major = Major::k, std::optional<SwizzleMode> swizzle = {}) {
    return Tile({dtype, mn, k, major, swizzle, AtomOrder::mn});
}

/// The message of the error with its fix.
std::string refusal(const TileSpec& spec) {
    try {
        const Tile made(spec);
    } catch (const ArgumentError& error) {
        return std::string(error.what()) + " | " + error.finding().fix;
    }
    return "accepted";
}

}  // namespace

TEST_CASE("descriptor fields stand where the PTX ISA puts them") {
    const Descriptor d{
        .start = 0x12340, .lbo = 0x20, .sbo = 0x400, .base_offset = 5, .swizzle = SwizzleMode::b64};
    const std::uint64_t bits = d.encode();
    CHECK((bits & 0x3FFF) == 0x1234);
    CHECK((bits >> 16 & 0x3FFF) == 2);
    CHECK((bits >> 32 & 0x3FFF) == 0x40);
    CHECK((bits >> 49 & 7) == 5);
    CHECK(bits >> 62 == 2);
    CHECK(Descriptor::decode(bits) == d);
    CHECK(encoding(SwizzleMode::none) == 0);
    CHECK(encoding(SwizzleMode::b128) == 1);
    CHECK(encoding(SwizzleMode::b64) == 2);
    CHECK(encoding(SwizzleMode::b32) == 3);
    for (std::uint64_t mode = 0; mode < 4; ++mode)
        CHECK(Descriptor::decode(mode << 62).encode() == mode << 62);
}

TEST_CASE("descriptors that cannot be encoded or decoded") {
    CHECK_THROWS_WITH(Descriptor{.start = 8}.encode(),
                      ContainsSubstring("start address 8 is not a multiple of 16"));
    CHECK_THROWS_WITH(Descriptor{.lbo = 1 << 18}.encode(),
                      ContainsSubstring("leading dimension byte offset 262144 does not fit"));
    CHECK_THROWS_WITH(Descriptor{.sbo = 100}.encode(), ContainsSubstring("stride dimension byte offset 100"));
    CHECK_THROWS_WITH(Descriptor{.base_offset = 8}.encode(), ContainsSubstring("base offset 8"));
    for (const int bit : {14, 15, 30, 31, 46, 47, 48, 52, 56, 61})
        CHECK_THROWS_WITH(Descriptor::decode(1ULL << bit), ContainsSubstring("are unused and must be 0"));
}

TEST_CASE("the swizzle is an XOR of address bits") {
    for (const SwizzleMode mode :
         {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
        const Swizzle swizzle = byte_swizzle(mode);
        for (std::uint32_t address = 0; address < 4096; ++address) {
            REQUIRE(swizzled(mode, address) == swizzle(address));
            REQUIRE(swizzled(mode, swizzled(mode, address)) == address);
        }
    }
    CHECK(swizzled(SwizzleMode::b128, 0x380) == 0x3F0);
    CHECK(swizzled(SwizzleMode::b64, 0x380) == 0x3B0);
    CHECK(swizzled(SwizzleMode::b32, 0x380) == 0x390);
}

TEST_CASE("a base offset counts the rows of the pattern from where it starts") {
    // The same rows, with the pattern 128 bytes further on in memory.
    const Descriptor aligned{
        .start = 0x400, .lbo = 16, .sbo = 1024, .base_offset = 0, .swizzle = SwizzleMode::b128};
    const Descriptor shifted{
        .start = 0x480, .lbo = 16, .sbo = 1024, .base_offset = 1, .swizzle = SwizzleMode::b128};
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < 16; ++k)
            REQUIRE(walk(shifted, Major::k, 16, row, k) == walk(aligned, Major::k, 16, row, k) + 128);
}

// Addresses that an H200 was seen to read.
TEST_CASE("the walker goes where the hardware goes") {
    using enum SwizzleMode;
    // B of a sparse wgmma, 64 bytes of K: beyond a 32-byte line at LBO ...
    CHECK(walk({.start = 3072, .lbo = 1024, .sbo = 6144, .base_offset = 0, .swizzle = b32}, Major::k, 16, 0,
               16) == 4096);
    CHECK(walk({.start = 7168, .lbo = 1536, .sbo = 4096, .base_offset = 0, .swizzle = b32}, Major::k, 16, 1,
               16) == 8736);
    CHECK(walk({.start = 4096, .lbo = 256, .sbo = 3072, .base_offset = 0, .swizzle = b32}, Major::k, 16, 1,
               20) == 4392);
    // ... and never inside the four units of a wider one, wherever they start.
    CHECK(walk({.start = 96, .lbo = 4096, .sbo = 1024, .base_offset = 0, .swizzle = b128}, Major::k, 16, 0,
               24) == 128);
}

TEST_CASE("tiles that wgmma cannot read are refused with the reason and the way out") {
    using enum SwizzleMode;
    CHECK(refusal({.dtype = Dtype::f32, .mn = 64, .k = 32}) ==
          "tile f32 64x32 K-major: f32 is not a type of wgmma's A or B | one of f16, bf16, tf32, e4m3, e5m2, "
          "s8, u8, b1 "
          "(f32 data is read as tf32)");
    CHECK_THAT(refusal({.dtype = Dtype::tf32, .mn = 64, .k = 32, .major = Major::mn}),
               ContainsSubstring("f16 and bf16 only, so tf32 must be K-major | major = \"K\""));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 64, .k = 24}),
               ContainsSubstring("k is not a multiple of 16") && ContainsSubstring("| k = 16 or k = 32"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 64, .k = 8}), ContainsSubstring("| k = 16"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 12, .k = 16}), ContainsSubstring("| mn = 16"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 0, .k = 16}),
               ContainsSubstring("extents must be at least 1"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 64, .k = -16}),
               ContainsSubstring("extents must be at least 1"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 64, .k = 32, .major = Major::k, .swizzle = b128}),
               ContainsSubstring("64 bytes of K are not a whole number of 128-byte swizzle atoms | swizzle = "
                                 "\"64B\" or \"32B\" or \"none\""));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 96, .k = 64, .major = Major::mn, .swizzle = b128}),
               ContainsSubstring("192 bytes of M/N"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 2147483640, .k = 2147483632}),
               ContainsSubstring("matrix descriptor reaches"));
    CHECK_THAT(refusal({.dtype = Dtype::bf16, .mn = 2048, .k = 128}),
               ContainsSubstring("it is larger than the 262144 bytes that a matrix descriptor reaches"));
    CHECK(refusal({.dtype = Dtype::bf16, .mn = 1024, .k = 128}) == "accepted");
}

TEST_CASE("without a swizzle the widest that fits is taken") {
    CHECK(tile(Dtype::bf16, 64, 64).swizzle() == SwizzleMode::b128);
    CHECK(tile(Dtype::bf16, 64, 96).swizzle() == SwizzleMode::b64);
    CHECK(tile(Dtype::bf16, 64, 16).swizzle() == SwizzleMode::b32);
    CHECK(tile(Dtype::bf16, 96, 64, Major::mn).swizzle() == SwizzleMode::b64);
    CHECK(tile(Dtype::bf16, 8, 64, Major::mn).swizzle() == SwizzleMode::none);
    CHECK(tile(Dtype::e4m3, 64, 128).swizzle() == SwizzleMode::b128);
    CHECK(tile(Dtype::b1, 64, 256).swizzle() == SwizzleMode::b32);
    CHECK(tile(Dtype::bf16, 64, 64).align() == 1024);
    CHECK(tile(Dtype::bf16, 64, 64, Major::k, SwizzleMode::none).align() == 128);
    CHECK(legal_swizzles(Dtype::bf16, 48, 64, Major::mn) == std::vector{SwizzleMode::b32, SwizzleMode::none});
    CHECK_THROWS_AS(legal_swizzles(Dtype::bf16, 4, 64, Major::k), ArgumentError);
}

TEST_CASE("operands that no single descriptor describes are refused") {
    const Tile t = tile(Dtype::bf16, 128, 128);
    CHECK_THROWS_WITH(t.descriptor(0, 8),
                      ContainsSubstring("K step 8 is outside the tile's 8 steps of 16 elements"));
    CHECK_THROWS_WITH(t.descriptor(0, -1), ContainsSubstring("K step -1"));
    CHECK_THROWS_WITH(t.descriptor(0, 0, 4), ContainsSubstring("cut an 8-row group"));
    CHECK_THROWS_WITH(t.descriptor(0, 0, 128), ContainsSubstring("outside the tile's 128 rows"));
    CHECK_THROWS_WITH(t.descriptor(512), ContainsSubstring("0x200 is not a multiple of 1024 bytes"));
    CHECK_THROWS_WITH(t.descriptor(0x3F000), ContainsSubstring("the first 262144 bytes"));
    CHECK_THROWS_WITH(t.descriptor(0x1000000), ContainsSubstring("the first 262144 bytes"));
    CHECK_THROWS_WITH(t.descriptor(0, OperandBlock{.kstep = 7, .ksteps = 2, .mn_offset = 0, .mn = 0}),
                      ContainsSubstring("K step 7 to 8"));
    CHECK_THROWS_WITH(t.descriptor(0, OperandBlock{.kstep = 0, .ksteps = INT32_MAX, .mn_offset = 0, .mn = 0}),
                      ContainsSubstring("outside"));
    CHECK_THROWS_WITH(
        t.descriptor(0, OperandBlock{.kstep = 0, .ksteps = 1, .mn_offset = 64, .mn = INT32_MAX}),
        ContainsSubstring("outside the tile's 128 rows"));
    const Tile mn = tile(Dtype::bf16, 128, 64, Major::mn);
    CHECK_THROWS_WITH(mn.descriptor(0, 0, 32),
                      ContainsSubstring("start inside an atom of 64 and end outside it"));
    CHECK(mn.descriptor(0, OperandBlock{.kstep = 0, .ksteps = 1, .mn_offset = 32, .mn = 32}).start == 64);
    CHECK_THROWS_WITH(t.offset(128, 0), ContainsSubstring("element (128, 0) is outside the 128x128 tile"));
    CHECK_THROWS_WITH(t.offset(0, -1), ContainsSubstring("outside"));
}

TEST_CASE("names") {
    CHECK(parse_swizzle_mode("64B") == SwizzleMode::b64);
    CHECK(parse_major("MN") == Major::mn);
    CHECK(parse_atom_order("K") == AtomOrder::k);
    CHECK_THROWS_WITH(parse_swizzle_mode("128b"),
                      ContainsSubstring("unknown swizzle \"128b\": did you mean `128B`?"));
    CHECK_THROWS_WITH(parse_major("row"), ContainsSubstring("unknown major-ness \"row\""));
    CHECK_THROWS_WITH(walk_units({}, Major::k, 2, 2, {}),
                      ContainsSubstring("2 lines of 2 units do not fill 0 addresses"));
}
