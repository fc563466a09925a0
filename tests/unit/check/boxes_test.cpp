// Bulk copies, checked against the memory that they write (WG-TMA-01, WG-MEM-03), and the boxes of tensor
// maps, checked against what wgmma reads of them (WG-TMA-05).
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

namespace {

const Tile whole = kit::tile();  // 64 x 64 of bf16, 128B
const TensorBox right{Dtype::bf16, {64, 64}, SwizzleMode::b128};

/// A product whose operand A is copied by the right box, and B as the test says.
struct Product : Roles {
    explicit Product(const Tile& of_b = whole) : Roles(128), tile(of_b) {
        a = buffer(whole);
        b = buffer(of_b);
        bar = memory("bar", 8);
        map_a = map(right);
        make(in(bar), 1);
    }
    /// Copies B's boxes to these offsets. Returns the line of the last copy.
    int copy(const TensorBox& box, const std::vector<std::int64_t>& offsets = {0}, int dims = 2) {
        const Reg map_b = map(box);
        const std::int64_t bytes = whole.bytes() + box.bytes() * static_cast<std::int64_t>(offsets.size());
        once([&] { return expect(in(bar), bytes); });
        once([&] { return load(in(a), map_a, in(bar)); });
        int line = 0;
        for (const std::int64_t offset : offsets)
            line = once([&] { return load(in(b, offset), map_b, in(bar), dims); });
        wait_for(in(bar), 0);
        return line;
    }
    int multiply(Form form = {}, int kstep = 0) {
        const Reg da = descriptor(a), db = descriptor(b, kstep);
        const std::vector<Reg> acc = accumulators(64);
        fence();
        const int line = mma(acc, da, db, imm(0), form);
        commit();
        wait(0);
        return line;
    }
    Tile tile;
    int a = 0, b = 0, bar = 0;
    Reg map_a;
};

}  // namespace

// --- what wgmma reads ----------------------------------------------------------------------------------

