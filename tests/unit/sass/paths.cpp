// Paths of machine code: where it goes on, loops, what is in flight, and what is known of predicates.
#include "sass/graph.hpp"
#include "sass/in_flight.hpp"
#include "sass/listing.hpp"
#include "sass/predicates.hpp"
#include "tests/catch.hpp"

using namespace wgrun::sass;

namespace {

/// Lines that end with a colon are labels.
struct Code {
    explicit Code(const std::vector<std::string>& lines) : listing(read_listing(text_of(lines))) {}
    static std::string text_of(const std::vector<std::string>& lines) {
        std::string text = ".text.f:\n";
        for (const std::string& line : lines)
            text += line.ends_with(":") ? line + "\n" : "/*0000*/ " + line + ";\n";
        return text;
    }
    const Function& function() const { return listing.functions.at(0); }
    Listing listing;
};

}  // namespace

TEST_CASE("branches, exits and what cannot be reached") {
    const Code code({"@P0 BRA `(.L_a)", "EXIT", ".L_a:", "@!P1 EXIT", "BRA `(.L_b)", "NOP", ".L_b:", "EXIT",
                     "MOV R1, R2"});
    const Graph graph(code.function());
    CHECK(graph.next(0) == std::vector<Place>{2, 1});
    CHECK(graph.next(1).empty());
    CHECK(graph.next(2) == std::vector<Place>{3});
    CHECK(graph.next(3) == std::vector<Place>{5});
    CHECK_FALSE(graph.reachable(4));
    CHECK_FALSE(graph.reachable(6));
    CHECK(graph.open() == graph.size());
}

TEST_CASE("nested loops, calls and branches through registers") {
    const Code loops(
        {".L_a:", "MOV R1, R2", ".L_b:", "MOV R2, R3", "@P0 BRA `(.L_b)", "@P1 BRA `(.L_a)", "EXIT"});
    const Graph nested(loops.function());
    CHECK(nested.depth(0) == 1);
    CHECK(nested.depth(1) == 2);
    CHECK(nested.depth(2) == 2);
    CHECK(nested.depth(3) == 1);
    CHECK(nested.depth(4) == 0);

    const Code calls({"CALL.REL.NOINC `(.L_f)", "EXIT", ".L_f:", "MOV R24, RZ", "RET.REL.NODEC R2 `(f)"});
    const Graph called(calls.function());
    CHECK(called.next(0) == std::vector<Place>{1});
    CHECK(called.called(0) == std::vector<Place>{2, 3});
    CHECK(called.reachable(2));

    const Code table({"BRX R2 -0x10 (*\"BRANCH_TARGETS .L_a,.L_b\"*)", ".L_a:", "EXIT", ".L_b:", "EXIT"});
    CHECK(Graph(table.function()).next(0) == std::vector<Place>{1, 2});
    const Code open({"BRX R2 -0x10", "EXIT"});
    CHECK(Graph(open.function()).open() == 0);
    const Code nowhere({"BRA `(.L_none)", "EXIT"});
    CHECK(Graph(nowhere.function()).open() == 0);
}

