// Producer and consumers: TMA fills a ring of stages, wgmma empties it, TMA stores the result. Every
// synchronising step is needed: without it, every schedule breaks some rule.
#include <cmath>

#include "async_script.hpp"
#include "number/number.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int stages = 2, blocks = 5, k_block = 64;

Mapped operand(int rows) {
    Mapped out = mapped({blocks * k_block, rows}, {Dtype::bf16, {k_block, rows}, SwizzleMode::b128});
    for (std::size_t i = 0; i < out.data.size() / 2; ++i) {
        const std::uint16_t bits = to_bf16(static_cast<double>(static_cast<int>(i * 7 % 13) - 6));
        std::memcpy(out.data.data() + 2 * i, &bits, 2);
    }
    return out;
}

/// D = A * B of 64 x 8, by one consumer warpgroup (warps 0 to 3) and one producer warp. `leaves_out` names a
/// step to omit.
Program pipeline(const Mapped& a, const Mapped& b, const Mapped& d, const std::string& leaves_out = {}) {
    const auto has = [&](const char* what) { return leaves_out != what; };
    AsyncScript k(160);
    const Reg map_a = k.map(a), map_b = k.map(b), map_d = k.map(d);
    const Tile tile_a({Dtype::bf16, 64, k_block, Major::k, SwizzleMode::b128, AtomOrder::mn});
    const Tile tile_b({Dtype::bf16, 8, k_block, Major::k, SwizzleMode::b128, AtomOrder::mn});
    const int ring_a = k.buffer("A", stages * tile_a.bytes()),
              ring_b = k.buffer("B", stages * tile_b.bytes());
    const int out = k.buffer("D", 64 * 8 * 4);
    const int full = k.mbarriers("full", stages), empty = k.mbarriers("empty", stages);
    for (int s = 0; s < stages; ++s) {
        k.step(2, "mbarrier_init", {in_buffer(full, 8 * s), 1}, {k.first});
        k.step(3, "mbarrier_init", {in_buffer(empty, 8 * s), 4}, {k.first});
    }
    if (has("fence.mbarrier_init")) k.step(4, "fence_mbarrier_init", {}, {k.first});
    if (has("barrier")) k.step(5, "bar_sync", {0});

    k.begin_if(9, k(1, "setp_ge_u32", {k.thread, 128}));
    const Guard one{k(1, "setp_eq_u32", {k.thread, 128})};
    for (int block = 0; block < blocks; ++block) {
        const int s = block % stages;
        if (block >= stages && has("acquire")) k.wait(10, in_buffer(empty, 8 * s), block / stages - 1);
        const int bytes = static_cast<int>(tile_a.bytes() + tile_b.bytes());
        if (has("expect_tx"))
            k.step(11, "mbarrier_arrive_expect_tx", {in_buffer(full, 8 * s), bytes}, one);
        else
            k.step(11, "mbarrier_arrive", {in_buffer(full, 8 * s)}, one);
        k.load(12, in_buffer(ring_a, s * tile_a.bytes()), map_a, {block * k_block, 0}, in_buffer(full, 8 * s),
               one);
        k.load(13, in_buffer(ring_b, s * tile_b.bytes()), map_b, {block * k_block, 0}, in_buffer(full, 8 * s),
               one);
    }
    k.builder.begin_else();
    const std::vector<Reg> acc = k.builder.regs(isa::Type::f32, 4);
    const Reg lane = k(1, "and_b32", {k.thread, 31}), leads = k(1, "setp_eq_u32", {lane, 0});
    isa::Form form;
    using isa::Field, isa::Type;
    form.set(Field::n, 8).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
    const auto descriptor = [&](const Tile& tile, int buffer, int s, int step) {
        const auto start = static_cast<std::uint32_t>(1024 + k.builder.shared_buffer(buffer).offset);
        const auto stage = static_cast<std::uint32_t>(s * tile.bytes());
        return static_cast<std::int64_t>(tile.descriptor(start + stage, step).encode());
    };
    for (int block = 0; block < blocks; ++block) {
        const int s = block % stages;
        if (has("wait")) k.wait(20, in_buffer(full, 8 * s), block / stages % 2);
        k.step(21, "wgmma_fence");
        for (int step = 0; step < 4; ++step)
            k.add(22, *isa::find("wgmma.mma_async"), form,
                  {acc, descriptor(tile_a, ring_a, s, step), descriptor(tile_b, ring_b, s, step),
                   block + step > 0});
        k.step(23, "wgmma_commit_group");
        if (has("wgmma.wait_group")) k.step(24, "wgmma_wait_group", {0});
        k.step(25, "mbarrier_arrive", {in_buffer(empty, 8 * s)}, {leads});
        if (!has("one arrival a warp")) k.step(26, "mbarrier_arrive", {in_buffer(empty, 8 * s)}, {leads});
    }
    if (!has("wgmma.wait_group")) k.step(27, "wgmma_wait_group", {0});
    // Row 16 w + lane / 4, columns 2 (lane % 4) and the next; 8 rows further the second pair.
    const Reg row = k(1, "mad_lo_u32", {k(1, "shr_u32", {k.thread, 5}), 16, k(1, "shr_u32", {lane, 2})});
    const Reg pair = k(1, "mad_lo_u32", {row, 4, k(1, "and_b32", {lane, 3})});
    const Reg place = k.address(out, pair, 8);
    for (int half = 0; half < 2; ++half)
        k.step(30, "st_shared_v2_f32",
               {at(place, half * 8 * 32), std::vector<Reg>{acc[static_cast<std::size_t>(2 * half)],
                                                           acc[static_cast<std::size_t>(2 * half + 1)]}});
    if (has("fence.proxy.async")) k.step(31, "fence_proxy_async");
    if (has("named barrier")) k.step(32, "bar_sync", {1, 128});
    k.store(33, map_d, {0, 0}, in_buffer(out), {k.first});
    k.step(34, "cp_async_bulk_commit_group", {}, {k.first});
    if (has("bulk.wait_group")) k.step(35, "cp_async_bulk_wait_group", {0}, {k.first});
    k.builder.end_if();
    return k.finish();
}

}  // namespace

