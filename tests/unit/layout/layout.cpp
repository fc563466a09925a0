// Layouts as values: notation, coordinates, sizes, refusals.
#include "wgrun/layout.hpp"

#include <numeric>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

TEST_CASE("parse and print are inverse") {
    for (const char* text : {"1:0", "8:1", "(8):(1)", "(8,64):(64,1)", "((8,2),(64,1)):((64,512),(1,0))",
                             "():()", "(4,()):(1,())", "Swizzle<3,4,3> o ((8,2),(64,1)):((64,512),(1,0))",
                             "Swizzle<2,0,-3> o (8,8):(8,1)", "Swizzle<3,3,3> o 8 o (8,8):(64,1)",
                             "(2,(3,(4,5))):(-1,(0,(7,9223372036854775)))"}) {
        CHECK(Layout::parse(text).to_string() == text);
        CHECK(Layout::parse(Layout::parse(text).to_string()) == Layout::parse(text));
    }
    CHECK(Layout::parse(" ( 8 , 64 )\n: (64,\t1 ) ").to_string() == "(8,64):(64,1)");
    CHECK(Layout::parse("(8,(2,4))").to_string() == "(8,(2,4)):(1,(8,16))");
    CHECK(Layout::parse("(8,1,4)").to_string() == "(8,1,4):(1,0,8)");
    // What CuTe itself prints: static integers, the swizzle's short name, the pointer's element size.
    CHECK(Layout::parse("(_8,_64):(_64,_1)").to_string() == "(8,64):(64,1)");
    CHECK(Layout::parse("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)").to_string() ==
          "Swizzle<3,3,3> o (8,64):(64,1)");
    CHECK(Layout::parse("Sw<3,4,3> o smem_ptr[1b](unset) o (_8,_1024):(_1024,_1)").to_string() ==
          "Swizzle<3,7,3> o (8,1024):(1024,1)");
    CHECK(Layout::parse("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)").to_string() ==
          "Swizzle<3,3,3> o (8,64):(64,1)");
    CHECK(IntTuple::parse("(1,(2,3),())").to_string() == "(1,(2,3),())");
}

// Each layout that the PTX ISA (9.7.15.5.1.2) and articles on it write down.
TEST_CASE("every notation of the literature is read and printed as it stands") {
    for (const char* text :
         {"Swizzle<0,4,3> o ((8,2),(4,4)):((4,32),(1,64))", "Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))",
          "Swizzle<0,4,3> o ((8,1,2),(8,2)):((1,8,64),(8,128))",
          "Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))",
          "Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))", "((8,2),(2,4)):((4,64),(32,1))",
          "((4,8),(2,2)):((32,1),(16,8))"})
        CHECK(Layout::parse(text).to_string() == text);
}

TEST_CASE("absurd nesting is an error, however it comes about") {
    Layout tower(8, 1);
    const auto build = [&] {
        for (int i = 0; i < 1000; ++i) tower = logical_product(tower, Layout(1, 0));
    };
    CHECK_THROWS_WITH(build(), ContainsSubstring("more than 64 levels of nesting"));
    CHECK(tower.depth() == 64);
    CHECK(Layout::parse(tower.to_string()) == tower);
    CHECK(coalesce(tower).to_string() == "8:1");
}

TEST_CASE("errors of the notation point at the place") {
    const auto check = [](const char* text, const std::string& message) {
        CHECK_THROWS_WITH(Layout::parse(text), message);
    };
    check("((8,2),64:((64,512),1)",
          "layout: expected `,` or `)`, found `:` at column 10 of `((8,2),64:((64,512),1)`");
    check("", "layout: expected `(` or an integer, the text ends at column 1 of ``");
    check("(8,64):", "layout: expected `(` or an integer, the text ends at column 8 of `(8,64):`");
    check("(8,x)", "layout: expected `(` or an integer, found `x` at column 4 of `(8,x)`");
    check("(8,64):(64,1) o", "layout: expected the end, found `o` at column 15 of `(8,64):(64,1) o`");
    check("Swizzle<3,4> o 8:1", "layout: expected `,`, found `>` at column 12 of `Swizzle<3,4> o 8:1`");
    check(
        "8:99999999999999999999",
        "layout: expected an integer of at most 64 bits, found `9` at column 3 of `8:99999999999999999999`");
    CHECK_THROWS_WITH(Layout::parse("Swizzle<3,4,2> o 8:1"), ContainsSubstring("|S| must be at least B"));
    CHECK_THROWS_WITH(Layout::parse("Swizzle<99,4,3> o 8:1"), ContainsSubstring("an integer from -64 to 64"));
    CHECK_THROWS_WITH(Layout::parse(std::string(100000, '(')),
                      ContainsSubstring("at most 64 levels of nesting"));
    CHECK_THROWS_WITH(Layout::parse("(8,2):8"), ContainsSubstring("are nested differently"));
    CHECK_THROWS_WITH(Layout::parse("(8,0)"), ContainsSubstring("shape (8,0): extents must be at least 1"));
    CHECK_THROWS_WITH(Layout::parse("(8,-4):(1,8)"), ContainsSubstring("extents must be at least 1"));
    CHECK_THROWS_WITH(IntTuple::parse("(1,2"),
                      ContainsSubstring("tuple: expected `,` or `)`, the text ends"));
}

