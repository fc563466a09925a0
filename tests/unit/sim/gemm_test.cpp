// A whole GEMM: C[m][n] = sum over k of A[m][k] * B[n][k], bf16 in, f32 out, one 64 x 256 tile per CTA.
#include <chrono>
#include <iostream>

#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int tile_m = 64, tile_n = 256, tile_k = 64;

/// m, n, k: multiples of the tile.
Program gemm(int n, int k_extent) {
    Script k(128);
    k.builder.param("a", isa::Type::u64, Dtype::bf16);
    k.builder.param("b", isa::Type::u64, Dtype::bf16);
    k.builder.param("c", isa::Type::u64, Dtype::f32);
    const int a = k.buffer("A", tile_m * tile_k * 2), b = k.buffer("B", tile_n * tile_k * 2);
    const Reg tid = k.tid(), cta_m = k.special("ctaid.x"), cta_n = k.special("ctaid.y");
    // Thread t copies 16-byte unit t % 8 of rows t / 8, t / 8 + 16, ...; its swizzle does not depend on
    // which.
    const Reg unit = k(2, "and_b32", {tid, 7}), row = k(2, "shr_u32", {tid, 3});
    const Reg swizzled = k(2, "xor_b32", {unit, k(2, "and_b32", {row, 7})});
    const Reg in_row = k(2, "shl_b32", {swizzled, 4});
    const Reg to_a = k(2, "add_u32", {k.address(a, row, 128), in_row});
    const Reg to_b = k(2, "add_u32", {k.address(b, row, 128), in_row});
    const int pitch = k_extent * 2;
    const auto source = [&](int param, Reg tile, int extent) {
        const Reg first = k(3, "mad_lo_u32", {tile, extent, row});
        const Reg base = k(3, "ld_param_u64", {Operand::param(param)});
        const Reg line = k(3, "mad_wide_u32", {first, pitch, base});
        return k(3, "mad_wide_u32", {unit, 16, line});
    };
    const Reg from_a = source(0, cta_m, tile_m), from_b = source(1, cta_n, tile_n);
    const std::vector<Reg> d = k.builder.regs(isa::Type::f32, tile_n / 2);
    for (Reg reg : d) k.step(4, "mov_f32", {reg, 0});
    const Reg step = k.begin_loop(5, k_extent / tile_k);
    for (int i = 0; i < tile_m / 16; ++i)
        k.step(6, "st_shared_v4_b32",
               {at(to_a, i * 2048), k.list(6, "ld_global_v4_b32", {at(from_a, i * 16 * pitch)})});
    for (int i = 0; i < tile_n / 16; ++i)
        k.step(7, "st_shared_v4_b32",
               {at(to_b, i * 2048), k.list(7, "ld_global_v4_b32", {at(from_b, i * 16 * pitch)})});
    k.step(8, "add_u64", {from_a, from_a, tile_k * 2});
    k.step(8, "add_u64", {from_b, from_b, tile_k * 2});
    k.step(9, "fence_proxy_async");
    k.step(10, "bar_sync", {0});
    k.step(11, "wgmma_fence");
    const auto descriptor = [&](int buffer, int rows, int kstep) -> Arg {
        const Tile tile({Dtype::bf16, rows, tile_k, Major::k, SwizzleMode::b128, AtomOrder::mn});
        const std::uint32_t start = 1024 + static_cast<std::uint32_t>(k.builder.shared_buffer(buffer).offset);
        return static_cast<std::int64_t>(tile.descriptor(start, kstep).encode());
    };
    using isa::Field, isa::Type;
    isa::Form form;
    form.set(Field::n, tile_n).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
    for (int kstep = 0; kstep < tile_k / 16; ++kstep)
        k.add(12, *isa::find("wgmma.mma_async"), form,
              {d, descriptor(a, tile_m, kstep), descriptor(b, tile_n, kstep), 1});
    k.step(13, "wgmma_commit_group");
    k.step(14, "wgmma_wait_group", {0});
    k.step(15, "bar_sync", {0});
    k.end_loop(5, step);
    // Register r of thread t: row 16 (t / 32) + t % 32 / 4 + 8 (r / 2 % 2), column 8 (r / 4) + 2 (t % 4) + r
    // % 2.
    const Reg lane = k(20, "and_b32", {tid, 31}), warp = k(20, "shr_u32", {tid, 5});
    const Reg first = k(20, "mad_lo_u32", {warp, 16, k(20, "shr_u32", {lane, 2})});
    const Reg c_row = k(20, "mad_lo_u32", {cta_m, tile_m, first});
    const Reg pair = k(20, "shl_b32", {k(20, "and_b32", {lane, 3}), 1});
    const Reg c_col = k(20, "mad_lo_u32", {cta_n, tile_n, pair});
    const Reg base = k(20, "ld_param_u64", {Operand::param(2)});
    const Reg to_c = k(20, "mad_wide_u32", {c_col, 4, k(20, "mad_wide_u32", {c_row, n * 4, base})});
    for (int r = 0; r < tile_n / 2; r += 2)
        k.step(21, "st_global_v2_f32",
               {at(to_c, (r / 2 % 2) * 8 * n * 4 + (r / 4) * 32),
                std::vector<Reg>{d[static_cast<std::size_t>(r)], d[static_cast<std::size_t>(r) + 1]}});
    return k.finish();
}

float value(int i, int j, int salt) { return static_cast<float>((i * 7 + j * 13 + salt) % 9 - 4); }

/// Upper half of binary32: exact for small integers.
std::uint16_t bf16(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

}  // namespace

TEST_CASE("a 256 x 256 x 256 GEMM is right, clean, and fast enough to use") {
    constexpr int m = 256, n = 256, k = 256;
    std::vector<std::uint16_t> a(m * k), b(n * k);
    std::vector<float> c(m * n);
    for (int i = 0; i < 256; ++i)
        for (int j = 0; j < k; ++j) {
            a[static_cast<std::size_t>(i * k + j)] = bf16(value(i, j, 1));
            b[static_cast<std::size_t>(i * k + j)] = bf16(value(j, i, 5));
        }
    const std::vector<GlobalBuffer> buffers{
        {reinterpret_cast<std::byte*>(a.data()), m * k * 2, 0x100000},
        {reinterpret_cast<std::byte*>(b.data()), n * k * 2, 0x200000},
        {reinterpret_cast<std::byte*>(c.data()), m * n * 4, 0x300000},
    };
    const std::vector<std::uint64_t> params{0x100000, 0x200000, 0x300000};
    const Program program = gemm(n, k);
    SimulatedLaunch launch;
    launch.grid = {m / tile_m, n / tile_n, 1};
    launch.params = params;
    launch.buffers = buffers;
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run_both(program, launch);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Diagnostic& finding : outcome.findings) FAIL_CHECK(to_text(finding));
    CHECK(outcome.mmas == m / tile_m * (k / 16));
    bool right = true;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float want = 0;
            for (int l = 0; l < k; ++l) want += value(i, l, 1) * value(l, j, 5);
            right &= c[static_cast<std::size_t>(i * n + j)] == want;
        }
    CHECK(right);
    std::cout << "256^3 GEMM: " << seconds * 1e3 << " ms, " << outcome.steps << " warp-steps, "
              << outcome.mmas << " wgmma\n";
}
