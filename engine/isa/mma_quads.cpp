// mma.sync m8n8k4 of f16, which Volta had: four products, each of eight lanes. Later chips compute them with
// scalar arithmetic in binary32, lane by lane (PTX ISA 9.7.14.5.1, docs/silicon.md).
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/lanes.hpp"
#include "isa/mma.hpp"
#include "number/number.hpp"

namespace wgrun::isa {
namespace quads {
namespace {

using enum Type;

constexpr int products = 4;           // quarter q has the lanes 4q .. and 16 + 4q ..
constexpr int rows = 8, columns = 8;  // of D
constexpr int depth = 4;              // K

/// Where element i of a lane is. by_lines: the lane has a row of A, or a column of B.
struct Element {
    int line, k;
};
Element element(int lane, int i, bool by_lines) {
    const int upper = 4 * (lane / 16);
    return by_lines ? Element{lane % 4 + upper, i} : Element{i + upper, lane % 4};
}

/// Element i of D or C in a lane; f32 and f16 have orders of their own.
struct Place {
    int row, column;
};
Place place(int lane, int i, Type type) {
    const int upper = 4 * (lane / 16);
    if (type == f16) return {lane % 4 + upper, i};
    return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

using Line = std::array<float, depth>;
using Lines = std::array<std::array<Line, rows>, products>;
using Sums = std::array<std::array<std::array<float, columns>, rows>, products>;

float half_number(std::uint32_t word, int i) {
    return static_cast<float>(from_f16(static_cast<std::uint16_t>(word >> 16 * (i % 2))));
}

Lines read_lines(Machine& m, const std::vector<Reg>& registers, bool by_lines) {
    Lines out{};
    for (int i = 0; i < depth; ++i) {
        const auto words = read_reg<std::uint32_t>(m, registers[static_cast<std::size_t>(i / 2)]);
        for (int l = 0; l < lanes; ++l) {
            const auto [line, k] = element(l, i, by_lines);
            out[static_cast<std::size_t>(l % 16 / 4)][static_cast<std::size_t>(line)]
               [static_cast<std::size_t>(k)] = half_number(words[static_cast<std::size_t>(l)], i);
        }
    }
    return out;
}

float& at(Sums& sums, int lane, int i, Type type) {
    const auto [row, column] = place(lane, i, type);
    return sums[static_cast<std::size_t>(lane % 16 / 4)][static_cast<std::size_t>(row)]
               [static_cast<std::size_t>(column)];
}

/// Returns c + a * b. D of f16 adds two sums of two products, D of f32 one of four.
float sum(float c, const Line& a, const Line& b, Type d) {
    if (d == f16) return c + std::fma(a[1], b[1], a[0] * b[0]) + std::fma(a[3], b[3], a[2] * b[2]);
    float of_products = 0;
    for (std::size_t i = 0; i < depth; ++i) of_products = std::fma(a[i], b[i], of_products);
    return c + of_products;
}

std::uint32_t to_half(float value) { return std::isnan(value) ? half_nan : to_f16(double{value}); }

void multiply(const Step& s, Machine& m, bool a_by_rows, bool b_by_columns, Type d, Type c) {
    const Lines a = read_lines(m, s.operands[1].list, a_by_rows),
                b = read_lines(m, s.operands[2].list, b_by_columns);
    Sums sums{};
    for (int i = 0; i < columns; ++i) {
        const bool packed = c == f16;
        const auto words =
            read_reg<std::uint32_t>(m, s.operands[3].list[static_cast<std::size_t>(packed ? i / 2 : i)]);
        for (int l = 0; l < lanes; ++l) {
            const std::uint32_t word = words[static_cast<std::size_t>(l)];
            at(sums, l, i, c) = packed ? half_number(word, i) : std::bit_cast<float>(word);
        }
    }
    for (std::size_t q = 0; q < products; ++q)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                float& to = sums[q][row][column];
                to = sum(to, a[q][row], b[q][column], d);
            }
    const std::vector<Reg>& registers = s.operands[0].list;
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        Lanes<std::uint32_t> words;
        for (int l = 0; l < lanes; ++l)
            words[static_cast<std::size_t>(l)] =
                d == f16 ? to_half(at(sums, l, 2 * r, d)) | to_half(at(sums, l, 2 * r + 1, d)) << 16
                         : std::bit_cast<std::uint32_t>(settled(at(sums, l, r, d)));
        write_reg(m, registers[static_cast<std::size_t>(r)], words);
    }
}

template <bool a_by_rows, bool b_by_columns, Type d, Type c>
void run(const Step& s, Machine& m) {
    multiply(s, m, a_by_rows, b_by_columns, d, c);
}

template <int count>
int registers(const Form&) {
    return count;
}
template <Type type>
OperandRule list(std::string_view name, Access access = Access::in) {
    if constexpr (type == f32)
        return mma::fragment(name, access, fixed<f32>, registers<8>);
    else
        return mma::fragment(name, access, fixed<b32>, registers<4>);
}
OperandRule factor(std::string_view name) {
    return mma::fragment(name, Access::in, fixed<b32>, registers<2>);
}

template <bool a_by_rows, bool b_by_columns, Type d, Type c>
void add(std::vector<Instruction>& out) {
    static const std::string text =
        fmt::format("mma.sync.aligned.m8n8k4.{}.{}.{}.f16.f16.{} {{%d}}, {{%a}}, {{%b}}, {{%c}}",
                    a_by_rows ? "row" : "col", b_by_columns ? "col" : "row", to_string(d), to_string(c));
    Instruction op;
    op.name = "mma.sync.quads";
    op.summary = "four products of a warp, of eight lanes each";
    op.section = "9.7.14.5.1";
    op.rows = {{{}, {7, 8}}};
    op.operands = {list<d>("d", Access::out), factor("a"), factor("b"), list<c>("c")};
    op.ptx = text;
    op.taken_by = Participants::warp;
    op.effects = mma::multiplies;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = run<a_by_rows, b_by_columns, d, c>;
    out.push_back(std::move(op));
}

template <bool a_by_rows, bool b_by_columns>
void add_types(std::vector<Instruction>& out) {
    add<a_by_rows, b_by_columns, f16, f16>(out);
    add<a_by_rows, b_by_columns, f32, f16>(out);
    add<a_by_rows, b_by_columns, f32, f32>(out);
}

}  // namespace
}  // namespace quads

std::span<const Instruction> quad_mma_family() {
    static const std::vector<Instruction> all = [] {
        std::vector<Instruction> out;
        quads::add_types<true, true>(out);
        quads::add_types<true, false>(out);
        quads::add_types<false, true>(out);
        quads::add_types<false, false>(out);
        return out;
    }();
    return all;
}

}  // namespace wgrun::isa
