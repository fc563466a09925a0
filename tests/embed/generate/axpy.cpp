#include "axpy.hpp"

#include <wgrun/kernel_builder.hpp>

using wgrun::KernelBuilder;
using wgrun::Value;

wgrun::Program axpy(int threads) {
    KernelBuilder k("axpy", {.block = {static_cast<std::uint32_t>(threads), 1, 1}});
    const Value x = k.param("x", "const f32*"), y = k.param("y", "f32*");
    const Value a = k.param("a", "f32"), count = k.param("count", "u32");
    const Value index = k.special("ctaid.x") * threads + k.special("tid.x");
    k.if_(index < count, [&] {
        const Value to = k.element(y, index);
        const Value sum = k("fma_rn_f32", k("ld_global_f32", k.element(x, index)), a, k("ld_global_f32", to));
        k("st_global_f32", to, sum);
    });
    return k.finish();
}

wgrun::Program racy(int threads) {
    KernelBuilder k("racy", {.block = {static_cast<std::uint32_t>(threads), 1, 1}});
    const Value y = k.param("y", "u32*");
    const Value line = k.shared("line", std::int64_t{4} * threads);
    const Value index = k.special("tid.x");
    const Value start = k("mov_u32", line);
    k("st_shared_u32", index * 4 + start, index);
    const Value other = k("ld_shared_u32", (threads - 1 - index) * 4 + start);
    k("st_global_u32", k.element(y, index), other);
    return k.finish();
}
