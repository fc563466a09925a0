// Which registers an instruction of machine code writes and reads.
#include "sass/registers.hpp"

#include "sass/listing.hpp"
#include "tests/catch.hpp"

using namespace wgrun::sass;

namespace {

struct One {
    explicit One(const std::string& text) : listing(read_listing(".text.f:\n/*0000*/ " + text + ";\n")) {}
    const Instruction& operator*() const { return listing.functions.at(0).instructions.at(0); }
    Listing listing;
};

Registers writes(const std::string& text) { return written(*One(text)); }

std::vector<Registers> reads(const std::string& text) {
    const One one(text);
    std::vector<Registers> out;
    for_each_read(*one, [&](Registers some) { out.push_back(some); });
    return out;
}

}  // namespace

TEST_CASE("results are as wide as the mnemonic says") {
    CHECK(writes("MOV R5, R6") == Registers{5, 1});
    CHECK(writes("LDS.128 R28, [R28]") == Registers{28, 4});
    CHECK(writes("LDG.E.64 R2, desc[UR4][R4.64]") == Registers{2, 2});
    CHECK(writes("LDG.E.LTC128B R2, desc[UR4][R4.64]") == Registers{2, 1});
    CHECK(writes("CS2R R24, SRZ") == Registers{24, 2});
    CHECK(writes("CS2R.32 R24, SR_CLOCKLO") == Registers{24, 1});
    CHECK(writes("LDSM.16.MT88.4 R8, [R2+UR4]") == Registers{8, 4});
    CHECK(writes("LDSM.16.M88.2 R8, [R2]") == Registers{8, 2});
    CHECK(writes("IMAD.WIDE.U32 R2, P0, R4, R5, R6") == Registers{2, 2});
    CHECK(writes("SHF.R.U64 R8, R8, 0x4, RZ") == Registers{8, 1});
    CHECK(writes("DFMA R4, R2, R2, R4") == Registers{4, 2});
    CHECK(writes("F2F.F64.F32 R4, R2") == Registers{4, 2});
    CHECK(writes("F2F.F32.F64 R4, R2") == Registers{4, 1});
    CHECK(writes("HMMA.16816.F32.BF16 R8, R4, R6, R8") == Registers{8, 4});
    CHECK(writes("SHFL.BFLY PT, R7, R3, 0x1, 0x1f") == Registers{7, 1});
    CHECK(writes("ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR4][R2.64], R5") == Registers{3, 1});
    CHECK(writes("@P0 IADD3 R254, P1, R2, R3, RZ") == Registers{254, 1});
}

TEST_CASE("what writes no register R") {
    for (const std::string text :
         {"STG.E desc[UR4][R2.64], R5", "ISETP.NE.AND P0, PT, R0, RZ, PT", "FCHK P0, R2, R3", "R2UR UR4, R8",
          "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4+URZ], R2", "MOV RZ, R2", "@!PT LDS R4, [RZ]",
          "BRA `(.L_x_0)", "HGMMA.64x8x16.F32.BF16 R24, R28, gdesc[UR4], R24", "EXIT",
          "STSM.16.M88.4 [R8], R88", "R2P PR, R0, 0x7f"}) {
        INFO(text);
        CHECK(writes(text).count == 0);
    }
}

TEST_CASE("what is read") {
    CHECK(reads("FADD R250, |R24|, -R3.reuse") == std::vector<Registers>{{24, 1}, {3, 1}});
    CHECK(reads("STS.128 [R2+0x10], R24") == std::vector<Registers>{{2, 1}, {24, 4}});
    CHECK(reads("STG.E.U16 desc[UR4][R2.64], R24") == std::vector<Registers>{{2, 2}, {24, 1}});
    CHECK(reads("IMAD.WIDE R2, R4, 0x4, R6") == std::vector<Registers>{{4, 1}, {6, 2}});
    CHECK(reads("STSM.16.M88.4 [R8], R88") == std::vector<Registers>{{8, 1}, {88, 4}});
    CHECK(reads("MOV R2, RZ").empty());
}

TEST_CASE("products, dense and sparse, of all kinds of operands") {
    const One dense("HGMMA.64x128x16.F32.BF16 R24, R140, gdesc[UR12].tnspB, R24, gsb0");
    const Product of = product_of(*dense);
    CHECK(of.n == 128);
    CHECK(of.k == 16);
    CHECK_FALSE(of.sparse);
    CHECK(of.ends_group);
    CHECK(of.accumulators == Registers{24, 64});
    CHECK(of.fragment == Registers{140, 4});
    CHECK(of.metadata.count == 0);
    CHECK(of.reads_accumulators);

    const One sparse("QGMMA.SP.64x64x64.F32.E4M3.E4M3 R24, gdesc[UR8], R24, R60");
    const Product other = product_of(*sparse);
    CHECK(other.sparse);
    CHECK(other.fragment.count == 0);
    CHECK(other.metadata == Registers{60, 1});
    CHECK(other.accumulators == Registers{24, 32});
    CHECK_FALSE(other.ends_group);

    CHECK_FALSE(product_of(*One("HGMMA.64x64x16.F32 R24, gdesc[UR8], RZ, !UPT")).reads_accumulators);
    CHECK_FALSE(product_of(*One("HGMMA.64x8x16.F16 R56, gdesc[UR4], R56, !UPT, gsb0")).reads_accumulators);
    CHECK(product_of(*One("HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, UP0")).reads_accumulators);
    CHECK(product_of(*One("HGMMA.64x256x16.F16 R24, gdesc[UR8], R24")).accumulators == Registers{24, 64});
    CHECK(product_of(*One("IGMMA.64x32x32.S8.S8 R24, R44, gdesc[UR8], R24")).accumulators ==
          Registers{24, 16});
    CHECK(product_of(*One("HGMMA.SP.64x64x32.F32.BF16 R24, gdesc[UR8], R24, R61, 0x0, gsb0")).metadata ==
          Registers{61, 1});
}
