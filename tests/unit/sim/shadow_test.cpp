// The shadow and the clocks against a plain model: sets of events that each warp knows, for each byte.
#include "sim/shadow.hpp"

#include <algorithm>
#include <bitset>
#include <map>
#include <random>
#include <set>

#include "sim/clocks.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int warps = 8, groups = 2, engines = 2, memory_bytes = 64;
constexpr std::uint32_t events = 600;
using Events = std::bitset<events>;

/// (what, earlier event); the event is 0 where there is none.
using Found = std::set<std::pair<Hazard, std::uint32_t>>;

/// What the shadow reports for one access.
struct Sink : HazardSink {
    bool weak(std::uint32_t) const override { return true; }
    void hazard(Hazard hazard, std::uint32_t, Epoch other) override { found.emplace(hazard, other.pc()); }
    Found found;
};

/// The same machine without clocks: every access is an event, every warp has the set of events before it.
struct Model {
    struct Event {
        int warp = 0, lane = 0;
        bool generic = false, copy = false;
    };
    struct Byte {
        std::uint32_t written = 0;          ///< event, 0: never
        std::map<int, std::uint32_t> read;  ///< events since, by warp: one that knows them all stands for all
        bool racy = false;                  ///< what comes after a race is not compared
    };

    Events known[warps], published[warps];
    Events met[warps];                      ///< of the warp's own lanes, before all of them met
    std::map<int, Events> finished[warps];  ///< by warp: the wgmma that it is known to have waited for
    std::vector<Event> log{events};
    Byte bytes[memory_bytes];
    /// The last wgmma for each warp: earlier ones finish first.
    std::uint32_t mma_read[memory_bytes / 16][warps]{};
    /// The last bulk copy that reads it.
    std::uint32_t copy_read[memory_bytes / 16]{};