TEST_CASE("coordinates: index, natural, and mixtures") {
    const Layout layout = Layout::parse("(3,(2,3)):(3,(12,1))");
    CHECK(layout.rank() == 2);
    CHECK(layout.depth() == 2);
    CHECK(layout.size() == 18);
    CHECK(layout.cosize() == 21);
    CHECK(layout(16) == layout(IntTuple{1, IntTuple{1, 2}}));
    CHECK(layout(1, 5) == layout(IntTuple{1, IntTuple{1, 2}}));
    CHECK(layout.coordinate(16) == IntTuple{1, IntTuple{1, 2}});
    CHECK(layout.mode(1).to_string() == "(2,3):(12,1)");
    for (std::int64_t i = 0; i < layout.size(); ++i) {
        CHECK(layout(layout.coordinate(i)) == layout(i));
        CHECK(layout.offsets()[static_cast<std::size_t>(i)] == layout(i));
    }
    CHECK_THROWS_WITH(layout(-1), ContainsSubstring("index -1 is negative"));
    CHECK_THROWS_WITH(layout(IntTuple{0, 0, 0}),
                      ContainsSubstring("coordinate (0,0,0) does not fit the shape (3,(2,3))"));
    CHECK_THROWS_WITH(layout(IntTuple{IntTuple{0, 0}, 0}), ContainsSubstring("does not fit the shape 3"));
    CHECK_THROWS_WITH(layout.mode(2), ContainsSubstring("mode 2 of (3,(2,3)): it has 2 modes"));
    CHECK(Layout::parse("():()")(0) == 0);
    CHECK(Layout::parse("():()").size() == 1);
}

