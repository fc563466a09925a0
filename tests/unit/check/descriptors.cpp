// WG-DESC-01 to -04: descriptors and the tiles that they point into.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

/// One wgmma whose operand B the test makes.
struct OperandB : Kernel {
    OperandB() {
        a = buffer(tile());
        da = descriptor(a);
    }
    Findings multiply(Reg db, int n = 64, Form form = {}) {
        acc = accumulators(n);
        fence();
        mma_line = mma(acc, da, db, imm(0), form);
        commit();
        wait(0);
        return check();
    }
    int a, mma_line = 0;
    Reg da;
    std::vector<Reg> acc;
};

Form transposed_b() { return Form().set(Field::trans_b, 1); }

}  // namespace

TEST_CASE("every K step and row block of a tile fits") {
    const Major major = GENERATE(Major::k, Major::mn);
    const SwizzleMode swizzle =
        GENERATE(SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128);
    const int kstep = GENERATE(0, 1, 7), mn_offset = GENERATE(0, 64);
    OperandB k;
    const int b = k.buffer(tile(128, 128, major, Dtype::bf16, swizzle));
    const Reg db = k.descriptor(b, kstep, mn_offset);
    const Findings found = k.multiply(db, 64, major == Major::mn ? transposed_b() : Form());
    CHECK(found == Findings{});
}

TEST_CASE("the major-ness of the tile must be that of the instruction") {
    const Major major = GENERATE(Major::k, Major::mn);
    OperandB k;
    const int b = k.buffer(tile(64, 64, major));
    const int declared = k.line();
    const Reg db = k.descriptor(b);
    const Findings found = k.multiply(db, 64, major == Major::k ? transposed_b() : Form());
    CHECK(found == Findings{{"WG-DESC-01", k.mma_line}});
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message ==
          (major == Major::k ? "operand B points into `B`, which is K-major, but trans_b = 1 reads it as "
                               "MN-major"
                             : "operand B points into `B`, which is MN-major, but trans_b = 0 reads it as "
                               "K-major"));
    CHECK(finding.fix == (major == Major::k ? "trans_b = 0" : "trans_b = 1"));
    REQUIRE(finding.notes.size() == 1);
    CHECK(finding.notes[0].where.line == declared);
}

TEST_CASE("swizzle and strides of the descriptor must be those of the tile") {
    const int field = GENERATE(0, 1, 2);
    OperandB k;
    const Tile t = tile(64, 64, Major::k, Dtype::bf16, field == 2 ? SwizzleMode::none : SwizzleMode::b128);
    const int b = k.buffer(t);
    Descriptor d = t.descriptor(0);
    if (field == 0) d.swizzle = SwizzleMode::b64;
    if (field == 1) d.sbo = 512;
    if (field == 2) d.lbo += 16;
    const Reg db = k.descriptor_at(k.address(b), d);
    const Findings found = k.multiply(db);
    CHECK(found == Findings{{"WG-DESC-01", k.mma_line}});
    CHECK_THAT(k.diagnostics()[0].message,
               ContainsSubstring(field == 0   ? "has swizzle 64B, but the tile's is 128B"
                                 : field == 1 ? "has LBO 16 and SBO 512, but the tile's are 16 and 1024 bytes"
                                              : "but the tile's are 1024 and 128 bytes"));
}

TEST_CASE("a field that the instruction does not use may hold anything") {
    OperandB k;
    const int b = k.buffer(tile());
    Descriptor d = tile().descriptor(0);
    d.lbo = 0;
    const Reg db = k.descriptor_at(k.address(b), d);
    const Findings found = k.multiply(db);
    CHECK(found == Findings{});
}

TEST_CASE("a start between two K steps") {
    OperandB k;
    const int b = k.buffer(tile());
    const Reg db = k.descriptor_at(k.address(b, 16), tile().descriptor(0));
    const Findings found = k.multiply(db);
    CHECK(found == Findings{{"WG-DESC-02", k.mma_line}});
    CHECK_THAT(k.diagnostics()[0].message, ContainsSubstring("operand B starts 16 bytes into the tile `B`"));
}

TEST_CASE("more rows than the tile has") {
    OperandB k;
    const int b = k.buffer(tile(64, 64));
    const Reg db = k.descriptor(b, 0, 32);
    const Findings found = k.multiply(db, 64);
    CHECK(found == Findings{{"WG-DESC-02", k.mma_line}});
    CHECK_THAT(k.diagnostics()[0].message,
               ContainsSubstring("operand B reads 64 rows from row 32 of `B`") &&
                   ContainsSubstring("rows 32 to 95 are outside the tile's 64 rows"));
}

