#include "wgrun/identify.hpp"

#include "golden.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

void check(std::string_view layout, Dtype dtype, Major major, SwizzleMode swizzle, int lbo, int sbo) {
    INFO(layout);
    const Identity id = identify(Layout::parse(layout), dtype);
    CHECK(id.canonical);
    CHECK(id.operand);
    CHECK(id.major == major);
    CHECK(id.swizzle == swizzle);
    CHECK(id.lbo == lbo);
    CHECK(id.sbo == sbo);
}

}  // namespace

// PTX ISA 9.7.15.5.1.2.1.3, figures 166 to 170; byte swizzles as printed there.
TEST_CASE("the PTX ISA's worked examples are identified") {
    check("Swizzle<0,4,3> o ((8,2),(4,4)):((4,32),(1,64))", Dtype::tf32, Major::k, SwizzleMode::none, 256,
          128);
    check("Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))", Dtype::tf32, Major::k, SwizzleMode::b32, 16, 256);
    check("Swizzle<0,4,3> o ((8,1,2),(8,2)):((1,8,64),(8,128))", Dtype::bf16, Major::mn, SwizzleMode::none,
          256, 128);
    check("Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))", Dtype::bf16, Major::mn, SwizzleMode::b32,
          256, 512);
    check("Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))", Dtype::bf16, Major::mn, SwizzleMode::b64,
          512, 1024);
    // Figure 167 as printed uses places twice; the text says so.
    CHECK_THAT(identify(Layout::parse("Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))"), Dtype::tf32).text,
               ContainsSubstring("some elements share an address"));
}

TEST_CASE("every tile's layout is identified as that tile") {
    int tiles = 0;
    for (const Dtype dtype : {Dtype::bf16, Dtype::tf32, Dtype::s8, Dtype::b1})
        for (const Major major : {Major::k, Major::mn})
            for (const SwizzleMode mode :
                 {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128})
                for (const AtomOrder order : {AtomOrder::mn, AtomOrder::k}) {
                    if (major == Major::mn && dtype != Dtype::bf16) continue;
                    const Tile tile({dtype, 128, 2048 / bits(dtype), major, mode, order});
                    const Identity id = identify(tile.layout(), dtype);
                    INFO(tile.layout().to_string() << ": " << id.text);
                    CHECK(id.canonical);
                    CHECK(id.operand);
                    CHECK(id.major == major);
                    CHECK(id.swizzle == mode);
                    CHECK(id.lbo == tile.lbo());
                    CHECK(id.sbo == tile.sbo());
                    ++tiles;
                }
    CHECK(tiles == 40);
}

TEST_CASE("layouts that CuTe makes descriptors of are canonical, and those it refuses are not") {
    const auto file = golden::load("gmma_desc.json");
    const auto check = [](const nlohmann::json& c, bool reported_mismatch) {
        INFO(c["id"] << " " << c["layout"].dump());
        const Dtype dtype = dtype_named(c["dtype"].get<std::string>());
        const auto& s = c["byte_swizzle"];
        const Layout plain = golden::layout(c["layout"]);
        const Swizzle bytes(s[0], s[1], s[2]);
        const Identity id = identify(s[0] == 0 ? plain : Layout(bytes.upcast(bits(dtype) / 8), plain), dtype);
        if (c.contains("out_of_bounds"))
            CHECK_FALSE(id.canonical);
        else if (!reported_mismatch)
            CHECK(id.canonical);
        CHECK(id.operand == (id.canonical && c["wgmma_supports"].get<bool>()));
    };
    for (const auto& c : file["cases"])
        if (!c.contains("reject")) check(c, !c["descriptor_addresses_match_layout"].get<bool>());
}

TEST_CASE("what is not canonical: the nearest layout, where it differs, and what would mend it") {
    const auto text = [](std::string_view layout, Dtype dtype = Dtype::bf16) {
        const Identity id = identify(Layout::parse(layout), dtype);
        CHECK_FALSE(id.canonical);
        CHECK_FALSE(id.operand);
        return id.text;
    };
    CHECK(text("(64,64):(64,1)") ==
          "not a canonical layout; the nearest is K-major, swizzle 128B (SBO 1024 bytes, LBO not used): 3584 "
          "of 4096 "
          "elements differ, first (row 1, k 0), which the layout puts at byte 128 and wgmma reads at byte "
          "144; it would be "
          "K-major, swizzle 128B with Swizzle<3,3,3> (on elements)");
    CHECK_THAT(text("(64,16):(16,1)"), ContainsSubstring("the nearest is K-major, swizzle 32B"));
    CHECK_THAT(text("Swizzle<3,4,3> o (64,16):(72,1)"), ContainsSubstring("SBO 1152 bytes"));
    CHECK_THAT(text("Swizzle<2,4,3> o (64,64):(64,1)"),
               ContainsSubstring("it would be K-major, swizzle 128B"));
    CHECK_THAT(text("Swizzle<3,3,3> o ((8,8),(8,2)):((8,64),(1,512))"),
               ContainsSubstring("swizzle none without a swizzle"));
    CHECK_THAT(text("(64,8):(8,1)"),
               ContainsSubstring("8 rows and 16 bf16 elements (32 bytes) of K at a time"));
    CHECK_THAT(text("((4,3),(8,2)):((8,64),(1,192))"), ContainsSubstring("not"));
    const Identity d = identify(Layout::parse("(64,64):(64,1)"), Dtype::bf16);
    REQUIRE(d.difference);
    CHECK(d.difference->row == 1);
    CHECK(d.difference->given == 128);
    CHECK(d.difference->expected == 144);
    CHECK_THROWS_WITH(identify(Layout::parse("64:1"), Dtype::bf16), ContainsSubstring("two modes"));
    CHECK_THROWS_WITH(identify(Layout::parse("(8,8)"), Dtype::f64), ContainsSubstring("f64 is not a type"));
    CHECK_THROWS_WITH(identify(Layout::parse("(4096,4096)"), Dtype::bf16),
                      ContainsSubstring("16777216 elements"));
    // Absurd strides are differences, not faults.
    CHECK_FALSE(identify(Layout::parse("(8,16):(1000000000000,1)"), Dtype::bf16).canonical);
    CHECK_FALSE(identify(Layout::parse("(8,16):(-16,1)"), Dtype::bf16).canonical);
}

TEST_CASE("MN-major layouts of 8 and 32 bits are canonical but no operands") {
    const Identity id =
        identify(Layout::parse("Swizzle<3,2,3> o ((32,2),(8,4)):((1,256),(32,512))"), Dtype::tf32);
    CHECK(id.canonical);
    CHECK_FALSE(id.operand);
    CHECK_THAT(id.text, ContainsSubstring("f16 and bf16 only, not of tf32"));
}
