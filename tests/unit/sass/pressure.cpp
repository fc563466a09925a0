// What machine code costs: what waits for what, and the registers that are in use.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sass/graph.hpp"
#include "sass/listing.hpp"
#include "sass/liveness.hpp"
#include "sass/scoreboards.hpp"
#include "tests/catch.hpp"

using namespace wgrun::sass;

namespace {

/// The upper half of an encoding, of a control word.
std::string encoding(unsigned stall, unsigned write = 7, unsigned read = 7, unsigned waits = 0) {
    const std::uint64_t bits = std::uint64_t{stall} << 41 | std::uint64_t{1} << 45 |
                               std::uint64_t{write} << 46 | std::uint64_t{read} << 49 |
                               std::uint64_t{waits} << 52;
    return fmt::format("/* 0x{:016x} */\n", bits);
}

/// Instructions with their control words; lines that end with a colon are labels.
struct Code {
    explicit Code(const std::vector<std::pair<std::string, std::string>>& lines)
        : listing(read_listing(text_of(lines))), graph(listing.functions.at(0)) {}
    static std::string text_of(const std::vector<std::pair<std::string, std::string>>& lines) {
        std::string text = ".text.f:\n";
        for (const auto& [line, control] : lines)
            text += line.ends_with(":") ? line + "\n"
                                        : "/*0000*/ " + line + "; /* 0x0000000000000000 */\n" +
                                              (control.empty() ? encoding(1) : control);
        return text;
    }
    const Function& function() const { return listing.functions.at(0); }
    std::vector<Awaited> waits() const { return scoreboard_waits(function(), graph); }
    std::vector<int> live() const { return live_registers(function(), graph); }
    Listing listing;
    Graph graph;
};

}  // namespace

TEST_CASE("an instruction waits for those that its scoreboards count") {
    const Code straight({{"LDS R4, [R2]", encoding(2, 0)},
                         {"LDG.E R5, desc[UR4][R2.64]", encoding(3, 1)},
                         {"MOV R6, RZ", encoding(5)},
                         {"FADD R4, R4, R4", encoding(4, 7, 7, 1)},
                         {"FADD R4, R4, R5", encoding(4, 7, 7, 3)},
                         {"EXIT", ""}});
    const auto waits = straight.waits();
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].by == 3);
    CHECK(waits[0].of == 0);
    CHECK(waits[0].scoreboard == 0);
    CHECK(waits[0].cycles == 10);
    // Scoreboard 0 has been waited for.
    CHECK(waits[1].by == 4);
    CHECK(waits[1].of == 1);
    CHECK(waits[1].cycles == 12);

    // Over the back edge of a loop, and the shorter of two ways.
    const Code loop({{"S2R R4, SR_TID.X", encoding(9, 2)},
                     {".L_a:", ""},
                     {"FADD R4, R4, R4", encoding(4, 7, 7, 4)},
                     {"LDS R4, [R2]", encoding(2, 2)},
                     {"@P0 BRA `(.L_b)", encoding(5)},
                     {"MOV R6, RZ", encoding(6)},
                     {".L_b:", ""},
                     {"@P1 BRA `(.L_a)", encoding(5)},
                     {"DEPBAR.LE SB2, 0x0", encoding(1)},
                     {"FADD R4, R4, R4", encoding(4, 7, 7, 4)},
                     {"EXIT", ""}});
    const auto around = loop.waits();
    REQUIRE(around.size() == 3);
    CHECK(around[0].of == 0);
    CHECK(around[0].cycles == 9);
    CHECK(around[1].by == 1);
    CHECK(around[1].of == 2);
    CHECK(around[1].cycles == 12);
    CHECK(around[2].by == 6);
    CHECK(main_loops(loop.function(), loop.graph) == std::vector<Place>{1});
}

TEST_CASE("the main loops are those that have products") {
    const Code code({{".L_a:", ""},
                     {"HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24, gsb0", ""},
                     {"@P0 BRA `(.L_a)", ""},
                     {".L_b:", ""},
                     {"MOV R2, R3", ""},
                     {".L_c:", ""},
                     {"@P0 BRA `(.L_c)", ""},
                     {"@P0 BRA `(.L_b)", ""},
                     {"EXIT", ""}});
    CHECK(main_loops(code.function(), code.graph) == std::vector<Place>{0});
    CHECK(code.graph.loop(0) == 0);
    CHECK(code.graph.loop(2) == 2);
    CHECK(code.graph.loop(3) == 3);
    CHECK(code.graph.loop(5) == code.graph.size());
}

TEST_CASE("registers hold what is still needed") {
    const Code straight({{"MOV R2, RZ", ""},
                         {"MOV R3, RZ", ""},
                         {"IADD3 R4, R2, R3, RZ", ""},
                         {"@P0 MOV R2, R4", ""},
                         {"STG.E desc[UR4][R2.64], R4", ""},
                         {"EXIT", ""}});
    CHECK(straight.live() == std::vector<int>{0, 1, 2, 3, 3, 0});

    // A's registers are in use until the wait; the accumulators begin with the product.
    const Code product({{"LDS.128 R28, [R2]", ""},
                        {"HGMMA.64x8x16.F32.BF16 R24, R28, gdesc[UR4], RZ, !UPT, gsb0", ""},
                        {"NOP", ""},
                        {"WARPGROUP.DEPBAR.LE gsb0, 0x0", ""},
                        {"STS [R2], R24", ""},
                        {"EXIT", ""}});
    CHECK(product.live() == std::vector<int>{1, 5, 9, 9, 2, 0});
}

TEST_CASE("the stack of a function") {
    const auto of = [](const std::string& line) {
        return stack_bytes(Code({{line, ""}, {"EXIT", ""}}).function());
    };
    CHECK(of("IADD3 R1, R1, -0x20, RZ") == 32);
    CHECK(of("VIADD R1, R1, 0xffffffe0") == 32);
    CHECK(of("IADD3 R1, R2, -0x20, RZ") == 0);
    CHECK(of("MOV R1, R1") == 0);
}