TEST_CASE("sizes beyond 64 bits are refused") {
    CHECK_THROWS_WITH(Layout::parse("(4294967296,4294967296)"), ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(Layout::parse("8:9223372036854775807"), ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(Layout::parse("8:-9223372036854775808"), ContainsSubstring("does not fit in 64 bits"));
    const Layout huge = Layout::parse("4611686018427387904:1");
    CHECK_THROWS_WITH(huge.offsets(), ContainsSubstring("is too large"));
    CHECK_THROWS_WITH(Layout::parse("2:4611686018427387904")(4),
                      ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(logical_product(huge, huge), ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(composition(Layout::parse("4:4611686018427387904"), Layout::parse("2:4")),
                      ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(downcast(huge, 4), ContainsSubstring("does not fit in 64 bits"));
    CHECK_THROWS_WITH(tile_to_shape(Layout::parse("3:1"), IntTuple(8)),
                      ContainsSubstring("extent 8 of mode 0 is not a multiple"));
}

TEST_CASE("equality by value and by function") {
    CHECK(Layout::parse("(4,2):(1,4)") != Layout::parse("8:1"));
    CHECK(same_function(Layout::parse("(4,2):(1,4)"), Layout::parse("8:1")));
    CHECK_FALSE(same_function(Layout::parse("(4,2):(2,1)"), Layout::parse("8:1")));
    CHECK_FALSE(same_function(Layout::parse("4:1"), Layout::parse("8:1")));
    CHECK(same_function(Layout::parse("Swizzle<0,4,3> o 8:1"), Layout::parse("8:1")));
    CHECK(same_function(Layout::parse("Swizzle<1,8,3> o 8:1"), Layout::parse("8:1")));
    CHECK_FALSE(same_function(Layout::parse("Swizzle<1,0,1> o 8:1"), Layout::parse("8:1")));
}

TEST_CASE("swizzles") {
    const Swizzle s(3, 4, 3);
    CHECK(s(0x380) == 0x3F0);
    CHECK(s.to_string() == "Swizzle<3,4,3>");
    CHECK(composition(s, s).is_identity());
    CHECK(Layout(s, Layout::parse("(8,128):(128,1)"))(1, 0) == 144);
    CHECK(composition(Layout::parse("Swizzle<1,0,1> o 8:1"), Layout::parse("4:2")).to_string() ==
          "Swizzle<1,0,1> o 4:2");
    CHECK(composition(Swizzle(1, 1, 2), Layout::parse("Swizzle<1,0,2> o 8:1")).to_string() ==
          "Swizzle<2,0,2> o 8:1");
    CHECK_THROWS_WITH(Swizzle(-1, 4, 3), ContainsSubstring("B must be at least 0"));
    CHECK_THROWS_WITH(Swizzle(3, -4, 3), ContainsSubstring("M must be at least 0"));
    CHECK_THROWS_WITH(Swizzle(30, 30, 30), ContainsSubstring("beyond bit 61"));
    CHECK_THROWS_WITH(Swizzle(1, 0, INT32_MIN), ContainsSubstring("beyond bit 61"));
    CHECK_THROWS_WITH(s.upcast(3), ContainsSubstring("the factor must be a power of two"));
    CHECK(s.upcast(128).is_identity());
    CHECK_THROWS_WITH(Layout(s, Layout(s, Layout())), ContainsSubstring("already has a swizzle"));
    CHECK_THROWS_WITH(composition(Layout(), Layout(s, Layout())),
                      ContainsSubstring("a swizzle can only be leftmost"));
    CHECK_THROWS_WITH(complement(Layout(s, Layout())),
                      ContainsSubstring("complement of Swizzle<3,4,3> o 1:0"));
    CHECK_THROWS_WITH(composition(Swizzle(1, 0, 2), Swizzle(1, 2, 2)),
                      ContainsSubstring("one changes what the other reads"));
}

TEST_CASE("tilers tile the modes inside modes") {
    // CuTe 4.2's recursion (layout.hpp: composition, logical_divide, tile_unzip), by hand.
    const Layout a = Layout::parse("(8,(4,6)):(24,(1,4))");
    const Tiler tiler{Layout(4), Tiler{Layout(2), Layout::parse("3:2")}};
    CHECK(composition(a, tiler).to_string() == "(4,(2,3)):(24,(1,8))");
    CHECK(composition(a, Tiler{Layout(4), Tiler{Layout(2)}}).to_string() == "(4,(2)):(24,(1))");
    CHECK(composition(a, Tiler{{}, Tiler{{}, Layout(3)}}).to_string() == "(8,(4,3)):(24,(1,4))");
    CHECK(logical_divide(a, tiler).to_string() == "((4,2),((2,2),(3,2))):((24,96),((1,2),(8,4)))");
    CHECK(zipped_divide(a, tiler).to_string() == "((4,(2,3)),(2,(2,2))):((24,(1,8)),(96,(2,4)))");
    CHECK(tiled_divide(a, tiler).to_string() == "((4,(2,3)),2,(2,2)):((24,(1,8)),96,(2,4))");
    CHECK(flat_divide(a, tiler).to_string() == "(4,(2,3),2,(2,2)):(24,(1,8),96,(2,4))");
    // A mode beyond those of an inner tiler is rest.
    CHECK(zipped_divide(a, Tiler{Layout(4), Tiler{Layout(2)}}).to_string() ==
          "((4,(2)),(2,(2,6))):((24,(1)),(96,(2,4)))");
    CHECK(logical_product(Layout::parse("(2,(2,2)):(1,(2,4))"), Tiler{Layout(2), Tiler{Layout(1), Layout(3)}})
              .to_string() == "((2,2),((2,1),(2,3))):((1,2),((2,0),(4,1)))");
}

TEST_CASE("refusals name the modes and the reason") {
    CHECK_THROWS_WITH(composition(Layout::parse("(3,2):(6,3)"), Layout::parse("4:8")),
                      ContainsSubstring("stride divisibility"));
    CHECK_THROWS_WITH(composition(Layout::parse("(10,4):(1,16)"), Layout::parse("4:4")),
                      ContainsSubstring("shape divisibility"));
    CHECK_THROWS_WITH(
        composition(Layout::parse("(4,2):(1,10)"), Layout::parse("(3,2):(1,2)")),
        ContainsSubstring("sums of the right layout's modes carry out of mode 4:1 of the left layout"));
    CHECK_THROWS_WITH(complement(Layout::parse("(4,2):(1,2)"), 8),
                      ContainsSubstring("overlaps the modes below it"));
    CHECK_THROWS_WITH(complement(Layout::parse("4:-1"), 8), ContainsSubstring("stride -1 is negative"));
    CHECK_THROWS_WITH(complement(Layout::parse("4:1"), IntTuple{2, 0}),
                      ContainsSubstring("target (2,0): extents must be at least 1"));
    CHECK_THROWS_WITH(left_inverse(Layout::parse("(4,2,2):(1,6,16)")),
                      ContainsSubstring("stride 16 is not a multiple of stride 6"));
    CHECK_THROWS_WITH(left_inverse(Layout::parse("4:-1")), ContainsSubstring("stride -1 is negative"));
    CHECK_THROWS_WITH(left_inverse(Layout::parse("(4,2,2):(1,2,8)")),
                      ContainsSubstring("overlaps the modes below it"));
    CHECK_THROWS_WITH(zipped_divide(Layout::parse("(8,8)"), Tiler{std::nullopt}),
                      ContainsSubstring("`_` leaves no tile"));
    CHECK_THROWS_WITH(logical_divide(Layout::parse("(8,8)"), Tiler(3)),
                      ContainsSubstring("the tiler has 3 modes, the layout 2"));
    CHECK_THROWS_WITH(logical_divide(Layout::parse("(8,(4,2))"), Tiler{Layout(2), Tiler(3)}),
                      ContainsSubstring("of (4,2):(8,32) by mode: the tiler has 3 modes, the layout 2"));
    CHECK_THROWS_WITH(zipped_divide(Layout::parse("(8,(4,2))"), Tiler{Layout(2), Tiler{Layout(2), {}}}),
                      ContainsSubstring("of mode 1 = 2:32: `_` leaves no tile"));
    CHECK_THROWS_WITH(composition(Layout::parse("8:1"), Tiler(2)), ContainsSubstring("by mode"));
    CHECK_THROWS_WITH(coalesce(Layout::parse("8:1"), IntTuple{1, 1}),
                      ContainsSubstring("the profile has more modes"));
    CHECK_THROWS_WITH(upcast(Layout::parse("16:3"), 2), ContainsSubstring("do not divide each other"));
    CHECK_THROWS_WITH(upcast(Layout::parse("16:1"), 0), ContainsSubstring("the factor must be at least 1"));
    CHECK_THROWS_WITH(ordered_layout(IntTuple{2, 3}, IntTuple{1}),
                      ContainsSubstring("order (1) is not nested like shape (2,3)"));
}

TEST_CASE("null spaces and common vectors") {
    CHECK(nullspace(Layout::parse("(2,3,4):(0,1,0)")).to_string() == "(2,4):(1,6)");
    CHECK(nullspace(Layout::parse("8:1")).to_string() == "1:0");
    const Layout a = Layout::parse("(8,8):(1,16)");
    CHECK(max_common_vector(a, Layout::parse("(8,8):(1,8)")) == 8);
    CHECK(max_common_vector(a, Layout::parse("(8,8):(8,1)")) == 1);
    CHECK(max_common_layout(a, Layout::parse("(8,8):(8,1)")).to_string() == "1:0");
    CHECK_THROWS_WITH(nullspace(Layout::parse("Swizzle<1,0,1> o 8:1")), ContainsSubstring("null space of"));
}

TEST_CASE("layouts are joined as modes") {
    CHECK(Layout::join({Layout::parse("8:2"), Layout::parse("(2,4):(1,16)")}).to_string() ==
          "(8,(2,4)):(2,(1,16))");
    CHECK(Layout::join({}).to_string() == "():()");
    CHECK_THROWS_WITH(Layout::join({Layout::parse("Swizzle<1,0,1> o 8:1")}),
                      ContainsSubstring("has a swizzle"));
}

TEST_CASE("a slice keeps the open modes and the offset of the others") {
    const Layout layout = Layout::parse("(4,(2,3)):(1,(4,8))");
    using Parts = std::vector<SliceCoordinate>;
    const SliceCoordinate open{std::monostate{}};
    const auto at = [](std::int64_t i) { return SliceCoordinate{i}; };
    Slice s = slice(layout, {Parts{open, {Parts{at(1), at(2)}}}});
    CHECK(s.layout.to_string() == "(4):(1)");
    CHECK(s.offset == 20);
    s = slice(layout, {Parts{at(2), {Parts{open, at(1)}}}});
    CHECK(s.layout.to_string() == "(2):(4)");
    CHECK(s.offset == 10);
    s = slice(layout, {Parts{at(3), at(5)}});
    CHECK(s.layout.to_string() == "():()");
    CHECK(s.offset == 23);
    CHECK(slice(layout, open).layout == layout);
    // Under a swizzle the offset goes inside: indexing the slice is indexing the layout.
    const Layout swizzled = Layout::parse("Swizzle<3,0,3> o (8,8):(8,1)");
    for (std::int64_t row = 0; row < 8; ++row) {
        const Slice line = slice(swizzled, {Parts{at(row), open}});
        CHECK(line.offset == 0);
        for (std::int64_t column = 0; column < 8; ++column)
            CHECK(line.layout(column) == swizzled(row, column));
    }
}