TEST_CASE("a box like the tile") {
    Product k;
    k.copy(right);
    k.multiply();
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("the boxes of a tile fill it, whatever its layout") {
    const Major major = GENERATE(Major::k, Major::mn);
    const SwizzleMode swizzle =
        GENERATE(SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128);
    const AtomOrder order = GENERATE(AtomOrder::mn, AtomOrder::k);
    const int rows = GENERATE(64, 128), columns = GENERATE(64, 128), kstep = GENERATE(0, 3);
    const Tile tile(TileSpec{Dtype::bf16, rows, columns, major, swizzle, order});
    const TmaBox boxes = tile.tma_box();
    std::vector<std::int64_t> offsets;
    for (const TmaPanel& panel : boxes.panels) offsets.push_back(panel.offset);
    Product k(tile);
    k.copy({Dtype::bf16, {boxes.inner, boxes.outer}, swizzle}, offsets);
    k.multiply(major == Major::mn ? Form().set(Field::trans_b, 1) : Form(), kstep);
    const Execution out = k.execute();
    INFO(tile.layout().to_string() << ' ' << out.message());
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("one box too few is told") {
    const Major major = GENERATE(Major::k, Major::mn);
    const Tile tile(TileSpec{Dtype::bf16, 64, 64, major, SwizzleMode::none, AtomOrder::mn});
    const TmaBox boxes = tile.tma_box();
    std::vector<std::int64_t> offsets;
    for (const TmaPanel& panel : boxes.panels) offsets.push_back(panel.offset);
    REQUIRE(offsets.size() > 1);
    offsets.erase(offsets.begin() + 1);
    Product k(tile);
    const int copy = k.copy({Dtype::bf16, {boxes.inner, boxes.outer}, SwizzleMode::none}, offsets);
    k.multiply(major == Major::mn ? Form().set(Field::trans_b, 1) : Form());
    const Execution out = k.execute();
    REQUIRE(out.findings.size() == 1);
    CHECK(out.findings[0].rule == "WG-TMA-05");
    CHECK(out.findings[0].line <= copy);
}

TEST_CASE("a box with another swizzle") {
    Product k;
    const int copy = k.copy({Dtype::bf16, {64, 64}, SwizzleMode::none});
    const int mma = k.multiply();
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-TMA-05", copy}});
    CHECK(out.message() ==
          "the copy fills `B` with swizzle none, and the wgmma that multiplies it reads 128B");
    CHECK(out.full[0].notes.at(0).where.line == mma);
}

TEST_CASE("a box of another type") {
    // The same bytes in all cases.
    const auto [type, inner, fits] = GENERATE(table<Dtype, int, bool>({{Dtype::bf16, 64, true},
                                                                       {Dtype::f16, 64, false},
                                                                       {Dtype::f32, 32, false},
                                                                       {Dtype::e4m3, 128, false},
                                                                       {Dtype::u32, 32, true},
                                                                       {Dtype::s32, 32, true},
                                                                       {Dtype::u8, 128, true}}));
    Product k;
    const int copy = k.copy({type, {inner, 64}, SwizzleMode::b128});
    k.multiply();
    const Execution out = k.execute();
    INFO(to_string(type));
    CHECK(out.findings == (fits ? Findings{} : Findings{{"WG-TMA-05", copy}}));
    if (!fits)
        CHECK(out.message() == "the copy brings " + std::string(to_string(type)) +
                                   " to `B`, and the wgmma that multiplies it reads bf16");
}

TEST_CASE("f32 is what tf32 is made from") {
    const Tile tf32 = kit::tile(64, 32, Major::k, Dtype::tf32);
    Roles k(128);
    const int a = k.buffer(tf32), bar = k.memory("bar", 8);
    const Reg map = k.map({Dtype::f32, {32, 64}, SwizzleMode::b128});
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.expect(Roles::in(bar), tf32.bytes()); });
    k.once([&] { return k.load(Roles::in(a), map, Roles::in(bar)); });
    k.wait_for(Roles::in(bar), 0);
    const Reg d = k.descriptor(a);
    k.fence();
    k.mma(k.accumulators(64), d, d, Kernel::imm(0),
          Form().set(Field::k, 8).set(Field::a, Type::tf32).set(Field::b, Type::tf32));
    k.commit();
    k.wait(0);
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("short lines lie a swizzle apart, and what is read of them must be there") {
    const int inner = GENERATE(8, 16, 32);
    Product k;
    const int copy = k.copy({Dtype::bf16, {inner, 64}, SwizzleMode::b128});
    k.multiply();  // 16 elements of each line
    const Execution out = k.execute();
    CHECK(out.findings == (inner >= 16 ? Findings{} : Findings{{"WG-TMA-05", copy}}));
}

TEST_CASE("without a swizzle lines are units, or whole core matrices") {
    // {8, rows}: one unit a line; {64, 16}: a core matrix a line; {16, 64}: neither.
    const auto [inner, outer, fits] = GENERATE(table<int, int, bool>(
        {{8, 128, true}, {64, 16, true}, {128, 8, true}, {16, 64, false}, {32, 32, false}}));
    Product k(kit::tile(64, 16, Major::k, Dtype::bf16, SwizzleMode::none));
    const int copy = k.copy({Dtype::bf16, {inner, outer}, SwizzleMode::none});
    k.multiply();
    INFO(inner << ' ' << outer);
    CHECK(k.execute().findings == (fits ? Findings{} : Findings{{"WG-TMA-05", copy}}));
}

TEST_CASE("a box of one line may hold anything") {
    Product k(kit::tile(64, 16, Major::k, Dtype::bf16, SwizzleMode::none));
    k.copy({Dtype::u64, {256}, SwizzleMode::none}, {0}, 1);
    k.multiply();
    CHECK(k.execute().findings == Findings{});
}

TEST_CASE("a box that is too small") {
    const int rows = GENERATE(8, 32, 56);
    Product k;
    const int copy = k.copy({Dtype::bf16, {64, rows}, SwizzleMode::b128});
    k.multiply();
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-TMA-05", copy}});
    CHECK(out.message() == "the box of {64, " + std::to_string(rows) +
                               "} of bf16 fills a part of what the wgmma reads of `B`: nothing brings " +
                               std::to_string((64 - rows) * 32) + " of 2048 bytes, from row " +
                               std::to_string(rows) + " of operand B on");
}

TEST_CASE("several boxes fill a tile, in any order") {
    const std::vector<std::int64_t> offsets = GENERATE(std::vector<std::int64_t>{0, 2048, 4096, 6144},
                                                       std::vector<std::int64_t>{6144, 2048, 4096, 0});
    Product k;
    k.copy({Dtype::bf16, {64, 16}, SwizzleMode::b128}, offsets);
    k.multiply();
    CHECK(k.execute().findings == Findings{});
}

TEST_CASE("what threads write they may have written anywhere") {
    Product k;
    k.copy({Dtype::bf16, {64, 32}, SwizzleMode::none});
    k.multiply();
    CHECK(k.execute({1, 1, 1}, {false, true, false}).findings == Findings{});
}

TEST_CASE("an MN-major tile") {
    const Tile mn = kit::tile(64, 64, Major::mn);
    const int columns = GENERATE(64, 8);
    Product k(mn);
    const int copy = k.copy({Dtype::bf16, {64, columns}, SwizzleMode::b128});
    k.multiply(Form().set(Field::trans_b, 1));
    const Execution out = k.execute();
    CHECK(out.findings == (columns == 64 ? Findings{} : Findings{{"WG-TMA-05", copy}}));
    if (columns == 8)
        CHECK_THAT(out.message(), ContainsSubstring("1024 of 2048 bytes, from column 8 of operand B"));
}

TEST_CASE("a matrix that goes on in the next buffer, where threads may write") {
    const bool stored = GENERATE(false, true);
    const Tile wide(TileSpec{Dtype::bf16, 128, 64, Major::mn, {}, AtomOrder::k});  // two panels of 8 KiB
    Roles k(128);
    const int a = k.buffer(whole), one = k.memory("one", 8192), two = k.memory("two", 8192),
              bar = k.memory("bar", 8);
    const Reg map_a = k.map(right), map_b = k.map({Dtype::bf16, {64, 64}, SwizzleMode::b128});
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.expect(Roles::in(bar), 16384); });
    k.once([&] { return k.load(Roles::in(a), map_a, Roles::in(bar)); });
    const int copy = k.once([&] { return k.load(Roles::in(one), map_b, Roles::in(bar)); });
    k.wait_for(Roles::in(bar), 0);
    const Reg da = k.descriptor(a), db = k.descriptor_at(k.address_of(one), wide.descriptor(0));
    k.fence();
    k.mma(k.accumulators(128), da, db, Kernel::imm(0), Form().set(Field::trans_b, 1));
    k.commit();
    k.wait(0);
    std::vector<bool> by_buffer(4);
    by_buffer[static_cast<std::size_t>(two)] = stored;
    CHECK(k.execute({1, 1, 1}, by_buffer).findings == (stored ? Findings{} : Findings{{"WG-TMA-05", copy}}));
}

