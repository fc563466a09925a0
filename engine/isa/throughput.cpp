#include "isa/throughput.hpp"

#include <algorithm>

#include "isa/warp.hpp"

namespace wgrun::isa {
namespace {

constexpr int parts = 4;  // of an SM

/// Returns the cycles of a warp in the pipe of one part, if the whole SM computes that many results per
/// cycle.
constexpr int cycles_at(int results_of_sm) { return lanes * parts / results_of_sm; }

constexpr Throughput alu{Pipe::alu, cycles_at(64)}, fma{Pipe::fma, cycles_at(128)},
    special{Pipe::special, cycles_at(16)}, narrow{Pipe::alu, cycles_at(32)}, slot{};
/// The assembler expands a quotient of floats to some ten instructions, and one of integers to some twenty.
constexpr Throughput float_quotient{Pipe::fma, 10}, integer_quotient{Pipe::alu, 20 * alu.cycles};

/// Returns the throughput of types of 32 bits or fewer.
Throughput of_words(Work work, bool floats) {
    switch (work) {
        case Work::arithmetic: return floats ? fma : alu;
        case Work::fused: return fma;
        case Work::logic: return alu;
        case Work::quotient: return floats ? float_quotient : integer_quotient;
        case Work::remainder: return integer_quotient;
        case Work::function: return special;
        case Work::exchange: return narrow;
        case Work::products:
        case Work::none: break;
    }
    return slot;
}

Throughput of_products(const Form& form) {
    // A part of the SM multiplies 512 pairs of 16 bits per cycle; mma.sync reaches 0.62 of that (Luo et
    // al., arXiv:2402.13499, 2024, from memory; 0.61 by tests/bench/mma_sync.lua:
    // docs/experiments/mixed_input.md).
    constexpr double pairs_of_16_bits = 512 * 0.62;
    const double pairs = static_cast<double>(form.get(Field::m)) * form.get(Field::n, 8) *
                         form.get(Field::k) * bits(form.type(Field::a)) / 16;
    return {Pipe::matrix, std::max(1, static_cast<int>(pairs / pairs_of_16_bits))};
}

}  // namespace

Throughput throughput(const Step& step) {
    const Work work = step.op->work;
    if (work == Work::none) return slot;
    if (work == Work::products) return of_products(step.form);
    const Type type = step.form.has(Field::type) ? step.form.type(Field::type) : Type::b32;
    if (bits(type) == 64 && is_float(type)) return {Pipe::binary64, cycles_at(64)};
    Throughput out = of_words(work, is_float(type));
    if (bits(type) == 64) out.cycles *= 2;  // the hardware's integers have 32 bits
    return out;
}

}  // namespace wgrun::isa