TEST_CASE("a pipeline of TMA, mbarriers and wgmma computes a product, whatever the schedule") {
    Mapped a = operand(64), b = operand(8), d = mapped({8, 64}, {Dtype::f32, {8, 64}});
    const Program program = pipeline(a, b, d);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        std::fill(d.data.begin(), d.data.end(), std::byte{0xFF});
        const Outcome outcome = run_mapped(program, {&a, &b, &d}, seed);
        INFO("seed " << seed << '\n' << text_of(outcome));
        REQUIRE(outcome.findings.empty());
        CHECK(outcome.mmas == 4 * blocks);
        for (int row = 0; row < 64; ++row)
            for (int column = 0; column < 8; ++column) {
                float want = 0;
                for (int i = 0; i < blocks * k_block; ++i)
                    want += from_bf16(a.at<std::uint16_t>(2 * (row * blocks * k_block + i))) *
                            from_bf16(b.at<std::uint16_t>(2 * (column * blocks * k_block + i)));
                REQUIRE(d.at<float>(4 * (8 * row + column)) == want);
            }
    }
}

TEST_CASE("without watching for races the product is the same") {
    Mapped a = operand(64), b = operand(8), d = mapped({8, 64}, {Dtype::f32, {8, 64}}), watched = d;
    const Program program = pipeline(a, b, d);
    REQUIRE(run_mapped(program, {&a, &b, &watched}, 0).findings.empty());
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        std::fill(d.data.begin(), d.data.end(), std::byte{0xFF});
        const Outcome outcome = run_mapped(program, {&a, &b, &d}, seed, {}, false);
        INFO(text_of(outcome));
        CHECK(outcome.findings.empty());
        CHECK(d.data == watched.data);
    }
}

TEST_CASE("each step of the pipeline is needed") {
    Mapped a = operand(64), b = operand(8), d = mapped({8, 64}, {Dtype::f32, {8, 64}});
    struct Mutant {
        const char* leaves_out;
        std::set<std::string> rules;  ///< at least one of them is found under every schedule
    };
    for (const Mutant& mutant : std::initializer_list<Mutant>{
             {"fence.mbarrier_init", {"WG-MBAR-02"}},
             {"barrier", {"WG-MBAR-01", "WG-MBAR-02"}},
             {"acquire", {"WG-RACE-02", "WG-MBAR-03"}},
             {"expect_tx", {"WG-MBAR-03"}},
             {"wait", {"WG-MEM-04", "WG-TMA-02"}},
             {"wgmma.wait_group", {"WG-RACE-02"}},
             {"one arrival a warp", {"WG-MBAR-03"}},
             {"fence.proxy.async", {"WG-PROXY-01"}},
             {"named barrier", {"WG-RACE-01", "WG-MEM-04", "WG-RACE-03"}},
             {"bulk.wait_group", {"WG-TMA-03"}},
         }) {
        const Program program = pipeline(a, b, d, mutant.leaves_out);
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            const Outcome outcome = run_mapped(program, {&a, &b, &d}, seed);
            INFO("without " << mutant.leaves_out << ", seed " << seed << '\n' << text_of(outcome));
            bool caught = false;
            for (const Diagnostic& finding : outcome.findings)
                caught |= mutant.rules.count(finding.rule) == 1;
            CHECK(caught);
        }
    }
}
