#include "wgrun/picture.hpp"

#include <fmt/format.h>

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
          "(4,(2,2)):(2,(1,8)), mode 0 down, mode 1 to the right\n"
          "   0  1  2  3\n"
          "0  0  1  8  9\n"
          "1  2  3 10 11\n"
          "2  4  5 12 13\n"
          "3  6  7 14 15\n");
    CHECK(to_text(grid_of(Layout::parse("3:-4"))) == "3:-4, mode 0 down\n   0\n0  0\n1 -4\n2 -8\n");
    CHECK(grid_of(Layout::parse("(2,3,4)")).columns == 12);
}

TEST_CASE("colours mark chunks") {
    const Layout layout = Layout::parse("(2,4):(4,1)");
    const Grid grid = grid_of(layout, 2);
    std::vector<int> colours;
    for (const Grid::Cell& cell : grid.cells) colours.push_back(cell.colour);
    CHECK(colours == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
    // One escape a run, and one at the end of each line; four more in the legend.
    CHECK(count(to_text(grid, true), "\x1b[30;48;5;") == 4 + 4);
    CHECK(count(to_text(grid, true), "\x1b[0m\n") == 2 + 1);
    CHECK_THAT(to_text(grid, true), ContainsSubstring("offsets: \x1b[30;48;5;153m 0-1 \x1b[0m"));
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
    CHECK(at(bytes, 1, 0).tip == "mn 1 k 0: byte 144, element 72, bank 4, chunk 9");
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
    CHECK(grid.cells[9].tip == "(1, 1) index 3 offset 9 byte 36 bank 9 chunk 2");
    CHECK(grid.cells[9].colour == 2);
    CHECK_THROWS_WITH(byte_grid(Layout::parse("3:1"), 1), ContainsSubstring("is not a byte address"));
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

namespace {

/// Elements of XML that are open at the end of `text`, or that close in the wrong order: none in a document
/// that is well formed. `text` has attributes in double quotes and no comments.
std::vector<std::string> not_closed(std::string_view text) {
    std::vector<std::string> open;
    for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
        std::size_t end = at + 1;
        for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end)
            if (text[end] == '"') quoted = !quoted;
        std::string_view tag = text.substr(at + 1, end - at - 1);
        at = end;
        if (tag.starts_with('!') || tag.ends_with('/')) continue;
        const bool closes = tag.starts_with('/');
        if (closes) tag.remove_prefix(1);
        const std::string name(tag.substr(0, tag.find_first_of(" \n")));
        if (!closes) {
            open.push_back(name);
        } else if (!open.empty() && open.back() == name) {
            open.pop_back();
        } else {
            open.emplace_back("a closing tag of another element");
            return open;
        }
    }
    return open;
}

Tile bf16(int mn, int k, Major major = Major::k, std::optional<SwizzleMode> swizzle = std::nullopt) {
    return Tile({Dtype::bf16, mn, k, major, swizzle, AtomOrder::mn});
}

}  // namespace

TEST_CASE("an SVG has a cell for every element and is well formed") {
    const std::string svg = to_svg({grid_of(bf16(64, 64))});
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(count(svg, "<title>") == 4096);
    CHECK(not_closed(svg).empty());
    // Atoms of 8 x 64, core matrices of 8 x 8, and the arrow from the first atom to the next.
    CHECK(count(svg, "<rect class=\"F\"") == 8);
    CHECK(count(svg, "<rect class=\"f\"") == 64);
    CHECK(count(svg, ">SBO 1024 bytes</text>") == 1);
    CHECK(count(svg, "prefers-color-scheme:dark") == 1);
    const std::string titled = to_svg({grid_of(Layout::parse("Swizzle<1,0,1> o (2,2):(2,1)"))});
    CHECK_THAT(titled, ContainsSubstring(">Swizzle&lt;1,0,1&gt; o (2,2):(2,1)</text>"));
    CHECK(not_closed(titled).empty());
    CHECK_THROWS_WITH(grid_of(Layout::parse("(1024,1024)")), ContainsSubstring("too many"));
}

