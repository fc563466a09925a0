// The vector clocks keep the protocol of machine/proxies.hpp: random accesses, fences and hand-overs of
// warps, beside a table of what each of the warps sees.
#include "machine/proxies.hpp"

#include <optional>
#include <random>
#include <vector>

#include "sim/clocks.hpp"
#include "sim/shadow.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::sim;
using machine::Visible;

namespace {

constexpr int warps = 4, places = 2;
constexpr std::uint32_t accesses = 24, apart = 16;  // bytes
constexpr isa::Mask all = UINT32_MAX;

struct Sink : HazardSink {
    bool weak(std::uint32_t) const override { return true; }
    void hazard(Hazard found, std::uint32_t, Epoch) override { last = found; }
    std::optional<Hazard> last;
};

/// What the shadow finds where a bulk copy reads a written word.
std::optional<Hazard> expected(Visible written) {
    switch (written) {
        case Visible::not_yet: return Hazard::async_after_write;
        case Visible::to_generic: return Hazard::missing_proxy_fence;
        default: return std::nullopt;
    }
}

}  // namespace

TEST_CASE("what a bulk copy finds is what its warp sees") {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        Clocks clocks(warps);
        Sink sink;
        Shadow shadow({warps, 0, warps}, accesses * apart, sink);
        int place[places];
        for (int& one : place) one = clocks.add_place();
        const int engine = clocks.add_actor();
        // By access, of warps and then of places.
        std::vector<std::vector<Visible>> seen;
        for (std::uint32_t event = 1; seen.size() < accesses; ++event) {
            const auto warp = static_cast<int>(random() % warps);
            const auto where = random() % places;
            const auto by_warp = static_cast<std::size_t>(warp), by_place = warps + where;
            const auto now = [&] { return Actor{clocks.of(warp), warp, event, clocks.now(warp)}; };
            switch (random() % 4) {
                case 0: {
                    const auto offset = static_cast<std::uint32_t>(seen.size()) * apart;
                    for (std::uint32_t word = 0; word < apart; word += 4)
                        shadow.store(now(), 0, offset + word, 4);
                    seen.emplace_back(warps + places, Visible::not_yet);
                    seen.back()[by_warp] = Visible::to_generic;
                    break;
                }
                case 1:
                    clocks.proxy_fence(warp, {all, all}, machine::ProxyFence(isa::Space::shared_cta));
                    for (auto& access : seen) access[by_warp] = machine::fenced(access[by_warp]);
                    break;
                case 2:
                    clocks.release(warp, place[where], {all, all});
                    for (auto& access : seen)
                        access[by_place] = machine::handed_over(access[by_warp], access[by_place]);
                    break;
                default:
                    clocks.acquire(warp, place[where], {all, all});
                    for (auto& access : seen)
                        access[by_warp] = machine::handed_over(access[by_place], access[by_warp]);
            }
            if (seen.empty()) continue;
            const std::size_t one = random() % seen.size();
            sink.last.reset();
            shadow.copy_out(now(), Epoch(event, event, engine, 0), static_cast<std::uint32_t>(one) * apart,
                            apart);
            REQUIRE(sink.last == expected(seen[one][by_warp]));
        }
    }
}