// --- where copies go -----------------------------------------------------------------------------------

TEST_CASE("a copy has the dimensions of its tensor map") {
    const int dims = GENERATE(1, 2, 3);
    const bool stores = GENERATE(false, true);
    Roles k(32);
    const int tile = k.memory("tile", 512), bar = k.memory("bar", 8);
    std::vector<std::int64_t> extents(static_cast<std::size_t>(dims), 4);
    extents[0] = 32;
    const Reg map = k.map({Dtype::f32, extents, SwizzleMode::none});
    k.make(Roles::in(bar), 1);
    const int line = k.once([&] {
        return stores ? k.store_box(map, Roles::in(tile)) : k.load(Roles::in(tile), map, Roles::in(bar));
    });
    const Execution out = k.execute({1, 1, 1}, {true});
    if (dims == 2) {
        CHECK((out.findings.empty() || out.findings[0].rule == "WG-TMA-03"));  // nobody waits here
    } else {
        REQUIRE(!out.findings.empty());
        CHECK(out.findings[0] == Found{"WG-TMA-01", line});
        CHECK(out.message() == "the copy has 2 dimensions, its tensor map " + std::to_string(dims));
    }
}

TEST_CASE("a box goes to a multiple of 128 bytes, inside the buffer") {
    const auto [offset, rule, message] = GENERATE(table<int, std::string, std::string>(
        {{0, "", ""},
         {512, "", ""},
         {64, "WG-TMA-01", "the copy's place in shared memory, `tile` + 64, is not a multiple of 128 bytes"},
         {640, "WG-MEM-03",
          "a box of {32, 4} of f32 is 512 bytes, and from `tile` + 640 on there are 384"}}));
    Roles k(32);
    const int tile = k.memory("tile", 1024), bar = k.memory("bar", 8);
    const Reg map = k.map({Dtype::f32, {32, 4}, SwizzleMode::none});
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.expect(Roles::in(bar), 512); });
    const int line =
        k.once([&, offset = offset] { return k.load(Roles::in(tile, offset), map, Roles::in(bar)); });
    if (rule.empty()) k.wait_for(Roles::in(bar), 0);
    const Execution out = k.execute();
    INFO(offset);
    CHECK(out.findings == (rule.empty() ? Findings{} : Findings{{rule, line}}));
    CHECK(out.message() == message);
}

