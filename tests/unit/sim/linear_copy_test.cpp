// Linear bulk copies: what they copy, which addresses they may name, and what they combine.
#include <cmath>
#include <random>

#include "async_script.hpp"
#include "number/number.hpp"
#include "sim/reduce.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// Runs a kernel with one parameter, a pointer to these bytes.
Outcome run_on(const Program& program, std::vector<std::byte>& data, std::uint64_t seed = 0) {
    const std::vector<GlobalBuffer> buffers{{data.data(), static_cast<std::int64_t>(data.size()), 0x10000}};
    return run_with(program, seed, buffers);
}

struct LinearScript : AsyncScript {
    LinearScript() : AsyncScript(32) {
        builder.param("x", isa::Type::u64, Dtype::u32);
        global = (*this)(1, "ld_param_u64", {Operand::param(0)});
        init(2, full, {1});
    }
    void load(int number, std::int64_t to, std::int64_t from, int bytes) {
        step(number, "cp_async_bulk", {in_buffer(tile, to), at(global, from), bytes, in_buffer(full)},
             {first});
    }
    void store(int number, std::int64_t to, std::int64_t from, int bytes) {
        step(number, "cp_async_bulk_store", {at(global, to), in_buffer(tile, from), bytes}, {first});
        step(number + 1, "cp_async_bulk_commit_group", {}, {first});
        step(number + 2, "cp_async_bulk_wait_group", {0}, {first});
    }

    const int tile = buffer("tile", 512), full = mbarriers("full", 1);
    Reg global;
};

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = std::byte(i * 11 + i / 256);
    return out;
}

}  // namespace

TEST_CASE("a prefetch moves nothing, and stays inside its buffer") {
    for (int bytes : {512, 1024}) {
        LinearScript k;
        k.step(10, "prefetch_global_L2", {at(k.global, 4096)});  // of addresses outside nothing comes
        k.step(11, "cp_async_bulk_prefetch", {at(k.global, 512), bytes}, {k.first});
        std::vector<std::byte> data = pattern(1024);
        const Outcome outcome = run_on(k.finish(), data);
        CHECK(found(outcome) == (bytes == 512 ? Found{} : Found{{"WG-MEM-01", 11}}));
        CHECK(data == pattern(1024));
    }
}

TEST_CASE("bytes go from global memory to shared memory and back") {
    LinearScript k;
    k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(k.full), 144}, {k.first});
    k.load(11, 0, 32, 128);
    k.load(12, 256, 0, 16);
    k.wait(13, in_buffer(k.full), 0);
    k.store(14, 512, 0, 128);
    k.store(17, 640, 256, 16);
    const Program program = k.finish();
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        std::vector<std::byte> data = pattern(1024), want = data;
        std::copy_n(want.begin() + 32, 128, want.begin() + 512);
        std::copy_n(want.begin(), 16, want.begin() + 640);
        const Outcome outcome = run_on(program, data, seed);
        INFO(text_of(outcome));
        CHECK(outcome.findings.empty());
        CHECK(data == want);
    }
}

TEST_CASE("with .read a wait says that shared memory was read, not that global memory is written") {
    for (const bool read : {false, true}) {
        LinearScript k;
        k.step(10, "st_shared_u32", {at(k.address(k.tile, k.thread, 4)), 7});
        k.step(11, "fence_proxy_async");
        k.step(11, "bar_warp_sync");
        k.step(12, "cp_async_bulk_store", {at(k.global, 512), in_buffer(k.tile), 128}, {k.first});
        k.step(13, "cp_async_bulk_commit_group", {}, {k.first});
        isa::Form form;
        if (read) form.set(isa::Field::read, 1);
        k.add(14, *isa::find("cp.async.bulk.wait_group"), form, {0}, {k.first});
        k.step(14, "bar_warp_sync");
        const Reg there = k(15, "mad_wide_u32", {k.thread, 4, k.global});
        k.step(16, "st_global_u32", {at(there), k(15, "ld_global_u32", {at(there, 512)})});
        const Program program = k.finish();
        int old = 0;
        for (std::uint64_t seed = 0; seed < 32; ++seed) {
            std::vector<std::byte> data(1024, std::byte{1});
            const Outcome outcome = run_on(program, data, seed);
            INFO(text_of(outcome));
            REQUIRE(outcome.findings.size() == (read ? 1 : 0));
            if (read) CHECK(outcome.findings[0].rule == "WG-RACE-04");
            CHECK(data[512] == std::byte{7});
            old += data[0] == std::byte{1};
        }
        CHECK((old > 0) == read);
    }
}

