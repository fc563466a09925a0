// Release and acquire, strong accesses that meet, and threads that look at memory until it changes.
#include "tests/unit/sim/script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// Thread 0 writes `data` and then a flag by `writes`; thread 32 waits for the flag with `reads`, or for an
/// atomic of its own, and reads `data`.
struct Handoff {
    std::string writes, reads;
    std::string fence_before = {}, fence_after = {};
};

Program handoff(const Handoff& how) {
    Script k(64);
    const Reg tid = k.tid();
    const int buffer = k.buffer("data", 16), flag = k.buffer("flag", 16);
    const Reg place = k.address(flag, k.constant(0), 0);
    k.step(2, "st_shared_u32", {in_buffer(flag), 0}, {k(1, "setp_eq_u32", {tid, 0})});
    k.step(3, "bar_sync", {0});
    k.begin_if(4, k(4, "setp_eq_u32", {tid, 0}));
    k.step(10, "st_shared_u32", {in_buffer(buffer), 7});
    if (!how.fence_before.empty()) k.step(11, how.fence_before);
    k.step(12, how.writes,
           how.writes.starts_with("atom") ? std::vector<Arg>{k.builder.reg(isa::Type::u32), at(place), 1}
                                          : std::vector<Arg>{at(place), 1});
    k.builder.end_if();
    k.begin_if(5, k(5, "setp_eq_u32", {tid, 32}));
    k.builder.begin_loop();
    const Reg seen =
        how.reads.starts_with("atom") ? k(20, how.reads, {at(place), 0}) : k(20, how.reads, {at(place)});
    k.builder.loop_condition(k(20, "setp_ne_u32", {seen, 1}));
    k.builder.end_loop();
    if (!how.fence_after.empty()) k.step(21, how.fence_after);
    k(22, "ld_shared_u32", {in_buffer(buffer)});
    k.builder.end_if();
    return k.finish();
}

}  // namespace

TEST_CASE("a release and an acquire that reads it order what came before and what comes after") {
    for (const Handoff& how :
         {Handoff{"st_release_cta_shared_u32", "ld_acquire_cta_shared_u32"},
          {"st_release_sys_shared_u32", "ld_acquire_gpu_shared_u32"},
          {"red_release_cta_shared_add_u32", "ld_acquire_cta_shared_u32"},
          {"atom_acq_rel_cta_shared_add_u32", "atom_acq_rel_gpu_shared_add_u32"},
          {"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32", "fence_release_cta"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32", "", "fence_acq_rel_cta"},
          {"st_volatile_shared_u32", "ld_volatile_shared_u32", "fence_sc_cta", "fence_sc_gpu"},
          {"atom_shared_exch_b32", "ld_relaxed_gpu_shared_u32", "fence_acq_rel_gpu", "fence_acquire_gpu"}}) {
        INFO(how.writes << ", " << how.reads);
        expect(handoff(how), {});
    }
}

TEST_CASE("without a release, or without an acquire, nothing is ordered but the flag") {
    for (const Handoff& how :
         {Handoff{"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32"},
          {"st_volatile_shared_u32", "ld_volatile_shared_u32"},
          {"red_shared_add_u32", "ld_acquire_cta_shared_u32"},
          {"atom_acquire_cta_shared_add_u32", "atom_acquire_cta_shared_add_u32"},
          {"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32", "fence_acquire_cta"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32", "", "fence_release_cta"}}) {
        INFO(how.writes << ", " << how.reads << ", " << how.fence_before << how.fence_after);
        expect(handoff(how), {{"WG-RACE-01", 22}});
    }
}

TEST_CASE("a flag that nobody sets any more is a deadlock, and named") {
    Script k(64);
    const Reg tid = k.tid();
    const int flag = k.buffer("flag", 16);
    k.step(2, "st_shared_u32", {in_buffer(flag), 0}, {k(1, "setp_eq_u32", {tid, 0})});
    k.step(3, "bar_sync", {0});
    k.begin_if(5, k(5, "setp_eq_u32", {tid, 32}));
    k.builder.begin_loop();
    const Reg seen = k(20, "ld_acquire_cta_shared_u32", {in_buffer(flag)});
    k.builder.loop_condition(k(20, "setp_ne_u32", {seen, 1}));
    k.builder.end_loop();
    k.builder.end_if();
    const Program program = k.finish();
    expect(program, {{"WG-SYNC-06", 20}});
    CHECK(run_with(program, 0).findings.at(0).message ==
          "deadlock: warp 1 waits for memory to change that nobody writes any more");
}

TEST_CASE("a thread that looks a thousand times and then gives up ends") {
    Script k(32);
    const int flag = k.buffer("flag", 16);
    k.step(2, "st_shared_u32", {in_buffer(flag), 0}, {k(1, "setp_eq_u32", {k.tid(), 0})});
    k.step(3, "bar_warp_sync", {-1});
    const Reg i = k.begin_loop(9, 1000);
    k(10, "ld_volatile_shared_u32", {in_buffer(flag)});
    k.end_loop(9, i);
    expect(k.finish(), {});
}

TEST_CASE("a lock that is taken by compare and swap") {
    // Two warps add to a word under a lock.
    Script k(64);
    const Reg lane = k.special("laneid");
    const int lock = k.buffer("lock", 16), word = k.buffer("word", 16);
    k.begin_if(2, k(2, "setp_eq_u32", {k.tid(), 0}));
    k.step(2, "st_shared_u32", {in_buffer(lock), 0});
    k.step(3, "st_shared_u32", {in_buffer(word), 0});
    k.builder.end_if();
    k.step(4, "bar_sync", {0});
    k.begin_if(5, k(5, "setp_eq_u32", {lane, 0}));
    const Reg place = k.address(lock, k.constant(0), 0);
    const auto add = [&](const char* take, const char* give) {
        k.builder.begin_loop();
        const Reg old = k(10, take, {at(place), 0, 1});
        k.builder.loop_condition(k(10, "setp_ne_u32", {old, 0}));
        k.builder.end_loop();
        k.step(12, "st_shared_u32", {in_buffer(word), k(11, "ld_shared_u32", {in_buffer(word)})});
        k.step(13, give, {at(place), 0});
        k.builder.end_if();
        return k.finish();
    };
    SECTION("with orders") {
        expect(add("atom_cas_acquire_cta_shared_b32", "st_release_cta_shared_u32"), {});
    }
    SECTION("without") {
        expect(add("atom_cas_relaxed_cta_shared_b32", "st_relaxed_cta_shared_u32"),
               {{"WG-RACE-01", 11}, {"WG-RACE-01", 12}});
    }
}
