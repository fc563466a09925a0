// Remedies and fixes as a Lua script says them, and as PTX does.
#include "rules/phrases.hpp"

#include "diag/fix.hpp"
#include "rules/barrier_words.hpp"
#include "rules/mbarrier_words.hpp"
#include "rules/wgmma_words.hpp"
#include "tests/catch.hpp"
#include "wgrun/rules.hpp"

using namespace wgrun;
using namespace wgrun::rules;

TEST_CASE("a remedy in both languages") {
    const Where at = Where::at("k.lua", 4), later = Where::at("k.lua", 9);
    const Remedy remedy{insert_after(at, {wgmma_commit_group()}),
                        insert_before(later, {wgmma_wait_group(2), bar_sync()})};
    CHECK(in_words(remedy) ==
          "k:wgmma_commit_group() after line 4, k:wgmma_wait_group(2) and k:bar_sync(0) before line 9");
    CHECK(
        in_words(remedy, Dialect::ptx) ==
        "wgmma.commit_group.sync.aligned after line 4, wgmma.wait_group.sync.aligned 2 and bar.sync 0 before "
        "line 9");
    CHECK(text_of(remedy[1]) == "wgmma_wait_group(2)\nbar_sync(0)\n");
    CHECK(text_of(remedy[1], Dialect::ptx) == "wgmma.wait_group.sync.aligned 2;\nbar.sync 0;\n");
}

TEST_CASE("a sentence in both languages") {
    const Phrase words = sentence("{} by {}, then {} {}", cp_async_wait_all(), "the thread", bar_sync(), 7);
    CHECK(words.lua == "k:cp_async_wait_all() by the thread, then k:bar_sync(0) 7");
    CHECK(words.ptx == "cp.async.wait_all by the thread, then bar.sync 0 7");
    CHECK(finding({WG_GROUP_04, "message", words}, {}).fix == words.lua);
    CHECK(finding({WG_GROUP_04, "message", words}, {}).fix_in_ptx == words.ptx);
}

TEST_CASE("another value for an option, in both languages") {
    const Change change = set_option(Where::at("k.lua", 4), align_option(), "4", "8");
    CHECK(in_words({change}) == "align = 8 in line 4");
    CHECK(in_words({change}, Dialect::ptx) == ".align 8 in line 4");
    CHECK(text_of(change) == "align = 8");
    CHECK(text_of(change, Dialect::ptx) == ".align 8");
    CHECK(in_words({set_option({}, transpose_option('b'), "0", "1")}, Dialect::ptx) == "imm-trans-b 1 in it");
}

TEST_CASE("what an mbarrier's wording proposes") {
    const Where made = Where::at("k.lua", 7), declared = Where::at("k.lua", 2);
    const RuleMessage one = mbarrier_unpublished("warp 1", "`full`", made, false);
    CHECK(one.text == "nothing tells warp 1 that the mbarrier `full` is initialised");
    CHECK(one.fix.remedies.size() == 4);
    CHECK(mbarrier_unpublished("warp 1", "`full`", made, true).fix.remedies.size() == 6);
    CHECK(mbarrier_unpublished("warp 1", "`full`", {}, true).fix.remedies.empty());

    const RuleMessage misaligned = mbarrier_misaligned("`full` + 4", declared, 4);
    CHECK(misaligned.fix.text == "align = 8 for the buffer, and offsets that are multiples of 8");
    REQUIRE(misaligned.fix.remedies.size() == 1);
    CHECK(in_words(misaligned.fix.remedies[0]) == "align = 8 in line 2");
    CHECK(mbarrier_misaligned("`full` + 4", declared, 16).fix.remedies.empty());
}

TEST_CASE("which wait a register of a running wgmma needs") {
    const Where issued = Where::at("k.lua", 3), here = Where::at("k.lua", 5);
    const auto fix = [&](std::optional<int> younger) {
        return accessed_in_flight(MmaOperand::accumulator, "read", issued, here, younger).fix;
    };
    CHECK(fix(2).text == "k:wgmma_wait_group(2) before line 5");
    CHECK(fix(-1).text == "k:wgmma_commit_group() and k:wgmma_wait_group(0) before line 5");
    CHECK(fix({}).text == "k:wgmma_commit_group() after line 3, k:wgmma_wait_group(0) before line 5");
    CHECK(fix({}).remedies.size() == 2);
    CHECK(resized_the_wrong_way(true, 160, 168).fix.text == "k:setmaxnreg_dec(160)");
}
