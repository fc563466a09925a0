// The accesses of a launch's clusters to one place in global memory, merged.
#include "sim/global_shadow.hpp"

#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

enum Access { writes, reads };

constexpr std::uint64_t line = 0x1000;

/// A cluster whose thread 3 accesses bytes (a bit each) of the first words of a line, at step `pc`.
GlobalTrace trace(Access access, unsigned bytes, std::uint32_t pc, std::uint32_t value = 0,
                  std::uint32_t words = 1) {
    GlobalTrace out;
    out.add(line, [&](std::uint32_t i) {
        GlobalWord word{0, {}, 0};
        if (i >= words) return word;
        word.value = value;
        (access == writes ? word.last.written : word.last.read) = bytes;
        (access == writes ? word.last.write : word.last.reader) = Epoch(1, pc, 0, 3);
        return word;
    });
    return out;
}

}  // namespace

TEST_CASE("clusters conflict where they access the same byte and one writes") {
    for (const Access first : {writes, reads})
        for (const Access second : {writes, reads})
            for (const unsigned bytes : {0b0011U, 0b1100U, 0b0110U}) {
                LaunchShadow shadow;
                CHECK(shadow.add(0, trace(first, 0b0011, 5, 1)).empty());
                const auto conflicts = shadow.add(1, trace(second, bytes, 6, 0x02020202));
                const bool expected = (bytes & 0b0011) != 0 && (first == writes || second == writes);
                REQUIRE(conflicts.size() == (expected ? 1 : 0));
                if (!expected) continue;
                // A read is named first, whichever cluster did it; of two writes, the later one.
                const auto& [wrong, address, access, other] = conflicts[0];
                const bool first_reads = first == reads;
                CHECK(wrong == Wrong::unordered);
                CHECK(address == (bytes == 0b0110 ? 0x1001 : 0x1000));
                CHECK(access.writes == (first == writes && second == writes));
                CHECK(other.writes);
                CHECK(access.cluster == (first_reads ? 0 : 1));
                CHECK(other.cluster == (first_reads ? 1 : 0));
                CHECK(access.by.pc() == (first_reads ? 5 : 6));
                CHECK(other.by.pc() == (first_reads ? 6 : 5));
                CHECK(other.by.thread() == 3);
            }
}

TEST_CASE("clusters that write the same constant do not conflict, nor those that do all the same") {
    for (const bool fixed : {true, false})
        for (const bool alike : {true, false})
            for (const std::uint32_t value : {0x0707U, 0x0807U}) {
                LaunchShadow shadow;
                const auto add = [&](std::uint64_t cluster, unsigned bytes, std::uint32_t of) {
                    GlobalTrace one = trace(writes, bytes, 5, of);
                    if (fixed) one.fixed = {5};
                    one.alike = alike;
                    return shadow.add(cluster, std::move(one)).size();
                };
                CHECK(add(0, 0b0001, 0x0507) == 0);
                CHECK(add(1, 0b0010, 0x0706) == 0);
                CHECK(add(2, 0b0011, value) == (value == 0x0707 && (fixed || alike) ? 0 : 1));
            }
}

TEST_CASE("atomics do not conflict with each other, and order clusters where they acquire and release") {
    for (const bool other_combines : {true, false}) {
        LaunchShadow shadow;
        GlobalTrace one = trace(writes, 15, 5, 1), two = trace(writes, 15, 6, 2);
        one.strong = {{5, 4}};
        if (other_combines) two.strong = {{6, 4}};
        CHECK(shadow.add(0, one).empty());
        CHECK(shadow.add(1, two).size() == (other_combines ? 0 : 1));
        // A reducing copy goes through another proxy.
        GlobalTrace three = trace(writes, 15, 7, 3);
        three.reductions = {7};
        CHECK_FALSE(shadow.add(2, three).empty());
    }
    // Released at clock 1, when the write was made, or before it; by the cluster that wrote, or another one;
    // learned before the read at clock 1, or after it.
    const Snapshot after{{1}, {{}}}, before{{0}, {{}}};
    for (const std::uint64_t cluster : {0U, 2U})
        for (const Snapshot& released : {after, before})
            for (const std::uint32_t clock : {1U, 2U}) {
                LaunchShadow shadow;
                GlobalTrace one = trace(writes, 15, 5, 1), two = trace(reads, 15, 6);
                ClusterKnowledge known;
                known.add(cluster, 0x2000, {1, std::make_shared<const Snapshot>(released)});
                Learned learned;
                learned.add(known, 0, std::make_shared<const std::vector<std::uint32_t>>(1, clock), {});
                two.learned = std::make_shared<const Learned>(learned);
                CHECK(shadow.add(0, one).empty());
                const bool in_order = cluster == 0 && released.seen[0] == 1 && clock == 1;
                CHECK(shadow.add(1, two).size() == (in_order ? 0 : 1));
            }
}

TEST_CASE("each pair of steps is said once") {
    LaunchShadow shadow;
    CHECK(shadow.add(0, trace(writes, 15, 5, 1, 2)).empty());
    CHECK(shadow.add(1, trace(reads, 15, 6, 0, 2)).size() == 1);
}

TEST_CASE("a third cluster conflicts with each of two that shared a line in peace") {
    LaunchShadow shadow;
    CHECK(shadow.add(0, trace(writes, 0b0001, 5, 1)).empty());
    CHECK(shadow.add(1, trace(reads, 0b0010, 6)).empty());
    CHECK(shadow.add(2, trace(writes, 0b0011, 7, 2)).size() == 2);
}
