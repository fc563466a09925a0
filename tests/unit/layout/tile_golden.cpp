// Tiles against CuTe's atoms, descriptors and the PTX ISA's worked examples.
#include "golden.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tile.hpp"

using namespace wgrun;
using nlohmann::json;

namespace {

SwizzleMode mode_of(const std::string& name) {
    if (name == "INTER") return SwizzleMode::none;
    return parse_swizzle_mode(name.substr(2) + "B");
}

TileSpec spec_of(const json& c, int mn, int k) {
    return {.dtype = dtype_named(c["dtype"].get<std::string>()),
            .mn = mn,
            .k = k,
            .major = parse_major(c["major"].get<std::string>()),
            .swizzle = mode_of(c["swizzle"]),
            .order = c["order"] == "MN-first" ? AtomOrder::mn : AtomOrder::k};
}

void check_descriptors(const Tile& tile, const json& c, int ksteps, int inst_mn, bool lbo_free,
                       bool sbo_free) {
    for (const json& d : c["desc"]) {
        const OperandBlock block{.kstep = d["k"].get<int>() * ksteps,
                                 .ksteps = ksteps,
                                 .mn_offset = d["m"].get<int>() * inst_mn,
                                 .mn = inst_mn};
        const Descriptor got = tile.descriptor(0, block);
        CHECK(got.start == d["start_offset_bytes"].get<std::uint32_t>());
        if (!lbo_free) CHECK(got.lbo == 16 * d["lbo"].get<std::uint32_t>());
        if (!sbo_free) CHECK(got.sbo == 16 * d["sbo"].get<std::uint32_t>());
        CHECK(encoding(got.swizzle) == d["layout_type"].get<int>());
        CHECK(got.base_offset == 0);
        std::uint64_t mask = ~0ULL;
        if (lbo_free) mask &= ~(0x3FFFULL << 16);
        if (sbo_free) mask &= ~(0x3FFFULL << 32);
        const std::uint64_t want = std::stoull(d["desc_hex"].get<std::string>(), nullptr, 16);
        CHECK((got.encode() & mask) == (want & mask));
    }
}

}  // namespace

TEST_CASE("descriptors equal CuTe's") {
    const auto file = golden::load("gmma_desc.json");
    int compared = 0;
    for (const json& c : file["cases"]) {
        if (c["kind"] == "raw") continue;  // not tiles; see identify
        INFO(c["id"] << " " << c["dtype"] << " " << c["major"] << " " << c["swizzle"] << " "
                     << c["tile"].dump());
        const TileSpec spec = spec_of(c, c["tile"][0], c["tile"][1]);
        const bool half_step = c.contains("out_of_bounds");
        if (c.contains("reject") || half_step || !c["wgmma_supports"].get<bool>()) {
            CHECK_THROWS_AS(Tile(spec), ArgumentError);
            continue;
        }
        const Tile tile(spec);
        CHECK(tile.bytes() == c["smem_bytes"].get<int>());
        CHECK(tile.layout().unswizzled() == golden::layout(c["layout"]));
        const int ksteps = c["inst"][1].get<int>() / tile.kstep_elements();
        if (!c["descriptor_addresses_match_layout"].get<bool>()) {
            CHECK_THROWS_WITH(
                tile.descriptor(0, OperandBlock{.kstep = 0, .ksteps = ksteps, .mn_offset = 0, .mn = 0}),
                ContainsSubstring("span two 32-byte swizzle atoms"));
            continue;
        }
        check_descriptors(tile, c, ksteps, c["inst"][0], c["dont_care"]["lbo"].get<bool>(),
                          c["dont_care"]["sbo"].get<bool>());
        ++compared;
    }
    CHECK(compared > 100);
}

TEST_CASE("a compressed sparse A is a dense tile of K/2 columns") {
    const auto file = golden::load("gmma_desc.json");
    for (const json& c : file["sparse_A"]) {
        INFO(c["dtype"] << " " << c["major"] << " " << c["swizzle"]);
        const Tile tile(spec_of(c, c["tile_logical"][0], c["tile_logical"][1].get<int>() / 2));
        CHECK(tile.bytes() == c["physical_bytes"].get<int>());
        const bool one_atom = tile.major() == Major::mn && tile.atom_mn() >= 64;
        const bool lbo_free = tile.swizzle() != SwizzleMode::none && (tile.major() == Major::k || one_atom);
        check_descriptors(tile, c, 1, c["inst_logical"][0], lbo_free, false);
    }
}