    void begin(std::uint32_t event, int warp, int lane) {
        log[event] = {warp, lane, true, false};
        known[warp].set(event);
    }
    bool is_published(int warp, std::uint32_t event) const {
        return log[event].copy ? known[warp][event] : published[warp][event];
    }
    /// What a write to a unit finds in the async proxy.
    Found in_flight(int warp, std::uint32_t unit) const {
        Found out;
        for (int w = 0; w < warps; ++w) {
            const std::uint32_t mma = mma_read[unit][w];
            const auto of = finished[warp].find(w);
            if (mma != 0 && (of == finished[warp].end() || !of->second[mma]))
                out.emplace(Hazard::write_under_mma, mma);
        }
        if (const std::uint32_t copy = copy_read[unit]; copy != 0 && !known[warp][copy])
            out.emplace(Hazard::write_under_copy, copy);
        return out;
    }
    Found access(std::uint32_t event, int warp, int lane, bool write, std::uint32_t offset, int size) {
        begin(event, warp, lane);
        Found out;
        for (std::uint32_t b = offset; b < offset + static_cast<std::uint32_t>(size); ++b) {
            Byte& byte = bytes[b];
            Found here;
            if (byte.written != 0 && !known[warp][byte.written])
                here.emplace(write ? Hazard::write_after_write : Hazard::read_after_write, byte.written);
            if (write) {
                for (const auto& [by, r] : byte.read)
                    if (!known[warp][r]) here.emplace(Hazard::write_after_read, r);
                byte.written = event;
                byte.read.clear();
            } else {
                if (std::ranges::all_of(byte.read, [&](const auto& r) { return known[warp][r.second]; }))
                    byte.read.clear();
                byte.read[warp] = event;
            }
            byte.racy |= !here.empty();
            if (!write && byte.written == 0) here.emplace(Hazard::uninitialised, 0);
            out.merge(here);
        }
        if (write) out.merge(in_flight(warp, offset / 16));
        return out;
    }
    Found mma(std::uint32_t event, int group, unsigned members, std::uint32_t unit) {
        Found out;
        for (std::uint32_t b = unit * 16; b < unit * 16 + 16; ++b) {
            const std::uint32_t w = bytes[b].written;
            bool raced = false, unpublished = false;
            if (w == 0) out.emplace(Hazard::uninitialised, 0);
            for (int i = 0; i < 4 && w != 0; ++i) {
                if ((members >> i & 1U) == 0 || is_published(4 * group + i, w)) continue;
                unpublished = true;
                raced |= !known[4 * group + i][w];
            }
            if (unpublished) out.emplace(raced ? Hazard::async_after_write : Hazard::missing_proxy_fence, w);
        }
        for (int i = 0; i < 4; ++i)
            if (members >> i & 1U) mma_read[unit][4 * group + i] = event;
        return out;
    }
    /// No thread knows the copy to be past, not even the one that issues it.
    Found copy_in(std::uint32_t event, int warp, std::uint32_t unit) {
        log[event].copy = true;
        Found out = in_flight(warp, unit);
        for (std::uint32_t b = unit * 16; b < unit * 16 + 16; ++b) {
            Byte& byte = bytes[b];
            Found here;
            if (byte.written != 0 && !known[warp][byte.written])
                here.emplace(Hazard::write_after_write, byte.written);
            else if (byte.written != 0 && !is_published(warp, byte.written))
                out.emplace(Hazard::unfenced_overwrite, byte.written);
            for (const auto& [by, r] : byte.read) {
                if (!known[warp][r])
                    here.emplace(Hazard::write_after_read, r);
                else if (!is_published(warp, r))
                    out.emplace(Hazard::unfenced_read, r);
            }
            byte.racy |= !here.empty();
            byte.written = event;
            byte.read.clear();
            out.merge(here);
        }
        return out;
    }
    Found copy_out(std::uint32_t event, int warp, std::uint32_t unit) {
        log[event].copy = true;
        Found out;
        for (std::uint32_t b = unit * 16; b < unit * 16 + 16; ++b) {
            const std::uint32_t w = bytes[b].written;
            if (w == 0)
                out.emplace(Hazard::uninitialised, 0);
            else if (!known[warp][w])
                out.emplace(Hazard::async_after_write, w);
            else if (!is_published(warp, w))
                out.emplace(Hazard::missing_proxy_fence, w);
        }
        copy_read[unit] = event;
        return out;
    }
    void fence(int warp, isa::Mask lanes, bool whole) {
        for (std::uint32_t e = 1; e < events; ++e)
            if (log[e].generic && known[warp][e] &&
                (whole || log[e].warp != warp || (lanes >> log[e].lane & 1U) || met[warp][e]))
                published[warp].set(e);
    }
    void join(std::uint32_t members, bool together) {
        Events k, p;
        std::map<int, Events> f;
        for (int w = 0; w < warps; ++w) {
            if ((members >> w & 1U) == 0) continue;
            // Lane 0 alone speaks for what it did, and for what the lanes did before they met.
            Events told = known[w];
            for (std::uint32_t e = 1; e < events && !together; ++e)
                if (log[e].generic && log[e].warp == w && log[e].lane != 0 && !met[w][e]) told.reset(e);
            k |= told;
            p |= published[w] & told;
            for (const auto& [of, mmas] : finished[w]) f[of] |= mmas;
        }
        for (int w = 0; w < warps; ++w) {
            if ((members >> w & 1U) == 0) continue;
            known[w] |= k, published[w] |= p, finished[w] = f;
            for (std::uint32_t e = 1; e < events; ++e)
                if (log[e].warp == w && k[e]) met[w].set(e);
        }
    }
    bool racy(std::uint32_t offset, int size) const {
        for (int b = 0; b < size; ++b)
            if (bytes[offset + static_cast<std::uint32_t>(b)].racy) return true;
        return false;
    }
};

Actor actor_of(const Clocks& clocks, int warp, std::uint32_t pc) {
    KnownClocks known = clocks.of(warp, 0);
    known.met = UINT32_MAX;  // what lanes of one warp do to each other is not compared
    return {known, warp, pc, clocks.now(warp)};
}

constexpr Lanes whole{UINT32_MAX, UINT32_MAX};

/// A place where the warps whose bits are set meet: all of them wait. together: all their lanes release,
/// instead of lane 0 alone.
void join(Clocks& clocks, std::uint32_t members, bool together) {
    const int place = warps;
    for (int w = 0; w < warps; ++w)
        if (members >> w & 1U) clocks.release(w, place, together ? whole : Lanes{1, UINT32_MAX});
    for (int w = 0; w < warps; ++w)
        if (members >> w & 1U) clocks.acquire(w, place, whole);
    clocks.clear(place);
}

