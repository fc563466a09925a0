#include "product.hpp"

#include <wgrun/kernel_builder.hpp>
#include <wgrun/tile.hpp>

#include <cstdint>
#include <vector>

using wgrun::KernelBuilder;
using wgrun::Value;
using wgrun::With;

namespace {

constexpr int block = 64;

/// Descriptor of K step `step` of a tile in shared memory.
Value descriptor(KernelBuilder& k, const wgrun::Tile& tile, const Value& address, int step) {
    const auto fields = tile.descriptor(0, step).encode();
    constexpr std::uint64_t start = 0x3FFF;
    return k("matrix_descriptor", address + ((fields & start) << 4), fields & ~start);
}

}  // namespace

wgrun::Program product() {
    const wgrun::Tile tile({.dtype = wgrun::Dtype::bf16, .mn = block, .k = block});
    wgrun::TensorBox box{.dtype = tile.dtype(), .extents = {tile.tma_box().inner, tile.tma_box().outer}};
    box.swizzle = tile.swizzle();

    KernelBuilder k("product", {});
    const Value map_a = k.tensor_map("A", box), map_b = k.tensor_map("B", box), D = k.param("D", "f32*");
    const Value N = k.param("N", "u32"), K = k.param("K", "u32");
    const Value a = k("mov_u32", k.shared("a", tile)), b = k("mov_u32", k.shared("b", tile));
    const Value full = k("mov_u32", k.shared("full", 8, 8));
    const Value thread = k.special("tid.x");
    const Value leader = thread == 0;
    const Value row = k.special("ctaid.y") * block, column = k.special("ctaid.x") * block;
    k.if_(leader, [&] {
        k("mbarrier_init", full, 1);
        k("fence_mbarrier_init");
    });
    k("bar_sync", 0);

    const Value sums = k.regs("f32", block / 2), phase = k.reg("u32");
    for (std::size_t i = 0; i < sums.size(); ++i) k.set(sums[i], 0);
    k.set(phase, 0);
    k.loop({.from = 0, .to = K, .step = block}, [&](const Value& first) {
        k.if_(leader, [&] {
            k("mbarrier_arrive_expect_tx", full, 2 * tile.bytes());
            k("cp_async_bulk_tensor_2d", a, map_a, std::vector<Value>{first, row}, full);
            k("cp_async_bulk_tensor_2d", b, map_b, std::vector<Value>{first, column}, full);
        });
        k.while_([&] { return k("not", k("mbarrier_try_wait_parity", full, phase)); }, [] {});
        k("xor", phase, phase, 1);
        k("wgmma_fence");
        for (int step = 0; step < block / 16; ++step) {
            const Value of_a = descriptor(k, tile, a, step), of_b = descriptor(k, tile, b, step);
            k("wgmma_mma_async", sums, of_a, of_b,
              With{.qualifiers = {{"n", "64"}, {"k", "16"}, {"d", "f32"}, {"a", "bf16"}, {"b", "bf16"}},
                   .operands = {{"scale_d", 1}}});
        }
        k("wgmma_commit_group");
        k("wgmma_wait_group", 0);
        k("bar_sync", 0);
    });

    // Registers 2i and 2i + 1 of a thread are neighbours in a row (PTX ISA 9.7.15.5.1.1).
    const Value line = row + (thread >> 5) * 16 + ((thread & 31) >> 2), at = column + (thread & 3) * 2;
    for (int i = 0; i < block / 4; ++i) {
        const Value index = (line + i % 2 * 8) * N + at + i / 2 * 8;
        const auto first = static_cast<std::size_t>(2 * i);
        k("st_global_v2_f32", k.element(D, index), std::vector<Value>{sums[first], sums[first + 1]});
    }
    return k.finish();
}