TEST_CASE("sizes and addresses of linear copies: WG-TMA-01, WG-MEM-01, WG-MEM-03") {
    struct Case {
        std::int64_t to, from;
        int bytes;
        const char *rule, *message;
    };
    for (const Case& c :
         {Case{0, 8, 16, "WG-TMA-01", "size and addresses are multiples of 16"},
          Case{8, 0, 16, "WG-TMA-01",
               "the copy's place in shared memory, `tile` + 8, is not a multiple of 16 bytes"},
          Case{0, 0, 24, "WG-TMA-01", "a copy of 24 bytes"}, Case{0, 0, 0, "WG-TMA-01", "a copy of 0 bytes"},
          Case{0, 1008, 32, "WG-MEM-01", "its last 16 bytes lie past the end"},
          Case{496, 0, 32, "WG-MEM-03", "moves 32 bytes at `tile` + 496, of which the last 16 lie past"}}) {
        LinearScript k;
        const Reg size = k.constant(c.bytes);
        k.step(11, "cp_async_bulk", {in_buffer(k.tile, c.to), at(k.global, c.from), size, in_buffer(k.full)},
               {k.first});
        std::vector<std::byte> data = pattern(1024);
        const Outcome outcome = run_on(k.finish(), data);
        INFO(c.message << '\n' << text_of(outcome));
        REQUIRE(found(outcome) == Found{{c.rule, 11}});
        CHECK_THAT(outcome.findings[0].message, ContainsSubstring(c.message));
    }
}

TEST_CASE("reductions of every type do what the ISA says") {
    using enum isa::BulkCopy::Reduction;
    using isa::Type;
    std::mt19937_64 random(7);
    const auto run = [](isa::BulkCopy::Reduction op, Type type, auto a, auto b) {
        CHECK(reduce(op, type, reinterpret_cast<std::byte*>(&a), reinterpret_cast<const std::byte*>(&b), 1));
        return a;
    };
    for (int i = 0; i < 200; ++i) {
        const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random());
        const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
        CHECK(run(add, Type::u32, a, b) == a + b);
        CHECK(run(add, Type::s32, a, b) == a + b);
        CHECK(run(min, Type::u32, a, b) == std::min(a, b));
        CHECK(run(max, Type::s32, sa, sb) == std::max(sa, sb));
        CHECK(run(min, Type::s32, sa, sb) == std::min(sa, sb));
        CHECK(run(bit_and, Type::b32, a, b) == (a & b));
        CHECK(run(bit_or, Type::b32, a, b) == (a | b));
        CHECK(run(bit_xor, Type::b32, a, b) == (a ^ b));
        CHECK(run(add, Type::u64, std::uint64_t{a} << 20, std::uint64_t{b}) == (std::uint64_t{a} << 20) + b);
        CHECK(run(max, Type::s64, std::int64_t{sa}, std::int64_t{sb}) == std::max<std::int64_t>(sa, sb));
        const float fa = static_cast<float>(sa) / 65536, fb = static_cast<float>(sb) / 65536;
        CHECK(run(add, Type::f32, fa, fb) == fa + fb);
        CHECK(run(add, Type::f64, double{fa}, double{fb}) == double{fa} + double{fb});
    }
    CHECK(run(inc, Type::u32, 6U, 7U) == 7);
    CHECK(run(inc, Type::u32, 7U, 7U) == 0);
    CHECK(run(dec, Type::u32, 0U, 7U) == 7);
    CHECK(run(dec, Type::u32, 8U, 7U) == 7);
    CHECK(run(dec, Type::u32, 7U, 7U) == 6);
    CHECK(run(add, Type::bf16, std::uint16_t{0x3F80}, std::uint16_t{0x4000}) == 0x4040);  // 1 + 2
    CHECK(run(add, Type::f16, std::uint16_t{0x3C00}, std::uint16_t{0x4000}) == 0x4200);
    CHECK(run(max, Type::f16, std::uint16_t{0x3C00}, std::uint16_t{0x4000}) == 0x4000);
    CHECK(run(add, Type::f32, 0x1p-140F, 0x1p-140F) == 0x1p-139F);  // subnormal
    constexpr std::uint16_t above = 0, below = 0x8000;              // zeros
    for (const Type half : {Type::f16, Type::bf16})
        for (const std::uint16_t a : {above, below}) {
            const std::uint16_t b = a ^ below;
            CHECK(run(min, half, a, b) == below);
            CHECK(run(max, half, a, b) == above);
        }
    std::uint32_t word = 5;
    auto* bytes = reinterpret_cast<std::byte*>(&word);
    CHECK_FALSE(reduce(min, Type::f32, bytes, bytes, 1));
    CHECK_FALSE(reduce(bit_and, Type::f32, bytes, bytes, 1));
    CHECK_FALSE(reduce(inc, Type::s32, bytes, bytes, 1));
    CHECK(word == 5);
}