TEST_CASE("a page of HTML needs nothing else and holds the elements of an overview") {
    const Picture picture = picture_of(bf16(128, 128));
    REQUIRE(picture[0].rows == 16);
    REQUIRE(picture[0].detail);
    const std::string html = to_html(picture);
    for (const char* reference : {"src=", "href=", "@import", "url("}) CHECK(count(html, reference) == 0);
    CHECK(count(html, "http") == 2);  // the name space of SVG, in the document and in the script
    CHECK(count(html, "mn 127 k 127: byte ") == 1);
    CHECK(count(html, "</script>") == 1);
    const std::string body = html.substr(0, html.find("<script>"));
    CHECK(not_closed(body) == std::vector<std::string>{"html", "body"});
    // What could end the script early, or a string in it, is escaped.
    Picture odd{grid_of(Layout::parse("2:1"))};
    Grid inner = odd[0];
    inner.cells[0].tip = "</script>\"\\";
    odd[0].detail = std::make_shared<const Grid>(inner);
    CHECK_THAT(to_html(odd), ContainsSubstring(R"("\u003c/script>\"\\")"));
    // Without an overview nothing is said twice.
    CHECK_THAT(to_html({grid_of(bf16(8, 16))}), ContainsSubstring("const details = [null,];"));
}

TEST_CASE("large objects get an overview unless asked otherwise") {
    CHECK(picture_of(bf16(64, 64))[0].cells.size() == 4096);
    CHECK(picture_of(bf16(128, 64))[0].cells.size() == 128);
    CHECK(picture_of(bf16(128, 64), {.view = PictureView::elements})[0].cells.size() == 8192);
    CHECK(picture_of(wgmma_d(Dtype::f32, 64))[0].cells.size() == 4096);
    CHECK(picture_of(wgmma_d(Dtype::f32, 128))[0].cells.size() == 128);
    CHECK(picture_of(Layout::parse("(1024,1024)"))[0].cells.size() == 1024);
    CHECK_THROWS_WITH(picture_of(wgmma_d(Dtype::f32, 8), {.view = PictureView::chunks}),
                      ContainsSubstring("a fragment is in registers"));
    CHECK_THROWS_WITH(picture_of(Layout::parse("(8,8)"), {.view = PictureView::conflicts}),
                      ContainsSubstring("view = \"conflicts\" of a layout needs byte offsets"));
}

TEST_CASE("an overview names the bytes of core matrices and atoms") {
    const Tile tile = bf16(128, 128, Major::k, SwizzleMode::b128);
    const Grid grid = overview(tile);
    CHECK(grid.row_names[1] == "8-15");
    CHECK(grid.column_names[15] == "120-127");
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column)
            CHECK(grid.at(row, column).text == std::to_string(tile.offset(8 * row, 8 * column)));
    int atoms = 0;
    for (const Grid::Frame& frame : grid.frames)
        if (frame.heavy) {
            const int first = tile.offset(8 * frame.row, 8 * frame.column);
            CHECK(frame.label == fmt::format("{}-{}", first, first + 1023));
            ++atoms;
        }
    CHECK(atoms == 32);
    REQUIRE(grid.detail);
    CHECK(grid.detail->at(9, 70).text == std::to_string(tile.offset(9, 70)));

    const Grid layout = overview(Layout::parse("(64,100):(100,1)"));
    CHECK(layout.rows == 8);
    CHECK(layout.at(1, 0).text ==
          "800 " + std::to_string(1500 + std::stoi(layout.column_names[0].substr(2))));
    const Grid d = overview(wgmma_d(Dtype::f32, 16));
    CHECK(d.at(3, 1).text == "T32-63 V6-7");
}

