#include "isa/throughput.hpp"

#include <algorithm>

#include "isa/warp.hpp"

namespace wgrun::isa {
namespace {

constexpr int parts = 4;  // of an SM

/// Returns the cycles of a warp in the pipe of one part, if the whole SM computes that many results per
/// cycle.
constexpr int cycles_at(int results_of_sm) { return lanes * parts / results_of_sm; }

/// An entry by name: integers and bits in the first column, floats in the second.
struct Entry {
    std::string_view name;
    Throughput bits, floats;
};

constexpr Throughput alu{Pipe::alu, cycles_at(64)}, fma{Pipe::fma, cycles_at(128)},
    special{Pipe::special, cycles_at(16)}, narrow{Pipe::alu, cycles_at(32)}, slot{};
/// The assembler expands a quotient of floats to some ten instructions, and one of integers to some twenty.
constexpr Throughput float_quotient{Pipe::fma, 10}, integer_quotient{Pipe::alu, 20 * alu.cycles};

constexpr Entry table[] = {
    {"add", alu, fma},
    {"sub", alu, fma},
    {"mul", alu, fma},
    {"mad", alu, fma},
    {"fma", fma, fma},
    {"neg", alu, fma},
    {"abs", alu, fma},
    {"min", alu, alu},
    {"max", alu, alu},
    {"and", alu, alu},
    {"or", alu, alu},
    {"xor", alu, alu},
    {"not", alu, alu},
    {"shl", alu, alu},
    {"shr", alu, alu},
    {"setp", alu, alu},
    {"selp", alu, alu},
    {"cvt", alu, alu},
    {"cvt.pair", alu, alu},
    {"div", integer_quotient, float_quotient},
    {"rem", integer_quotient, integer_quotient},
    {"ex2", special, special},
    {"lg2", special, special},
    {"sin", special, special},
    {"cos", special, special},
    {"tanh", special, special},
    {"rcp", special, special},
    {"sqrt", special, special},
    {"rsqrt", special, special},
    {"popc", special, special},
    {"brev", special, special},
    {"bfind", special, special},
    {"bfind.shiftamt", special, special},
    {"clz", special, special},
    {"bfe", alu, alu},
    {"bfi", alu, alu},
    {"bmsk.clamp", alu, alu},
    {"bmsk.wrap", alu, alu},
    {"cnot", alu, alu},
    {"lop3", alu, alu},
    {"shf.l.clamp", alu, alu},
    {"shf.l.wrap", alu, alu},
    {"shf.r.clamp", alu, alu},
    {"shf.r.wrap", alu, alu},
    {"prmt", alu, alu},
    {"prmt.f4e", alu, alu},
    {"prmt.b4e", alu, alu},
    {"prmt.rc8", alu, alu},
    {"prmt.ecl", alu, alu},
    {"prmt.ecr", alu, alu},
    {"prmt.rc16", alu, alu},
    {"dp4a", alu, alu},
    {"dp2a", alu, alu},
    {"sad", alu, alu},
    {"shfl.sync", narrow, narrow},
    {"vote.sync", alu, alu},
};

}  // namespace

Throughput throughput(const Step& step) {
    if (step.op->taken_by == Participants::warp && step.form.has(Field::m) && step.form.has(Field::k)) {
        // A part of the SM multiplies 512 pairs of 16 bits per cycle; mma.sync reaches 0.62 of that (Luo et
        // al., arXiv:2402.13499, 2024; from memory: docs/timeline.md).
        constexpr double pairs_of_16_bits = 512 * 0.62;
        const double pairs = static_cast<double>(step.form.get(Field::m)) * step.form.get(Field::n, 8) *
                             step.form.get(Field::k) * bits(step.form.type(Field::a)) / 16;
        return {Pipe::matrix, std::max(1, static_cast<int>(pairs / pairs_of_16_bits))};
    }
    const auto* const entry = std::ranges::find(table, step.op->name, &Entry::name);
    if (entry == std::end(table)) return slot;
    const Type type = step.form.has(Field::type) ? step.form.type(Field::type) : Type::b32;
    Throughput out = is_float(type) ? entry->floats : entry->bits;
    if (bits(type) != 64) return out;
    if (is_float(type)) return {Pipe::binary64, cycles_at(64)};
    out.cycles *= 2;  // the hardware's integers have 32 bits
    return out;
}

}  // namespace wgrun::isa
