#include "wgrun/tile.hpp"

#include "tests/catch.hpp"

using namespace wgrun;

TEST_CASE("a tile is explained") {
    const std::string text = explain(Tile({Dtype::bf16, 128, 64, Major::k, std::nullopt, AtomOrder::mn}));
    CHECK_THAT(text, ContainsSubstring(
                         "tile bf16 128x64, K-major, swizzle 128B: 16384 bytes at a multiple of 1024\n"));
    CHECK_THAT(text,
               ContainsSubstring("Swizzle<3,3,3> o ((8,16),(64,1)):((64,512),(1,0))  (offsets in elements)"));
    CHECK_THAT(text, ContainsSubstring("Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))"));
    CHECK_THAT(text, ContainsSubstring("LBO        16 bytes (field 1): not used"));
    CHECK_THAT(text, ContainsSubstring("SBO        1024 bytes (field 64): from 8 rows to the next 8"));
    CHECK_THAT(text, ContainsSubstring("start address +0, +32, +64, +96"));
    CHECK_THAT(text, ContainsSubstring("* 128B 128 contiguous bytes a global request, 1 TMA box"));
    CHECK_THAT(
        text, ContainsSubstring(
                  "  64B  64 contiguous bytes a global request, 2 TMA boxes, conflicts: st.shared.v4 2-way"));
    CHECK_THAT(text, ContainsSubstring("wgmma: no conflicts"));
}

TEST_CASE("what is not legal is explained with the reason") {
    const std::string text = explain(Tile({Dtype::bf16, 96, 64, Major::mn, std::nullopt, AtomOrder::mn}));
    CHECK_THAT(
        text, ContainsSubstring("128B not legal: 192 bytes of M/N are not a whole number of 128-byte atoms"));
    CHECK_THAT(text, ContainsSubstring("24 boxes of 32x8 elements"));
    CHECK_THAT(text, ContainsSubstring("order = \"K\" would need 3 boxes only"));
    CHECK_THAT(explain(Tile({Dtype::tf32, 64, 32, Major::k, std::nullopt, AtomOrder::mn})),
               ContainsSubstring(
                   "MN-major is not legal: wgmma has transpose immediates for f16 and bf16 only, not tf32"));
}

TEST_CASE("a descriptor is explained field by field") {
    const Tile tile({Dtype::bf16, 128, 64, Major::k, std::nullopt, AtomOrder::mn});
    const std::string text = explain(tile.descriptor(0x400, 1));
    CHECK_THAT(text, ContainsSubstring("matrix descriptor 0x4000004000010042"));
    CHECK_THAT(text, ContainsSubstring("byte 0x420 of the shared window"));
    CHECK_THAT(text, ContainsSubstring("1024 bytes: K-major: to the next 8 rows"));
    CHECK_THAT(text, ContainsSubstring("128B: Swizzle<3,4,3> on byte addresses"));
}