TEST_CASE("a K step beyond the tile points outside the buffer or at no step") {
    OperandB k;
    const int b = k.buffer(tile(64, 16));
    const Reg db = k.descriptor_at(k.address(b, tile(64, 16).bytes()), tile(64, 16).descriptor(0));
    const Findings found = k.multiply(db);
    CHECK(found == Findings{{"WG-DESC-03", k.mma_line}});
    CHECK_THAT(k.diagnostics()[0].message,
               ContainsSubstring("operand B starts 2048 bytes into `B`, which has 2048 bytes"));
}

TEST_CASE("the element width of the tile must be that of the instruction") {
    OperandB k;
    const int b = k.buffer(tile(64, 128, Major::k, Dtype::e4m3));
    const Reg db = k.descriptor(b);
    const Findings found = k.multiply(db);
    CHECK(found == Findings{{"WG-DESC-03", k.mma_line}});
    CHECK_THAT(k.diagnostics()[0].message, ContainsSubstring("a tile of 8-bit elements (e4m3 64x128 K-major "
                                                             "with 128B swizzle), but the instruction reads "
                                                             "16-bit elements"));
}

TEST_CASE("types of the same width may stand for each other") {
    OperandB k;
    const int b = k.buffer(tile(64, 64, Major::k, Dtype::f16));
    const Reg db = k.descriptor(b);
    const Findings found = k.multiply(db);
    CHECK(found == Findings{});
}

TEST_CASE("the buffer must be aligned to the swizzle pattern") {
    const std::int64_t align = GENERATE(16, 1024);
    Kernel k;
    const int a = k.buffer(tile(64, 64, Major::k, Dtype::bf16, SwizzleMode::none), 1, 128);
    const int b = k.buffer(tile(), 1, align);
    const int declared = k.line();
    const Reg da = k.descriptor(a), db = k.descriptor(b);
    const std::vector<Reg> acc = k.accumulators();
    k.fence();
    const int mma = k.mma(acc, da, db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == (align == 1024 ? Findings{} : Findings{{"WG-DESC-04", declared}}));
    if (align == 16) {
        CHECK(
            k.diagnostics()[0].message ==
            "shared buffer `B` is aligned to 16 bytes, but a wgmma reads it with 128B swizzle, whose pattern "
            "starts on 1024 bytes");
        CHECK(k.diagnostics()[0].fix == "align = 1024 for `B`");
        CHECK(k.diagnostics()[0].notes[0].where.line == mma);
    }
}

TEST_CASE("stages of one buffer") {
    const int stage = GENERATE(0, 1, 2, 3);
    OperandB k;
    const int b = k.buffer(tile(), 3);
    const Reg db =
        k.descriptor_at(k.address(b, std::int64_t{tile().bytes()} * stage + 32), tile().descriptor(0));
    const Findings found = k.multiply(db);
    CHECK(found == (stage < 3 ? Findings{} : Findings{{"WG-DESC-03", k.mma_line}}));
}

TEST_CASE("descriptors that are advanced by additions") {
    const int units = GENERATE(2, 1);
    OperandB k;
    const int b = k.buffer(tile());
    const Reg db = k.descriptor(b);
    const Reg next = k.value("add", Kernel::type(Type::u64), {Operand::of(db), Kernel::imm(units)});
    const Findings found = k.multiply(next);
    CHECK(found == (units == 2 ? Findings{} : Findings{{"WG-DESC-02", k.mma_line}}));
}

TEST_CASE("a buffer without a tile, read through a descriptor that a script put together") {
    const std::int64_t bytes = GENERATE(2048, 1024);
    const bool fenced = GENERATE(false, true);
    OperandB k;
    const int b = k.builder().shared("raw", bytes, 1024, {});
    const Tile t = tile(64, 16, Major::k, Dtype::bf16, SwizzleMode::none);
    k.store(k.of_thread(k.address(b)));
    if (fenced) k.proxy();
    k.bar();
    const Reg db = k.descriptor_at(k.address(b), t.descriptor(0));
    const Findings found = k.multiply(db);
    if (bytes == 1024)
        CHECK(found == Findings{{"WG-DESC-03", k.mma_line}});
    else
        CHECK(found == (fenced ? Findings{} : Findings{{"WG-PROXY-01", k.mma_line}}));
}

TEST_CASE("a descriptor made with and, shr and or") {
    const bool right = GENERATE(false, true);
    OperandB k;
    const int b = k.buffer(tile());
    const Reg low = k.bit_and(k.address(b, right ? 32 : 48), 0x3FFFF);
    const Reg units = k.shift_right(low, 4);
    Form widen;
    widen.set(Field::type, Type::u64).set(Field::from, Type::u32);
    const Reg wide = k.value("cvt", widen, {Operand::of(units)});
    Descriptor d = tile().descriptor(0);
    d.start = 0;
    const Reg db = k.value("or", Kernel::type(Type::b64),
                           {Operand::of(wide), Kernel::imm(static_cast<std::int64_t>(d.encode()))});
    const Findings found = k.multiply(db);
    CHECK(found == (right ? Findings{} : Findings{{"WG-DESC-02", k.mma_line}}));
}
