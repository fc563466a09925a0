#include "wgrun/picture.hpp"

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("a layout as text") {
    CHECK(to_text(grid_of(Layout::parse("(4,(2,2)):(2,(1,8))"))) ==
          "(4,(2,2)):(2,(1,8))\n"
          "   0  1  2  3\n"
          "0  0  1  8  9\n"
          "1  2  3 10 11\n"
          "2  4  5 12 13\n"
          "3  6  7 14 15\n");
    CHECK(to_text(grid_of(Layout::parse("3:-4"))) == "3:-4\n   0\n0  0\n1 -4\n2 -8\n");
    CHECK(grid_of(Layout::parse("(2,3,4)")).columns == 12);
}

TEST_CASE("colours mark chunks") {
    const Layout layout = Layout::parse("(2,4):(4,1)");
    const Grid grid = grid_of(layout, 2);
    std::vector<int> colours;
    for (const Grid::Cell& cell : grid.cells) colours.push_back(cell.colour);
    CHECK(colours == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
    // One escape a run, and one at the end of each line.
    CHECK(count(to_text(grid, true), "\x1b[30;48;5;") == 4);
    CHECK(count(to_text(grid, true), "\x1b[0m\n") == 2);
    CHECK(count(to_text(grid, false), "\x1b") == 0);
    CHECK_THROWS_WITH(grid_of(layout, 0), ContainsSubstring("chunks of 0"));
}

TEST_CASE("a tile in elements and in bytes") {
    const Tile tile({Dtype::bf16, 16, 64, Major::k, std::nullopt, AtomOrder::mn});
    const Grid elements = grid_of(tile);
    const Grid bytes = grid_of(tile, true);
    const auto at = [](const Grid& grid, int row, int column) {
        return grid.cells[static_cast<std::size_t>(row * 64 + column)];
    };
    CHECK(at(elements, 1, 0).text == "72");
    CHECK(at(bytes, 1, 0).text == "144");
    CHECK(at(bytes, 1, 0).tip == "mn 1 k 0: byte 144, element 72, bank 4");
    // The eight units of a core matrix have eight colours.
    std::vector<int> colours;
    for (int row = 0; row < 8; ++row) colours.push_back(at(elements, row, 0).colour);
    CHECK(colours == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("the chunks of an atom, in the matrix and in shared memory") {
    // 32B: two chunks a row; from the fifth row on they change places.
    const Picture k_major = chunk_grids(Layout::parse("Swizzle<1,3,3> o (8,16):(16,1)"), 16);
    REQUIRE(k_major.size() == 2);
    const Grid& matrix = k_major[0];
    const Grid& memory = k_major[1];
    CHECK(matrix.rows == 8);
    CHECK(matrix.columns == 2);
    CHECK(matrix.cells[2 * 3 + 1].text == "7");
    CHECK(memory.rows == 2);
    std::string order;
    for (const Grid::Cell& cell : memory.cells) order += cell.text + " ";
    CHECK(order == "0 1 2 3 4 5 6 7 9 8 11 10 13 12 15 14 ");
    // What ldmatrix reads at once has one colour.
    for (int row = 0; row < 8; ++row)
        CHECK(matrix.cells[static_cast<std::size_t>(2 * row)].colour == matrix.cells[0].colour);
    CHECK(matrix.cells[1].colour != matrix.cells[0].colour);
    CHECK(memory.cells[8].colour == matrix.cells[1].colour);

    const Picture mn_major = chunk_grids(Layout::parse("(16,8):(1,16)"), 16);
    CHECK(mn_major[0].rows == 2);
    CHECK(mn_major[0].columns == 8);
    CHECK(mn_major[0].cells[1].text == "2");
    // Chunks at one place are both named.
    CHECK(chunk_grids(Layout::parse("(2,8):(0,1)"), 16)[1].cells[0].text == "0+1");
    CHECK_THROWS_WITH(chunk_grids(Layout::parse("(8,8):(9,1)"), 16),
                      ContainsSubstring("element 0 of line 1 is at offset 9"));
    CHECK_THROWS_WITH(chunk_grids(Layout::parse("(8,4):(4,1)"), 16),
                      ContainsSubstring("lines of 4 elements"));
    CHECK_THROWS_WITH(chunk_grids(Layout::parse("8:1"), 16), ContainsSubstring("two modes"));
}

TEST_CASE("byte addresses of a layout") {
    const Grid grid = byte_grid(Layout::parse("(2,8):(8,1)"), 32);
    CHECK(grid.cells[9].text == "36");
    CHECK(grid.cells[9].tip == "(1, 1) index 3 offset 9 byte 36 bank 9");
    CHECK(grid.cells[9].colour == 2);
    CHECK_THROWS_WITH(byte_grid(Layout::parse("3:1"), 1), ContainsSubstring("is no byte address"));
}

TEST_CASE("a fragment names its owners") {
    const Grid d = grid_of(wgmma_d(Dtype::f32, 8));
    CHECK(d.rows == 64);
    CHECK(d.columns == 8);
    CHECK(d.cells[0].text == "T0 V0");
    CHECK(d.cells[8 * 8 + 1].text == "T0 V3");
    CHECK(d.cells[8 * 17].text == "T36 V0");
    const Grid metadata = grid_of(wgmma_metadata_chunks(Dtype::bf16));
    CHECK(metadata.cells[0].text == "T0 V0+");
    CHECK_THAT(metadata.cells[0].tip, ContainsSubstring("thread 2 value 0"));
}

TEST_CASE("bank conflicts as a heat map") {
    const Grid grid = grid_of(bank_conflicts(Layout::parse("(64,64):(64,1)"), 16, SharedAccess::ldmatrix));
    CHECK(grid.rows == 8);
    CHECK(grid.columns == 32);
    CHECK(grid.heat);
    for (int lane = 0; lane < 8; ++lane)
        for (int bank = 0; bank < 32; ++bank) {
            const Grid::Cell& cell = grid.cells[static_cast<std::size_t>(32 * lane + bank)];
            CHECK(cell.text == (bank < 4 ? "8" : ""));
            CHECK(cell.colour == (bank < 4 ? 7 : -1));
        }
}

TEST_CASE("an SVG has a cell for every element and is well formed") {
    const std::string svg =
        to_svg({grid_of(Tile({Dtype::bf16, 64, 64, Major::k, std::nullopt, AtomOrder::mn}))});
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, "<g><title>") == 4096);
    CHECK(count(svg, "<g") == count(svg, "</g>"));
    CHECK(count(svg, "<text") == count(svg, "</text>"));
    const std::string titled = to_svg({grid_of(Layout::parse("Swizzle<1,0,1> o (2,2):(2,1)"))});
    CHECK_THAT(titled, ContainsSubstring(">Swizzle&lt;1,0,1&gt; o (2,2):(2,1)</text>"));
    CHECK_THROWS_WITH(grid_of(Layout::parse("(1024,1024)")), ContainsSubstring("too many to look at"));
}