TEST_CASE("a map of conflicts says where they are") {
    // Rows of 128 bytes: the columns of chunks conflict eightfold, rows do not.
    const Layout plain = Layout::parse("(16,64):(64,1)");
    const Grid column = conflict_map(plain, 16, SharedAccess::ldmatrix);
    CHECK(column.rows == 2);
    CHECK(column.columns == 8);
    for (const Grid::Cell& cell : column.cells) CHECK(cell.text == "8");
    CHECK_THAT(column.at(1, 2).tip, ContainsSubstring("lanes 0 1 2 3 4 5 6 7 on bank 8"));
    for (const Grid::Cell& cell : conflict_map(plain, 16, SharedAccess::st_shared_16).cells)
        CHECK(cell.text == "1");
    // Rows 0 to 7 lie well, rows 8 to 15 one below the other.
    const Tile good = bf16(8, 64, Major::k, SwizzleMode::b128);
    const Layout both = Layout::parse("((8,2),64):((64,0),1)");
    CHECK(conflict_map(both, 16, SharedAccess::ldmatrix).at(1, 0).text == "8");
    for (const Grid::Cell& cell : conflict_map(good, SharedAccess::ldmatrix).cells) CHECK(cell.text == "1");
    // Lines that are fewer than eight are never read as core matrices.
    CHECK(conflict_map(Layout::parse("(4,64):(64,1)"), 16, SharedAccess::ldmatrix).at(0, 0).colour == -1);
    CHECK(conflict_maps(good).size() == bank_conflicts(good).size());
}

TEST_CASE("a product: A on the left, B above, D in the corner") {
    const Picture picture = mma_picture("m16n8k16", Dtype::bf16);
    REQUIRE(picture.size() == 3);
    const Fragment a = mma_sync_a(Dtype::bf16, 16);
    const Fragment b = mma_sync_b(Dtype::bf16, 16);
    const Fragment d = mma_sync_c();
    const auto name = [](const Fragment::Owner& owner) {
        return fmt::format("{}:{}", owner.thread, owner.value);
    };
    CHECK(picture[0].rows == 16);  // B, k down
    CHECK(picture[0].columns == 8);
    CHECK(picture[0].at(11, 3).text == name(b.owner(3, 11)));
    CHECK(picture[1].at(9, 5).text == name(a.owner(9, 5)));
    CHECK(picture[2].at(9, 5).text == name(d.owner(9, 5)));
    CHECK(picture[2].at(9, 5).links == "r9 c5");
    const Picture wgmma = mma_picture("m64n8k32", Dtype::e4m3);
    const auto offset = [](int k, SwizzleMode swizzle) {
        return std::to_string(Tile({Dtype::e4m3, 64, k, Major::k, swizzle, AtomOrder::mn}).offset(5, 20));
    };
    CHECK(wgmma[1].at(5, 20).text == offset(128, SwizzleMode::b128));
    CHECK_THAT(wgmma[1].title, ContainsSubstring("k 0 to 31 of e4m3 64x128 K-major swizzle 128B"));
    CHECK(wgmma[0].rows == 32);
    CHECK(wgmma[1].columns == 32);
    // In the swizzle of another tile; without one the tile is no wider than the instruction.
    for (const auto& [swizzle, k] :
         {std::pair{SwizzleMode::b64, 64}, {SwizzleMode::b32, 32}, {SwizzleMode::none, 32}})
        CHECK(mma_picture("m64n8k32", Dtype::e4m3, swizzle)[1].at(5, 20).text == offset(k, swizzle));
    CHECK_THROWS_WITH(mma_picture("m16n8k16", Dtype::bf16, SwizzleMode::b64),
                      ContainsSubstring("operands in registers"));
    // A tile that is given is drawn as it is.
    CHECK_THAT(mma_picture(bf16(64, 16), bf16(16, 16), wgmma_d(Dtype::f32, 16))[1].title,
               ContainsSubstring("swizzle 32B"));
    CHECK_THROWS_WITH(mma_picture("m64n16k16", Dtype::e4m3), ContainsSubstring("has k32"));
    CHECK_THROWS_WITH(mma_picture("m64n17k16", Dtype::bf16), ContainsSubstring("n must be 8, 16"));
    CHECK_THROWS_WITH(mma_picture("m32n8k16", Dtype::bf16), ContainsSubstring("no such mma"));
    CHECK_THROWS_WITH(mma_picture("m64n8k16x", Dtype::bf16), ContainsSubstring("is not the shape of an mma"));
    CHECK_THROWS_WITH(mma_picture(bf16(64, 16), bf16(16, 32), wgmma_d(Dtype::f32, 16)),
                      ContainsSubstring("A is 64x16, B 16x32"));
}

