// Random kernels of the asynchronous machine: whatever they do wrong, the run ends and can be repeated.
#include <random>

#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// A kernel of `count` random steps, most of them wrong. Loops end: each is left after a few rounds.
Program random_kernel(std::mt19937& random, const Mapped& x, int count) {
    const auto draw = [&](unsigned below) { return static_cast<int>(random() % below); };
    const bool clustered = draw(2) == 0;
    AsyncScript k(32 * (1 + draw(4)), clustered ? Dim3{2, 1, 1} : Dim3{});
    const Reg map = k.map(x);
    const int tile = k.buffer("tile", 1024), bars = k.mbarriers("bars", 4);
    const Reg lane = k.special("laneid"), rank = k.special("cluster_ctarank");
    const Reg leads = k(1, "setp_eq_u32", {lane, 0});
    const auto bar = [&]() -> Arg {
        const std::int64_t offset = draw(12) == 0 ? draw(48) : 8 * draw(4);
        if (draw(4) != 0) return in_buffer(bars, offset);
        return at(k(2, "mapa_u32", {k.in(bars, offset), draw(3)}));
    };
    const auto place = [&]() -> Arg {
        const std::int64_t offset = draw(8) == 0 ? 16 * draw(70) : 128 * draw(8);
        if (draw(24) == 0) return in_buffer(bars, 4 * draw(8));
        if (draw(5) != 0) return in_buffer(tile, offset);
        return at(k(2, "mapa_u32", {k.in(tile, offset), draw(2)}));
    };
    const auto guard = [&]() -> Guard {
        switch (draw(4)) {
            case 0: return {};
            case 1: return {leads};
            case 2: return {k(2, "setp_eq_u32", {rank, draw(2)})};
            default: return {k.first};
        }
    };
    if (draw(3) != 0) k.init(2, bars, {1, 2, 32, 1});
    if (clustered && draw(3) != 0) {
        k.step(5, "barrier_cluster_arrive");
        k.step(5, "barrier_cluster_wait");
    }
    for (int line = 10; line < 10 + count; ++line) switch (draw(20)) {
            case 0:
                k.step(line, "mbarrier_init", {in_buffer(bars, 8 * draw(4)), 1 + draw(40)}, guard());
                break;
            case 1: k.step(line, "mbarrier_inval", {bar()}, guard()); break;
            case 2:
            case 3: k.step(line, "mbarrier_arrive", {bar(), 1 + draw(3)}, guard()); break;
            case 4: k.step(line, "mbarrier_arrive_expect_tx", {bar(), 1 + draw(1024)}, guard()); break;
            case 5: k.step(line, "mbarrier_expect_tx", {bar(), (1 << 20) - 1 - draw(4)}, guard()); break;
            case 6: k(line, "mbarrier_try_wait_parity", {bar(), draw(2)}, guard()); break;
            case 7: k.step(line, "fence_mbarrier_init", {}, guard()); break;
            case 8: k.step(line, "fence_proxy_async", {}, guard()); break;
            case 9:
            case 10: k.load(line, place(), map, {draw(80) - 8, draw(20) - 4}, bar(), guard()); break;
            case 11: k.store(line, map, {draw(80) - 8, draw(20) - 4}, place(), guard()); break;
            case 12: k.step(line, "cp_async_bulk_commit_group", {}, guard()); break;
            case 13: k.step(line, "cp_async_bulk_wait_group", {draw(2)}, guard()); break;
            case 14: k.step(line, "st_shared_u32", {place(), lane}, guard()); break;
            case 15: k(line, "ld_shared_u32", {place()}, guard()); break;
            case 17: k.wait(line, bar(), draw(2)); break;
            case 18:
                k.step(line, "cp_async_bulk_tensor_2d",
                       {place(), map, k.coordinates({draw(64), draw(16)}), bar(), 1 + draw(4)}, guard());
                break;
            case 16: k.step(line, "bar_arrive", {1 + draw(2), 32 * (1 + draw(4))}); break;
            default:
                if (draw(2) == 0)
                    k.step(line, "bar_sync", {draw(3)});
                else
                    k.step(line, draw(2) == 0 ? "barrier_cluster_arrive" : "barrier_cluster_wait");
        }
    return k.finish();
}

}  // namespace

TEST_CASE("random kernels end, and give the same findings again") {
    Mapped x = mapped({64, 16}, {Dtype::f32, {16, 4}});
    std::mt19937 random(11);
    std::set<std::string> rules;
    for (int trial = 0; trial < 300; ++trial) {
        const Program program = random_kernel(random, x, 4 + trial % 24);
        const auto seed = static_cast<std::uint64_t>(trial);
        const Outcome once = run_mapped(program, {&x}, seed, {2}),
                      again = run_mapped(program, {&x}, seed, {2});
        CHECK(text_of(once) == text_of(again));
        for (const Diagnostic& finding : once.findings) rules.insert(finding.rule);
        // Without race detection some findings are missing, and nothing else changes.
        run_mapped(program, {&x}, seed, {2}, false);
    }
    // The runs covered everything.
    for (const char* rule : {"WG-MBAR-01", "WG-MBAR-02", "WG-MBAR-03", "WG-MBAR-04", "WG-MBAR-05",
                             "WG-TMA-01", "WG-TMA-02", "WG-TMA-03", "WG-RACE-01", "WG-RACE-03", "WG-PROXY-01",
                             "WG-SYNC-02", "WG-SYNC-04", "WG-SYNC-05", "WG-MEM-03", "WG-MEM-04"}) {
        INFO(rule);
        CHECK(rules.count(rule) == 1);
    }
}
