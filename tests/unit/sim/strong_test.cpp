// Release and acquire, strong accesses to the same memory, and threads that poll memory until it changes.
#include "tests/unit/sim/script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// Thread 0 writes `data` and then a flag by `writes`; thread 32 waits for the flag with `reads`, or for an
/// atomic of its own, and reads `data`.
struct ReleaseAcquire {
    std::string writes, reads;
    std::string fence_before = {}, fence_after = {};
};

Program release_acquire(const ReleaseAcquire& how) {
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
    for (const ReleaseAcquire& how :
         {ReleaseAcquire{"st_release_cta_shared_u32", "ld_acquire_cta_shared_u32"},
          {"st_release_sys_shared_u32", "ld_acquire_gpu_shared_u32"},
          {"red_release_cta_shared_add_u32", "ld_acquire_cta_shared_u32"},
          {"atom_acq_rel_cta_shared_add_u32", "atom_acq_rel_gpu_shared_add_u32"},
          {"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32", "fence_release_cta"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32", "", "fence_acq_rel_cta"},
          {"st_volatile_shared_u32", "ld_volatile_shared_u32", "fence_sc_cta", "fence_sc_gpu"},
          {"atom_shared_exch_b32", "ld_relaxed_gpu_shared_u32", "fence_acq_rel_gpu", "fence_acquire_gpu"}}) {
        INFO(how.writes << ", " << how.reads);
        expect(release_acquire(how), {});
    }
}

TEST_CASE("without a release, or without an acquire, nothing is ordered but the flag") {
    for (const ReleaseAcquire& how :
         {ReleaseAcquire{"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32"},
          {"st_volatile_shared_u32", "ld_volatile_shared_u32"},
          {"red_shared_add_u32", "ld_acquire_cta_shared_u32"},
          {"atom_acquire_cta_shared_add_u32", "atom_acquire_cta_shared_add_u32"},
          {"st_relaxed_cta_shared_u32", "ld_acquire_cta_shared_u32", "fence_acquire_cta"},
          {"st_release_cta_shared_u32", "ld_relaxed_cta_shared_u32", "", "fence_release_cta"}}) {
        INFO(how.writes << ", " << how.reads << ", " << how.fence_before << how.fence_after);
        expect(release_acquire(how), {{"WG-RACE-01", 22}});
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
          "the kernel hangs: warp 1 waits for memory to change that nobody writes any more");
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

namespace {

/// Cluster i waits until cluster i + 1 has set its flag, adds 1 to what that cluster has left, and sets its
/// own flag. The last cluster begins. first_flag: the value that it sets.
struct Chain {
    explicit Chain(int clusters, int first_flag = 1, std::int64_t shared = 16) : script(32), count(clusters) {
        Builder& b = script.builder;
        const Reg values = param("values"), flags = param("flags");
        script.buffer("room", shared);
        const Reg cta = script.special("ctaid.x");
        const auto place = [&](Reg start, int offset) {
            return at(script(2, "mad_wide_u32", {cta, 4, start}), 4 * offset);
        };
        const Reg last = script(2, "setp_eq_u32", {cta, clusters - 1});
        script.begin_if(3, script(3, "setp_eq_u32", {script.tid(), 0}));
        const Reg value = script.constant(0), flag = script.constant(first_flag);
        script.begin_if(4, last, true);
        b.begin_loop();
        const Reg seen = script(10, "ld_acquire_gpu_global_u32", {place(flags, 1)});
        b.loop_condition(script(10, "setp_ne_u32", {seen, 1}));
        b.end_loop();
        script.step(11, "add_u32", {value, script(11, "ld_global_u32", {place(values, 1)}), 1});
        script.step(11, "mov_u32", {flag, 1});
        b.end_if();
        script.step(12, "st_global_u32", {place(values, 0), value});
        script.step(13, "st_release_gpu_global_u32", {place(flags, 0), flag});
        b.end_if();
    }
    Outcome run(const Program& program, std::uint64_t seed = 0, bool detect_races = true) {
        const auto words = static_cast<std::size_t>(count);
        values.assign(words, 0);
        const std::vector<std::uint32_t> none(words);
        flags = none;
        const auto bytes = static_cast<std::int64_t>(4 * words);
        const std::vector<GlobalBuffer> buffers{{reinterpret_cast<std::byte*>(values.data()), bytes, 0x10000},
                                                {reinterpret_cast<std::byte*>(flags.data()), bytes, 0x80000}};
        const std::vector<std::uint64_t> params{0x10000, 0x80000};
        SimulatedLaunch launch;
        launch.grid = {static_cast<std::uint32_t>(count), 1, 1};
        launch.params = params;
        launch.buffers = buffers;
        launch.seed = seed;
        launch.detect_races = detect_races;
        return sim::run(program, launch);
    }

    Script script;
    int count;
    std::vector<std::uint32_t> values, flags;

  private:
    Reg param(const char* name) {
        const int index = script.builder.param(name, isa::Type::u64, Dtype::u32, false);
        return script
            .add(1, *isa::find("ld.param"), isa::Form().set(isa::Field::type, isa::Type::u64),
                 {Operand::param(index)})
            .operands[0]
            .reg;
    }
};

}  // namespace

TEST_CASE("a cluster that waits for a later one steps aside") {
    Chain chain(40);
    const Program program = chain.script.finish();
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        CHECK(found(chain.run(program, seed)).empty());
        for (int i = 0; i < 40; ++i)
            CHECK(chain.values[static_cast<std::size_t>(i)] == static_cast<unsigned>(39 - i));
    }
}

TEST_CASE("clusters that all wait for each other are a deadlock of the first") {
    Chain chain(5, 2);
    const Outcome outcome = chain.run(chain.script.finish());
    CHECK(found(outcome) == Found{{"WG-SYNC-06", 10}});
    CHECK_THAT(outcome.findings.at(0).message,
               ContainsSubstring("the kernel hangs: warp 0 waits for memory to change"));
}

TEST_CASE("more clusters than a chip holds cannot wait for the last one") {
    constexpr std::int64_t most = 200 * 1024;  // one CTA on each of 132 multiprocessors
    Chain fits(132, 1, most), waits(133, 1, most);
    CHECK(found(fits.run(fits.script.finish(), 0, false)).empty());
    CHECK(found(waits.run(waits.script.finish(), 0, false)) == Found{{"WG-SYNC-06", 10}});
}

TEST_CASE("of strong accesses to one word by all lanes, none is forgotten") {
    // Two strong steps of all lanes; then lane 0 alone, or all of them, tell another warp, which reads
    // weakly.
    const bool all = GENERATE(false, true), two_warps = GENERATE(false, true);
    Script k(96);
    const Reg tid = k.tid();
    const int data = k.buffer("data", 16), flag = k.buffer("flag", 16);
    const Reg place = k.address(data, k.constant(0), 0), told = k.address(flag, k.constant(0), 0);
    k.step(2, "st_shared_u32", {in_buffer(flag), 0}, {k(1, "setp_eq_u32", {tid, 0})});
    k.step(2, "st_shared_u32", {in_buffer(data), 0}, {k(1, "setp_eq_u32", {tid, 0})});
    k.step(3, "bar_sync", {0});
    k.begin_if(4, k(4, "setp_lt_u32", {tid, two_warps ? 64 : 32}));
    k.step(10, "red_relaxed_cta_shared_add_u32", {at(place), 1});
    k.step(11, "red_relaxed_cta_shared_add_u32", {at(place), 1});
    if (all) k.step(12, "bar_warp_sync", {-1});
    k.step(13, "red_release_cta_shared_add_u32", {at(told), 1},
           {k(13, "setp_eq_u32", {k(13, "and_b32", {tid, 31}), 0})});
    k.builder.end_if();
    k.begin_if(5, k(5, "setp_eq_u32", {tid, 64}));
    k.builder.begin_loop();
    k.builder.loop_condition(
        k(20, "setp_ne_u32", {k(20, "ld_acquire_cta_shared_u32", {at(told)}), two_warps ? 2 : 1}));
    k.builder.end_loop();
    k(22, "ld_shared_u32", {at(place)});
    k.builder.end_if();
    INFO(all << two_warps);
    if (all)
        expect(k.finish(), {});
    else
        expect(k.finish(), {{"WG-RACE-01", 22}});
}