TEST_CASE("a buffer need not be a multiple of anything") {
    const int bytes = GENERATE(511, 512, 513);
    Roles k(32);
    const int tile = k.memory("tile", bytes), bar = k.memory("bar", 8);
    const Reg map = k.map({Dtype::f32, {32, 4}, SwizzleMode::none});
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.expect(Roles::in(bar), 512); });
    const int line = k.once([&] { return k.load(Roles::in(tile), map, Roles::in(bar)); });
    if (bytes >= 512) k.wait_for(Roles::in(bar), 0);
    CHECK(k.execute().findings == (bytes >= 512 ? Findings{} : Findings{{"WG-MEM-03", line}}));
}

TEST_CASE("a store reads inside the buffer too") {
    Roles k(32);
    const int tile = k.memory("tile", 256);
    const Reg map = k.map({Dtype::f32, {32, 4}, SwizzleMode::none});
    const int line = k.once([&] { return k.store_box(map, Roles::in(tile)); });
    const Execution out = k.execute();
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-MEM-03", line});
}

TEST_CASE("a linear copy goes to a multiple of 16 bytes") {
    const int offset = GENERATE(0, 8, 16, 24, 1008, 1024 - 8);
    Roles k(32);
    const int tile = k.memory("tile", 1024), bar = k.memory("bar", 8);
    const int x = k.builder().param("y", Type::u64, Dtype::u32);
    const Reg from = k.value("ld.param", Kernel::type(Type::u64), {Operand::param(x)});
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.expect(Roles::in(bar), 32); });
    k.guard(k.first);
    const int line = k.step("cp.async.bulk", {},
                            {Roles::in(tile, offset), Roles::at(from), Kernel::imm(32), Roles::in(bar)});
    k.guard({});
    if (offset % 16 == 0 && offset <= 1024 - 32) k.wait_for(Roles::in(bar), 0);
    const Execution out = k.execute();
    INFO(offset);
    if (offset % 16 != 0)
        CHECK(out.findings == Findings{{"WG-TMA-01", line}});
    else
        CHECK(out.findings == (offset == 1008 ? Findings{{"WG-MEM-03", line}} : Findings{}));
}