/// The shadow remembers only the last of several reads by one warp, and only the last of readers that knew
/// each other; so only the existence of a read is compared.
Found comparable(const Found& found) {
    Found out;
    for (auto [hazard, event] : found) {
        const bool of_reads = hazard == Hazard::write_after_read || hazard == Hazard::unfenced_read;
        out.emplace(hazard, of_reads ? 0 : event);
    }
    return out;
}

}  // namespace

TEST_CASE("the shadow finds what a model of event sets finds") {
    std::map<Hazard, int> seen;
    int clean = 0;
    Sink sink;
    Shadow shadow({warps, 0, warps}, memory_bytes, sink);  // of one CTA after the other
    for (unsigned trial = 0; trial < 2000; ++trial) {
        std::mt19937 random(trial);
        const auto draw = [&](unsigned below) { return static_cast<unsigned>(random()) % below; };
        shadow.reset();
        Clocks clocks(warps);
        clocks.add_place();
        Model model;
        std::uint32_t serial[groups]{};
        std::vector<std::uint32_t> mma_events[groups], copy_events[engines];
        for (int e = 0; e < engines; ++e) clocks.add_actor();
        for (std::uint32_t event = 1; event < 200; ++event) {
            const int warp = static_cast<int>(draw(warps));
            switch (draw(11)) {
                case 0:
                case 1:
                case 2: {
                    const bool write = draw(2) == 0;
                    const int lane = static_cast<int>(draw(4)), size = 1 << draw(5);
                    const auto offset = static_cast<std::uint32_t>(
                        draw(static_cast<unsigned>(memory_bytes / size)) * static_cast<unsigned>(size));
                    const bool compare = !model.racy(offset, size);
                    const Actor actor = actor_of(clocks, warp, event);
                    sink.found.clear();
                    if (write)
                        shadow.store(actor, lane, offset, size);
                    else
                        shadow.load(actor, lane, offset, size);
                    const Found want = model.access(event, warp, lane, write, offset, size);
                    if (!compare) break;
                    REQUIRE(comparable(sink.found) == comparable(want));
                    clean += want.empty();
                    for (const auto& [hazard, other] : want) ++seen[hazard];
                    break;
                }
                case 3: {
                    const int group = warp / 4;
                    const unsigned members = draw(2) == 0 ? 15 : 1U << draw(4);
                    const std::uint32_t unit = draw(memory_bytes / 16);
                    const bool compare = !model.racy(unit * 16, 16);
                    mma_events[group].push_back(event);
                    sink.found.clear();
                    shadow.async_read({4 * group, event, ++serial[group]}, members, clocks, unit * 16, 16);
                    const Found want = model.mma(event, group, members, unit);
                    if (!compare) break;
                    REQUIRE(sink.found == want);
                    clean += want.empty();
                    for (const auto& [hazard, other] : want) ++seen[hazard];
                    break;
                }
                case 4: {
                    // Lane 0, which does all that follows, is among them: the fences of others are theirs.
                    const isa::Mask lanes = draw(2) == 0 ? UINT32_MAX : draw(16) | 1U;
                    clocks.proxy_fence(warp, {lanes, UINT32_MAX}, machine::ProxyFence({}));
                    model.fence(warp, lanes, lanes == UINT32_MAX);
                    break;
                }
                case 5: {  // waits for all wgmma of its group but the last few
                    const int group = warp / 4;
                    const std::uint32_t upto = serial[group] - std::min(serial[group], draw(3));
                    clocks.finish(warp, 4 * group, upto);
                    for (std::uint32_t i = 0; i < upto; ++i)
                        for (int of = 4 * group; of < 4 * group + 4; ++of)
                            model.finished[warp][of].set(mma_events[group][i]);
                    break;
                }
                case 6:
                case 7: {  // a bulk copy
                    const unsigned engine = draw(engines), in = draw(2);
                    const std::uint32_t unit = draw(memory_bytes / 16);
                    const bool compare = !model.racy(unit * 16, 16);
                    copy_events[engine].push_back(event);
                    const Epoch copy(static_cast<std::uint32_t>(copy_events[engine].size()), event,
                                     warps + static_cast<int>(engine), 0);
                    const Actor issuer = actor_of(clocks, warp, 0);
                    sink.found.clear();
                    if (in != 0)
                        shadow.copy_in(issuer, copy, unit * 16, 16);
                    else
                        shadow.copy_out(issuer, copy, unit * 16, 16);
                    const Found want =
                        in != 0 ? model.copy_in(event, warp, unit) : model.copy_out(event, warp, unit);
                    if (!compare) break;
                    REQUIRE(comparable(sink.found) == comparable(want));
                    clean += want.empty();
                    for (const auto& [hazard, other] : want) ++seen[hazard];
                    break;
                }
                case 8: {  // waits for all copies of an engine but the last few
                    const unsigned engine = draw(engines);
                    const auto issued = static_cast<std::uint32_t>(copy_events[engine].size());
                    const std::uint32_t upto = issued - std::min(issued, draw(2));
                    clocks.learn(warp, whole, warps + static_cast<int>(engine), upto);
                    for (std::uint32_t i = 0; i < upto; ++i) model.known[warp].set(copy_events[engine][i]);
                    break;
                }
                default: {
                    const std::uint32_t members = draw(3) == 0 ? 255 : draw(256);
                    const bool together = draw(2) == 0;
                    join(clocks, members, together);
                    model.join(members, together);
                }
            }
        }
    }
    // The trials were not all of one kind.
    CHECK(clean > 1000);
    for (Hazard hazard : {Hazard::write_after_write, Hazard::write_after_read, Hazard::read_after_write,
                          Hazard::write_under_mma, Hazard::write_under_copy, Hazard::async_after_write,
                          Hazard::missing_proxy_fence, Hazard::unfenced_overwrite, Hazard::unfenced_read,
                          Hazard::uninitialised}) {
        INFO(static_cast<int>(hazard));
        CHECK(seen[hazard] > 100);
    }
}