TEST_CASE("a product is in flight until the wait that covers its group") {
    const std::string product = "HGMMA.64x8x16.F32.BF16 R24, R28, gdesc[UR4], R24, gsb0";
    const std::string other = "HGMMA.64x8x16.F32.BF16 R40, R44, gdesc[UR4], R40, gsb0";
    const auto touched = [](const std::vector<std::string>& lines) {
        const Code code(lines);
        return touched_in_flight(code.function(), Graph(code.function()));
    };
    CHECK(touched({product, "WARPGROUP.DEPBAR.LE gsb0, 0x0", "MOV R28, RZ", "EXIT"}).empty());
    REQUIRE(touched({product, "MOV R31, RZ", "WARPGROUP.DEPBAR.LE gsb0, 0x0", "EXIT"}).size() == 1);
    CHECK(touched({product, "MOV R31, RZ", "EXIT"})[0].what == Touched::What::fragment);
    CHECK(touched({product, "MOV R32, RZ", "EXIT"}).empty());
    CHECK(touched({product, "FADD R1, R27, R1", "EXIT"})[0].what == Touched::What::early_read);
    CHECK(touched({product, "CS2R R22, SRZ", "EXIT"}).empty());
    CHECK(touched({product, "CS2R R23, SRZ", "EXIT"})[0].what == Touched::What::accumulator);
    // One group may remain: the older one is covered, the younger is not.
    CHECK(touched({product, other, "WARPGROUP.DEPBAR.LE gsb0, 0x1", "MOV R28, RZ", "EXIT"}).empty());
    CHECK(touched({product, other, "WARPGROUP.DEPBAR.LE gsb0, 0x1", "MOV R44, RZ", "EXIT"}).size() == 1);
    // A wait on one path alone, and a wait under a guard, cover nothing.
    CHECK(
        touched({product, "@P0 BRA `(.L_a)", "WARPGROUP.DEPBAR.LE gsb0, 0x0", ".L_a:", "MOV R28, RZ", "EXIT"})
            .size() == 1);
    CHECK(touched({product, "@P0 WARPGROUP.DEPBAR.LE gsb0, 0x0", "MOV R28, RZ", "EXIT"}).size() == 1);
    // Products of the same accumulators follow each other, those of others that overlap do not.
    CHECK(touched({product, product, "WARPGROUP.DEPBAR.LE gsb0, 0x0", "EXIT"}).empty());
    CHECK(touched({product, "HGMMA.64x8x16.F32.BF16 R26, R44, gdesc[UR4], R26, gsb0",
                   "WARPGROUP.DEPBAR.LE gsb0, 0x0", "EXIT"})
              .size() == 1);
    // What a function writes that is called counts.
    CHECK(touched({product, "CALL.REL.NOINC `(.L_f)", "WARPGROUP.DEPBAR.LE gsb0, 0x0", "EXIT",
                   ".L_f:", "MOV R28, RZ", "RET.REL.NODEC R2 `(f)"})
              .size() == 1);
}

TEST_CASE("registers of a product are written before WARPGROUP.ARRIVE") {
    const auto unordered = [](const std::vector<std::string>& lines) {
        const Code code(lines);
        return written_without_order(code.function(), Graph(code.function())).size();
    };
    const std::string product = "HGMMA.64x8x16.F32.BF16 R24, R28, gdesc[UR4], RZ, !UPT, gsb0";
    CHECK(unordered({"MOV R28, RZ", "WARPGROUP.ARRIVE", product, "EXIT"}) == 0);
    CHECK(unordered({"WARPGROUP.ARRIVE", "MOV R28, RZ", product, "EXIT"}) == 1);
    CHECK(unordered({"WARPGROUP.ARRIVE", "MOV R24, RZ", product, "EXIT"}) == 0);  // it does not read them
}

TEST_CASE("predicates that copy others, and tables of what is known") {
    const Code code({"VOTEU.ALL UP1, P1", "@!UP1 MOV R1, RZ", "@P1 MOV R2, RZ",
                     "PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0", "ISETP.NE.U32.OR P0, PT, R0, RZ, P0",
                     "@!P0 EXIT", "PLOP3.LUT P2, PT, P0, P1, PT, 0x8, 0x0", "@P2 EXIT", "EXIT"});
    const Graph graph(code.function());
    std::vector<Place> guards;
    for (Place at = 0; at < graph.size(); ++at) guards.push_back(at);
    const PredicateFlow flow(code.function(), graph, std::vector<bool>(graph.size(), true), guards);
    const auto& list = code.function().instructions;
    const Known uniform = flow.learn({}, 1, true);  // @!UP1: UP1, and P1, do not hold
    CHECK_FALSE(uniform.allows(list[2], true));
    CHECK(uniform.allows(list[2], false));
    Known known = flow.after({}, 3);
    known = flow.after(known, 4);  // or with what holds
    CHECK_FALSE(known.allows(list[5], true));
    CHECK(Known{}.allows(list[5], true));
    CHECK((flow.live(2) & bit_of(1)) != 0);
    CHECK((flow.live(8) & bit_of(1)) == 0);
}