TEST_CASE("text is continued below where the terminal ends, and frames become rules") {
    const Grid grid = grid_of(bf16(16, 64, Major::k, SwizzleMode::b64));
    const std::string text = to_text(grid, TextStyle{.colours = Colours::none, .columns = 80});
    std::size_t widest = 0, from = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
        widest = std::max(widest, end - from);
        from = end + 1;
    }
    CHECK(widest <= 80);
    CHECK(widest > 40);
    CHECK(count(text, "\n15 ") == 64 / 8);
    CHECK(count(text, "SBO 512 bytes: from row 0 to 8\n") == 1);
    CHECK(count(text, "next atom 1024 bytes: from column 0 to 32\n") == 1);
    const std::string small =
        to_text(Picture{chunk_grids(bf16(16, 64, Major::k, SwizzleMode::b64))[0]}, TextStyle{});
    CHECK(count(small, "\n  -----------------+----------------\n") == 1);
    CHECK(count(small, "\n 0   0   1   2   3 |   4   5   6   7\n") == 1);
    // The legend of colours is there where colours are.
    CHECK(count(text, "banks:") == 0);
    const std::string coloured = to_text(grid, TextStyle{.colours = Colours::direct, .columns = 80});
    CHECK(count(coloured, "banks: \x1b[38;2;0;0;0;48;2;168;213;255m 0-3 \x1b[0m") == 1);
    CHECK(count(coloured, "48;5;") == 0);
    // A product is put together where it fits, and written one below the other where it does not.
    const Picture product = mma_picture("m16n8k16", Dtype::bf16);
    CHECK_THAT(to_text(product, TextStyle{}),
               ContainsSubstring(" 15  0:4  0:5") || ContainsSubstring("28:7 29:6"));
    CHECK(count(to_text(product, TextStyle{}), "\n 0  0:0  0:1") == 1);
    CHECK(count(to_text(product, TextStyle{.colours = Colours::none, .columns = 60}), "\n 0  0:0  0:1") == 2);
}

TEST_CASE("axes say what rows and columns count, and transposition exchanges them") {
    const auto axes = [](const Grid& grid) { return grid.row_axis + " " + grid.column_axis; };
    CHECK(axes(grid_of(bf16(16, 64))) == "mn k");
    CHECK(axes(overview(bf16(64, 64, Major::mn))) == "mn k");
    CHECK(axes(conflict_map(bf16(16, 64), SharedAccess::ldmatrix)) == "mn k");
    CHECK(axes(grid_of(bank_conflicts(bf16(16, 64), SharedAccess::ldmatrix))) == "lane bank");
    CHECK(axes(chunk_grids(bf16(16, 64))[1]) == "address byte of the line");
    CHECK(axes(grid_of(Layout::parse("(2,3,4)"))) == "mode 0 modes 1 to 2");
    CHECK(axes(grid_of(Layout::parse("3"))) == "mode 0 ");
    CHECK(axes(grid_of(wgmma_d(Dtype::f32, 8))) == "row column");
    std::string product;
    for (const Grid& grid : mma_picture("m64n8k16", Dtype::bf16)) product += axes(grid) + ", ";
    CHECK(product == "k n, m k, m n, ");
    const std::string svg = to_svg({grid_of(bf16(16, 64))});
    CHECK(count(svg, ">mn</text>") == 1);
    CHECK(count(svg, ">k</text>") == 1);
    // Chunks are named by their first element.
    CHECK(chunk_grids(bf16(16, 64))[0].column_names[2] == "16");
}

TEST_CASE("a legend has the colours that occur") {
    const auto keys = [](const Picture& picture) {
        const std::string svg = to_svg(picture);
        return count(svg, "width=\"11\" height=\"11\"");
    };
    CHECK(keys({grid_of(Layout::parse("(2,8):(8,1)"))}) == 2);
    CHECK(keys({grid_of(Layout::parse("(2,64):(64,1)"))}) == 8);
    CHECK(keys({overview(bf16(64, 64, Major::k, SwizzleMode::b64))}) == 4);
    CHECK(keys({conflict_map(bf16(16, 64, Major::k, SwizzleMode::b128), SharedAccess::ldmatrix)}) == 1);
    CHECK_THAT(to_svg({grid_of(Layout::parse("(2,64):(64,1)"))}),
               ContainsSubstring(">offsets mod 64</text>"));
    CHECK_THAT(to_svg({grid_of(Layout::parse("(2,8):(8,1)"))}), ContainsSubstring(">offsets</text>"));
}