TEST_CASE("a copy reduces halves into global memory") {
    for (const bool brain : {false, true}) {
        LinearScript k;
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(k.full), 256}, {k.first});
        k.load(11, 0, 256, 256);
        k.wait(12, in_buffer(k.full), 0);
        k.step(13, brain ? "cp_reduce_async_bulk_add_noftz_bf16" : "cp_reduce_async_bulk_add_noftz_f16",
               {at(k.global), in_buffer(k.tile), 256}, {k.first});
        k.step(14, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(15, "cp_async_bulk_wait_group", {0}, {k.first});
        std::vector<std::byte> data(512);
        auto* halves = reinterpret_cast<std::uint16_t*>(data.data());
        for (std::uint16_t i = 0; i < 256; ++i)
            halves[i] = brain ? to_bf16(i % 128 * 0.5) : to_f16(i < 128 ? i * 0x1p-24 : 0x1p-24);
        const Outcome outcome = run_on(k.finish(), data);
        INFO(text_of(outcome));
        CHECK(outcome.findings.empty());
        // Subnormals of f16 are added, too.
        for (std::uint16_t i = 0; i < 128; ++i) CHECK(halves[i] == (brain ? to_bf16(i) : i + 1));
    }
}

TEST_CASE("discarded memory has no value until it is written, for threads and copies") {
    enum class By : std::uint8_t { load, reduction, copy, copy_back };
    using enum By;
    for (const By by : {load, reduction, copy, copy_back})
        for (const bool written : {false, true}) {
            LinearScript k;
            k.step(10, "discard_global_L2", {at(k.global, 128)}, {k.first});
            k.step(11, "bar_warp_sync");
            const Reg mine = k(1, "mad_wide_u32", {k.thread, 4, k.global});
            if (written) k.step(12, "st_global_u32", {at(mine, 128), k.thread});
            k.step(13, "fence_proxy_async");
            k.step(13, "bar_warp_sync");
            k.step(14, "mbarrier_arrive_expect_tx", {in_buffer(k.full), 128}, {k.first});
            k.load(14, 0, by == copy ? 128 : 512, 128);
            k.wait(15, in_buffer(k.full), 0);
            if (by == load) k(20, "ld_global_u32", {at(mine, 128)});
            if (by == reduction) k.step(20, "red_global_add_u32", {at(mine, 128), 1});
            if (by == copy_back) {  // a copy writes it
                k.store(16, 128, 0, 128);
                k.step(19, "bar_warp_sync");
                k(20, "ld_global_u32", {at(mine, 128)});
            }
            std::vector<std::byte> data = pattern(1024);
            const Outcome outcome = run_on(k.finish(), data);
            INFO(static_cast<int>(by) << '\n' << text_of(outcome));
            if (written || by == copy_back)
                CHECK(outcome.findings.empty());
            else
                CHECK(found(outcome) == Found{{"WG-MEM-04", by == copy ? 14 : 20}});
        }
}

TEST_CASE("of a discard and a read that nothing orders the race alone is told; its address is aligned") {
    LinearScript k;
    k.step(10, "discard_global_L2", {at(k.global, 128)}, {k.first});
    k(11, "ld_global_u32", {at(k(1, "mad_wide_u32", {k.thread, 4, k.global}), 128)}, {k.first, true});
    std::vector<std::byte> data = pattern(1024);
    CHECK(found(run_on(k.finish(), data)) == Found{{"WG-RACE-04", 11}});
    LinearScript off;
    off.step(10, "discard_L2", {at(off.global, 64)}, {off.first});
    off.step(11, "discard_L2", {at(off.global, 1024)}, {off.first});
    CHECK(found(run_on(off.finish(), data)) == Found{{"WG-MEM-02", 10}, {"WG-MEM-01", 11}});
}

TEST_CASE("every CTA adds to the same words: none is lost, and the sum is the same in each run") {
    LinearScript k;
    const Reg value = k(1, "cvt_rn_f32_u32", {k(1, "mad_lo_u32", {k.special("ctaid.x"), 3, k.thread})});
    k.step(10, "st_shared_f32", {at(k.address(k.tile, k.thread, 4)), k(10, "mul_f32", {value, value})});
    k.step(11, "fence_proxy_async");
    k.step(12, "bar_sync", {0});
    k.step(13, "cp_reduce_async_bulk_add_f32", {at(k.global), in_buffer(k.tile), 128}, {k.first});
    k.step(14, "cp_async_bulk_commit_group", {}, {k.first});
    k.step(15, "cp_async_bulk_wait_group", {0}, {k.first});
    const Program program = k.finish();
    std::vector<float> first;
    for (int repeat = 0; repeat < 6; ++repeat) {
        std::vector<float> sums(32);
        const std::vector<GlobalBuffer> buffers{{reinterpret_cast<std::byte*>(sums.data()), 128, 0x10000}};
        const std::vector<std::uint64_t> params{0x10000};
        SimulatedLaunch launch;
        launch.grid = {97};
        launch.params = params;
        launch.buffers = buffers;
        launch.seed = 3;
        CHECK(run(program, launch).findings.empty());
        for (std::size_t t = 0; t < 32; ++t) {
            double want = 0;
            for (std::size_t c = 0; c < 97; ++c) want += std::pow(static_cast<double>(3 * c + t), 2);
            CHECK(std::fabs(sums[t] - want) < 1e-5 * want);
        }
        if (repeat == 0) first = sums;
        CHECK(sums == first);
    }
}
