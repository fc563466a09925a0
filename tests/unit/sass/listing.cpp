// nvdisasm's text as instructions: operands, guards, lines, labels, control words, spills.
#include "sass/listing.hpp"

#include "sass/record.hpp"
#include "tests/catch.hpp"

using namespace wgrun::sass;

namespace {

Listing listing_of(const std::string& body) {
    return read_listing("\t.target\tsm_90a\n.text.plus:\n" + body);
}

}  // namespace

TEST_CASE("an instruction has its address, guard, operands, lines and control word") {
    const Listing read = listing_of(
        "\t//## File \"/a/s.lua\", line 7\n"
        "\t//## File \".nv_debug_ptx_txt\", line 12\n"
        "        /*01f0*/              @!P0 STG.E.64 desc[UR4][R2.64+0x10], R6 ;  /* 0x0000000502007986 */\n"
        "                                                                        /* 0x004fe8000c101904 */\n"
        ".L_x_1:\n"
        "        /*0200*/                   EXIT ;\n");
    REQUIRE(read.functions.size() == 1);
    const Function& function = read.functions[0];
    CHECK(function.name == "plus");
    REQUIRE(function.instructions.size() == 2);
    const Instruction& store = function.instructions[0];
    CHECK(store.address == 0x1f0);
    CHECK(store.text == "@!P0 STG.E.64 desc[UR4][R2.64+0x10], R6");
    CHECK(store.mnemonic == "STG.E.64");
    CHECK(store.operands == std::vector<std::string_view>{"desc[UR4][R2.64+0x10]", "R6"});
    CHECK(store.guard == 0);
    CHECK(store.guard_negated);
    CHECK(store.line == 12);
    CHECK(store.file == "/a/s.lua");
    CHECK(store.source_line == 7);
    CHECK(store.record->does == Does::store);
    REQUIRE(store.control.known);
    CHECK(store.control.stall == 4);
    CHECK(store.control.waits == 0b000100);
    CHECK(store.control.write == Control::none);
    CHECK_FALSE(function.instructions[1].control.known);
    REQUIRE(function.labels.size() == 1);
    CHECK(function.labels[0].name == ".L_x_1");
    CHECK(function.labels[0].at == 1);
}

TEST_CASE("control words of ptxas") {
    // MUFU.EX2 sets a scoreboard; the instruction behind waits for it.
    constexpr Control sets = Control::of(0x000e620000002100);  // S2R
    CHECK(sets.stall == 1);
    CHECK(sets.write == 1);
    CHECK(sets.read == Control::none);
    CHECK(sets.waits == 0);
    constexpr Control waits = Control::of(0x002fda0003f05070);  // ISETP
    CHECK(waits.stall == 13);
    CHECK(waits.waits == 0b000010);
    CHECK(waits.write == Control::none);
    constexpr Control reads = Control::of(0x0003e20008000100);  // sets a scoreboard when it has read
    CHECK(reads.read == 1);
}

TEST_CASE("spills are marked, padding and texts of others are passed over") {
    const Listing read = listing_of(
        "  /*0010*/  STL [R1+0x74], R3 ;    (*\"SpillRefill\"*)\n"
        "  /*0020*/  STL [R1+0x78], R3    (*\"SpillRefill\"*) ;\n"
        "  /*0030*/  BRA `(.L_x_9) ;\n"
        "  /*0040*/  NOP;\n"
        "  /*0050*/  NOP;\n"
        ".L_x_10:\n");
    const auto& code = read.functions.at(0).instructions;
    REQUIRE(code.size() == 3);
    CHECK(code[1].spill);
    CHECK(code[1].text == "STL [R1+0x78], R3");
    CHECK_FALSE(code[2].spill);
    CHECK(read.functions[0].labels.empty());
    CHECK(is_listing(".text.a:\n/*0000*/ NOP;"));
    CHECK_FALSE(is_listing(".version 8.0"));
    CHECK(read_listing("").functions.empty());
    CHECK(read_listing("/*0000*/ EXIT ;\n/* 0x12 */\n//## File\n:\n").functions.empty());
}

TEST_CASE("records are found by the longest part of a mnemonic") {
    CHECK(record_of("SYNCS.ARRIVE.TRANS64.RED.A0TR").does == Does::mbarrier_expect);
    CHECK(record_of("SYNCS.ARRIVE.TRANS64.RED.A1T0").does == Does::mbarrier_arrive);
    CHECK(record_of("UBLKCP.S.G").does == Does::bulk_load);
    CHECK(record_of("UBLKCP.G.S").does == Does::bulk_store);
    CHECK(record_of("LDGSTS.E.BYPASS.128").does == Does::copy);
    CHECK(record_of("LDG.E").does == Does::load);
    CHECK(record_of("FFMA").does == Does::other);
    CHECK(record_of("FFMA").writes == Writes::first);
    CHECK(record_of("").does == Does::other);
}

TEST_CASE("a text that was cut") {
    const auto cut = [](const std::string& code) {
        return is_cut(read_listing(".text.f:\n" + code).functions.at(0));
    };
    CHECK_FALSE(cut("/*0000*/ EXIT;\n"));
    CHECK_FALSE(cut("/*0000*/ EXIT;\n.L_x_0:\n/*0010*/ BRA `(.L_x_0);\n/*0020*/ NOP;\n"));
    CHECK(cut(""));
    CHECK(cut("/*0000*/ MOV R1, R2;\n"));
    CHECK(cut("/*0000*/ @P0 EXIT;\n"));
    CHECK(cut("/*0000*/ @P0 BRA `(.L_x_1);\n/*0010*/ EXIT;\n"));
}
