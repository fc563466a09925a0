// Every descriptor of every tile, walked element by element against the tile's own offsets.
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tile.hpp"

using namespace wgrun;

namespace {

constexpr Dtype types[]{Dtype::f16,  Dtype::bf16, Dtype::tf32, Dtype::e4m3,
                        Dtype::e5m2, Dtype::s8,   Dtype::u8,   Dtype::b1};
constexpr SwizzleMode modes[]{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

std::vector<Tile> all_tiles() {
    std::vector<Tile> out;
    for (Dtype dtype : types)
        for (Major major : {Major::k, Major::mn})
            for (SwizzleMode swizzle : modes)
                for (AtomOrder order : {AtomOrder::mn, AtomOrder::k})
                    for (int mn : {8, 24, 64, 192})
                        for (int steps : {1, 2, 6}) {
                            if (major == Major::mn && bits(dtype) != 16) continue;
                            const int k = steps * 256 / bits(dtype);
                            const int line = (major == Major::k ? k : mn) * bits(dtype) / 8;
                            if (line % width(swizzle) != 0) continue;
                            out.emplace_back(TileSpec{dtype, mn, k, major, swizzle, order});
                        }
    return out;
}

/// Compares what wgmma would read of a block with the tile's offsets; returns the number of elements.
int walk_block(const Tile& tile, std::uint32_t address, const OperandBlock& block) {
    const Descriptor d = Descriptor::decode(tile.descriptor(address, block).encode());
    const int element_bits = bits(tile.dtype());
    const int first_k = block.kstep * tile.kstep_elements();
    const int ks = block.ksteps * tile.kstep_elements();
    for (int row = 0; row < block.mn; ++row)
        for (int k = 0; k < ks; ++k) {
            const auto want =
                address + static_cast<std::uint32_t>(tile.offset(block.mn_offset + row, first_k + k));
            if (walk(d, tile.major(), element_bits, row, k) != want)
                FAIL("row " << row << " k " << k << " of the block at " << block.mn_offset << ", step "
                            << block.kstep);
        }
    // The bulk form gives the same addresses, one for each 16-byte unit.
    const int per_unit = 128 / element_bits;
    const int lines = tile.major() == Major::k ? block.mn : ks;
    const int units = (tile.major() == Major::k ? ks : block.mn) / per_unit;
    std::vector<std::uint32_t> out(static_cast<std::size_t>(lines) * static_cast<std::size_t>(units));
    walk_units(d, tile.major(), lines, units, out);
    for (int line = 0; line < lines; ++line)
        for (int unit = 0; unit < units; ++unit) {
            const int row = tile.major() == Major::k ? line : unit * per_unit;
            const int k = tile.major() == Major::k ? unit * per_unit : line;
            if (out[static_cast<std::size_t>(line * units + unit)] !=
                walk(d, tile.major(), element_bits, row, k))
                FAIL("unit " << unit << " of line " << line);
        }
    return block.mn * ks;
}

}  // namespace

TEST_CASE("every descriptor describes its tile") {
    int elements = 0;
    for (const Tile& tile : all_tiles()) {
        INFO(to_string(tile.dtype()) << " " << tile.mn() << "x" << tile.k() << " " << to_string(tile.major())
                                     << "-major " << to_string(tile.swizzle()) << " order "
                                     << to_string(tile.order()));
        for (int kstep = 0; kstep < tile.ksteps(); ++kstep) {
            // Whole blocks from every 8-row group or atom, and single 8-row groups.
            const int group = tile.major() == Major::k ? 8 : tile.atom_mn();
            for (int mn = 0; mn < tile.mn(); mn += group)
                elements += walk_block(tile, 0x5400,
                                       {.kstep = kstep, .ksteps = 1, .mn_offset = mn, .mn = tile.mn() - mn});
            for (int mn = 0; mn < tile.mn(); mn += 8)
                elements += walk_block(tile, 0x2C00, {.kstep = kstep, .ksteps = 1, .mn_offset = mn, .mn = 8});
        }
    }
    CHECK(elements > 3'000'000);
}

TEST_CASE("a tile at any multiple of 128 bytes is described with a base offset") {
    for (const Tile& tile : all_tiles())
        for (std::uint32_t address = 0x2000; address < 0x2400; address += 128) {
            const OperandBlock whole{
                .kstep = 0, .ksteps = 1, .mn_offset = 0, .mn = tile.mn(), .base_offset = true};
            OperandBlock last = whole;
            last.kstep = tile.ksteps() - 1;
            CHECK(walk_block(tile, address, whole) == walk_block(tile, address, last));
            const auto rows = tile.swizzle() == SwizzleMode::none
                                  ? 0
                                  : address % static_cast<std::uint32_t>(tile.align()) / 128;
            CHECK(tile.descriptor(address, whole).base_offset == rows);
        }
    const Tile tile({Dtype::bf16, 64, 64, Major::k, SwizzleMode::b128, AtomOrder::mn});
    CHECK_THROWS_WITH(
        tile.descriptor(64, {.kstep = 0, .ksteps = 1, .mn_offset = 0, .mn = 0, .base_offset = true}),
        ContainsSubstring("0x40 is not a multiple of 128 bytes"));
}

TEST_CASE("two K steps at once are described where one descriptor can") {
    for (const Tile& tile : all_tiles())
        for (int kstep = 0; kstep + 1 < tile.ksteps(); ++kstep) {
            const OperandBlock block{.kstep = kstep, .ksteps = 2, .mn_offset = 0, .mn = tile.mn()};
            const bool spans = tile.major() == Major::k && tile.swizzle() != SwizzleMode::none &&
                               kstep * 32 / width(tile.swizzle()) != (kstep + 1) * 32 / width(tile.swizzle());
            if (spans)
                CHECK_THROWS_WITH(tile.descriptor(0, block),
                                  ContainsSubstring("whose distance the PTX ISA gives no field for"));
            else
                CHECK(walk_block(tile, 0, block) > 0);
        }
}

TEST_CASE("a tile's offsets fill its bytes exactly, and layout() says the same in elements") {
    for (const Tile& tile : all_tiles()) {
        INFO(tile.layout().to_string());
        const int element_bits = bits(tile.dtype());
        const std::vector<std::int64_t> offsets = tile.layout().offsets();
        REQUIRE(tile.layout().size() == std::int64_t{tile.mn()} * tile.k());
        // As many offsets as places, and none twice: a permutation.
        std::vector<bool> taken(offsets.size());
        for (const std::int64_t offset : offsets) {
            if (taken.at(static_cast<std::size_t>(offset))) FAIL("offset " << offset << " twice");
            taken[static_cast<std::size_t>(offset)] = true;
        }
        REQUIRE(tile.bytes() * 8 == tile.mn() * tile.k() * element_bits);
        for (int col = 0; col < tile.k(); ++col)
            for (int row = 0; row < tile.mn(); ++row)
                if (offsets[static_cast<std::size_t>(col * tile.mn() + row)] * element_bits / 8 !=
                    tile.offset(row, col))
                    FAIL("row " << row << " col " << col);
    }
}

TEST_CASE("TMA boxes tile a tile: each element lands where the tile has it") {
    for (const Tile& tile : all_tiles()) {
        INFO(tile.layout().to_string());
        const TmaBox box = tile.tma_box();
        const int element_bits = bits(tile.dtype());
        const bool k_major = tile.major() == Major::k;
        REQUIRE(box.outer <= 256);
        REQUIRE(box.inner * element_bits / 8 == width(tile.swizzle()));
        REQUIRE(static_cast<std::int64_t>(box.panels.size()) * box.inner * box.outer ==
                std::int64_t{tile.mn()} * tile.k());
        for (const TmaPanel& panel : box.panels) {
            REQUIRE(panel.offset % tile.atom_bytes() == 0);
            // TMA writes the box line after line and swizzles the addresses.
            for (int outer = 0; outer < box.outer; ++outer)
                for (int inner = 0; inner < box.inner; ++inner) {
                    const auto linear = static_cast<std::uint32_t>(
                        panel.offset + outer * width(tile.swizzle()) + inner * element_bits / 8);
                    const int row = panel.mn + (k_major ? outer : inner);
                    const int col = panel.k + (k_major ? inner : outer);
                    if (static_cast<int>(swizzled(tile.swizzle(), linear)) != tile.offset(row, col))
                        FAIL("panel at " << panel.offset << ", row " << row << " col " << col);
                }
        }
    }
}
