// Lanes against a model in which every thread has its own set of events that it knows: whatever the clocks
// call a race is one, and merging sets of lanes makes them miss few.
#include <bitset>
#include <random>
#include <vector>

#include "sim/clocks.hpp"
#include "sim/shadow.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int warps = 2, lanes = 4, places = 3, words = 2, events = 120;
constexpr isa::Mask all = (1U << lanes) - 1;
using Events = std::bitset<events>;

struct Sink : HazardSink {
    bool weak(std::uint32_t) const override { return true; }
    void hazard(Hazard hazard, std::uint32_t, Epoch other) override { found.emplace_back(hazard, other); }
    std::vector<std::pair<Hazard, Epoch>> found;
};

/// A thread is warp * lanes + lane.
struct Model {
    struct Event {
        int thread = -1;
        std::uint32_t word = 0;
        bool write = false;
    };
    std::vector<Event> log{events};
    Events known[warps * lanes], left[places];

    /// Returns whether the access races with an earlier write (or, if `reads`, read) of the same word.
    bool races(int thread, std::uint32_t word, bool reads) const {
        for (int e = 0; e < events; ++e)
            if (log[e].thread >= 0 && log[e].thread != thread && log[e].word == word &&
                log[e].write != reads && !known[thread][e])
                return true;
        return false;
    }
    template <class F>
    static void for_each(int warp, isa::Mask some, F f) {
        for (int l = 0; l < lanes; ++l)
            if (some >> l & 1U) f(warp * lanes + l);
    }
    void release(int warp, isa::Mask some, int place) {
        for_each(warp, some, [&](int t) { left[place] |= known[t]; });
    }
    void acquire(int warp, isa::Mask some, int place) {
        for_each(warp, some, [&](int t) { known[t] |= left[place]; });
    }
    void meet(int warp, isa::Mask some) {
        Events together;
        for_each(warp, some, [&](int t) { together |= known[t]; });
        for_each(warp, some, [&](int t) { known[t] = together; });
    }
};

struct Count {
    int found = 0, missed = 0, clean = 0;
};

/// Checks one history of accesses and meetings. `single`: a set of lanes is one lane, or all.
void play(unsigned trial, bool single, Count& count) {
    std::mt19937 random(trial);
    const auto draw = [&](unsigned below) { return static_cast<unsigned>(random()) % below; };
    Sink sink;
    Shadow shadow({warps, 0, warps}, 4 * words, sink);
    Clocks clocks(warps);
    for (int p = 0; p < places; ++p) clocks.add_place();
    Model model;
    bool racy[words]{};  // what comes after a race is not compared
    for (int event = 0; event < events; ++event) {
        const int warp = static_cast<int>(draw(warps)), place = static_cast<int>(draw(places));
        isa::Mask some = single ? 1U << draw(lanes) : 1 + draw(all);
        if (draw(3) == 0) some = all;
        switch (draw(7)) {
            case 0:
                clocks.release(warp, warps + place, {some, all});
                model.release(warp, some, place);
                break;
            case 1:
            case 2:
                clocks.acquire(warp, warps + place, {some, all});
                model.acquire(warp, some, place);
                break;
            case 3:
                clocks.meet(warp, {some, all});
                model.meet(warp, some);
                break;
            default: {
                const int lane = static_cast<int>(draw(lanes)), thread = warp * lanes + lane;
                const std::uint32_t word = draw(words);
                const bool write = draw(2) == 0;
                const Actor actor{clocks.of(warp, lane), warp, static_cast<std::uint32_t>(event),
                                  clocks.now(warp)};
                sink.found.clear();
                if (write)
                    shadow.store(actor, lane, 4 * word, 4);
                else
                    shadow.load(actor, lane, 4 * word, 4);
                bool found = false;
                for (const auto& [hazard, other] : sink.found) {
                    if (hazard == Hazard::uninitialised) continue;
                    found = true;
                    INFO("trial " << trial << ", event " << event);
                    REQUIRE(model.races(thread, word, hazard == Hazard::write_after_read));
                }
                const bool races =
                    model.races(thread, word, false) || (write && model.races(thread, word, true));
                if (!racy[word]) {
                    count.found += races && found;
                    count.missed += races && !found;
                    count.clean += !races;
                }
                racy[word] |= races;
                model.log[event] = {thread, word, write};
                model.known[thread].set(event);
            }
        }
    }
}

}  // namespace

TEST_CASE("what the clocks call a race of lanes is one, and few are missed") {
    for (const bool single : {true, false}) {
        Count count;
        for (unsigned trial = 0; trial < 4000; ++trial) play(trial, single, count);
        INFO(single << ": " << count.found << " found, " << count.missed << " missed, " << count.clean
                    << " clean");
        CHECK(count.clean > 1000);
        CHECK(count.found > 1000);
        CHECK(count.missed * 80 < count.found);
    }
}