TEST_CASE("store says when another lane of the step wrote the same bytes, and only then") {
    Sink sink;
    Shadow shadow({1, 0, 1}, 64, sink);
    Clocks clocks(1);
    const Actor actor = actor_of(clocks, 0, 7);
    CHECK_FALSE(shadow.store(actor, 0, 0, 4));
    CHECK_FALSE(shadow.store(actor, 1, 4, 4));
    CHECK(shadow.store(actor, 1, 0, 4));
    CHECK_FALSE(shadow.store(actor, 2, 8, 2));
    CHECK_FALSE(shadow.store(actor, 3, 10, 2));
    CHECK(shadow.store(actor, 4, 10, 1));
    const Actor next = actor_of(clocks, 0, 8);
    CHECK_FALSE(shadow.store(next, 5, 0, 16));
    CHECK(sink.found.empty());
}

TEST_CASE("a shadow forgets when it is reset") {
    Sink sink;
    Shadow shadow({2, 0, 2}, 16, sink);
    Clocks clocks(2);
    shadow.store(actor_of(clocks, 0, 1), 0, 0, 2);
    shadow.reset();
    shadow.store(actor_of(clocks, 1, 2), 0, 0, 16);
    CHECK(sink.found.empty());
}

TEST_CASE("a shadow counts more wgmma than 32 bits") {
    Sink sink;
    Shadow shadow({4, 0, 4}, 16, sink);
    for (int cta = 0; cta < 8; ++cta) {
        Clocks clocks(4);
        shadow.reset();
        shadow.store(actor_of(clocks, 0, 1), 0, 0, 16);
        CHECK(sink.found.empty());
        // Nobody has waited for it, nor for any before it.
        shadow.async_read({0, 2, (1U << 31) - 1}, 1, clocks, 0, 16);
        sink.found.clear();  // the write was not published
        shadow.store(actor_of(clocks, 0, 3), 0, 0, 16);
        CHECK(sink.found == Found{{Hazard::write_under_mma, 2}});
        sink.found.clear();
    }
}