TEST_CASE("atoms have CuTe's byte offsets") {
    const auto file = golden::load("swizzle_atoms.json");
    int compared = 0;
    for (const json& c : file["atoms"]) {
        INFO(c["atom"] << " " << c["major"] << " " << c["elem_bytes"]);
        const int bytes = c["elem_bytes"];
        const Major major = parse_major(c["major"].get<std::string>());
        if (major == Major::mn && bytes != 2) continue;
        const Dtype dtype = bytes == 1 ? Dtype::e4m3 : bytes == 2 ? Dtype::bf16 : Dtype::tf32;
        // Two atoms along K make the narrowest ones wide enough for wgmma.
        const Tile tile(
            {dtype, c["shape"][0], 2 * c["shape"][1].get<int>(), major, mode_of(c["atom"]), AtomOrder::k});
        CHECK(tile.atom_bytes() == c["atom_bytes"].get<int>());
        CHECK(tile.atom() == golden::layout(c["position_independent_layout_elems"]));
        const auto& table = c["byte_offset"];
        for (std::size_t row = 0; row < table.size(); ++row)
            for (std::size_t col = 0; col < table[row].size(); ++col)
                if (tile.offset(static_cast<int>(row), static_cast<int>(col)) != table[row][col].get<int>())
                    FAIL("row " << row << " col " << col);
        ++compared;
    }
    CHECK(compared >= 7);
}

TEST_CASE("tiles stand where pyptx and the ISA agree, and refuse what no wgmma reads") {
    const auto file = golden::load("pyptx_gmma_layouts.json");
    for (const json& row : file["rows"]) {
        INFO(row.dump());
        const int bytes = row["elem_bytes"];
        const Dtype dtype = bytes == 1 ? Dtype::s8 : bytes == 2 ? Dtype::f16 : Dtype::tf32;
        const TileSpec spec{.dtype = dtype,
                            .mn = row["m_or_n"],
                            .k = row["k"],
                            .major = parse_major(row["major"].get<std::string>()),
                            .swizzle = std::nullopt,
                            .order = AtomOrder::mn};
        if (row["isa"].is_null()) {
            CHECK_THROWS_AS(Tile(spec), ArgumentError);
            continue;
        }
        const Tile tile(spec);
        const std::string type = row["isa"]["layout_type"];
        CHECK(std::string(to_string(tile.swizzle())) == type.substr(1) + "B");
        CHECK(tile.sbo() == row["isa"]["stride_byte_offset"].get<int>());
    }
}

// PTX ISA 9.7.15.5.1.2.1.3, figures 166 to 170.
TEST_CASE("the PTX ISA's worked examples") {
    const auto check = [](const TileSpec& spec, int lbo, int sbo, std::string_view layout) {
        const Tile tile(spec);
        CHECK(tile.lbo() >> 4 == lbo);
        CHECK(tile.sbo() >> 4 == sbo);
        CHECK(same_function(tile.layout(), Layout::parse(layout)));
    };
    using enum SwizzleMode;
    check({Dtype::tf32, 16, 16, Major::k, none, AtomOrder::mn}, 16, 8, "((8,2),(4,4)):((4,32),(1,64))");
    check({Dtype::tf32, 16, 16, Major::k, b32, AtomOrder::mn}, 1, 16,
          "Swizzle<1,2,3> o ((8,2),(8,2)):((8,64),(1,128))");
    check({Dtype::bf16, 16, 16, Major::mn, none, AtomOrder::mn}, 16, 8, "((8,1,2),(8,2)):((1,8,64),(8,128))");
    check({Dtype::bf16, 32, 16, Major::mn, b32, AtomOrder::mn}, 16, 32,
          "Swizzle<1,3,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))");
    check({Dtype::bf16, 64, 16, Major::mn, b64, AtomOrder::mn}, 32, 64,
          "Swizzle<2,3,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))");
}
