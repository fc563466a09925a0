// ldmatrix, stmatrix and movmatrix: 8x8 matrices of 16-bit elements, between shared memory and the registers
// of a warp.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

constexpr int matrix_rows = 8;  // of a matrix; a row is 8 elements
constexpr int row_bytes = 16;   // of 8 elements

/// One 8x8 matrix, row by row.
using Matrix = std::array<std::uint16_t, std::size_t{matrix_rows} * matrix_rows>;

/// Returns where in a matrix the lower and the upper half of lane l's register are: row l / 4, columns 2 (l %
/// 4) and the next one; with .trans, in the transposed matrix.
std::array<std::size_t, 2> halves(std::size_t lane, bool trans) {
    const std::size_t row = lane / 4, column = 2 * (lane % 4);
    if (trans) return {column * matrix_rows + row, (column + 1) * matrix_rows + row};
    return {row * matrix_rows + column, row * matrix_rows + column + 1};
}

Lanes<std::uint32_t> to_registers(const Matrix& matrix, bool trans) {
    Lanes<std::uint32_t> out;
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto [lower, upper] = halves(l, trans);
        out[l] = matrix[lower] | std::uint32_t{matrix[upper]} << 16;
    }
    return out;
}

Matrix from_registers(const Lanes<std::uint32_t>& registers, bool trans) {
    Matrix out;
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto [lower, upper] = halves(l, trans);
        out[lower] = static_cast<std::uint16_t>(registers[l]);
        out[upper] = static_cast<std::uint16_t>(registers[l] >> 16);
    }
    return out;
}

int count(const Form& form) { return form.get(Field::num); }
bool transposed(const Form& form) { return form.get(Field::trans, 0) == 1; }

/// Lane 8 i + r provides the address of row r of matrix i. The lanes after the last matrix repeat the rows.
Addresses row_addresses(const Step& s, Machine& m, const Operand& address) {
    Addresses out = addresses_of<std::uint32_t>(m, address);
    const auto given = static_cast<std::size_t>(matrix_rows * count(s.form));
    for (std::size_t l = given; l < lanes; ++l) out[l] = out[l % given];
    return out;
}

/// The rows that the lanes copy: room for four matrices.
using Rows = std::array<Matrix, lanes / matrix_rows>;

void run_ldmatrix(const Step& s, Machine& m) {
    Rows data{};
    m.load(space(s.form), row_addresses(s, m, s.operands[1]), row_bytes, data.data(), row_bytes);
    for (std::size_t i = 0; i < s.operands[0].list.size(); ++i)
        write_reg(m, s.operands[0].list[i], to_registers(data[i], transposed(s.form)));
}

void run_stmatrix(const Step& s, Machine& m) {
    Rows data;
    const std::vector<Reg>& registers = s.operands[1].list;
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = i < registers.size()
                      ? from_registers(read_reg<std::uint32_t>(m, registers[i]), transposed(s.form))
                      : data[i % registers.size()];
    m.store(space(s.form), row_addresses(s, m, s.operands[0]), row_bytes, data.data(), row_bytes);
}

void run_movmatrix(const Step& s, Machine& m) {
    const Matrix matrix = from_registers(read<std::uint32_t>(m, s.operands[1]), false);
    write_reg(m, s.operands[0].reg, to_registers(matrix, true));
}

/// Each lane gets different elements, whatever the addresses.
Value unknown(const Step&, const ValueOf&) { return {}; }

Choice num() { return among(Field::num, {1, 2, 4}); }
Choice in_shared() { return spelled_as(Field::space, {"shared", "shared::cta"}, "shared"); }

OperandRule fragment(std::string_view name, Access access) {
    return {name, access, Rule::list, fixed<b32>, count, false, {}, {}};
}
OperandRule row_address() { return {"a", Access::in, Rule::address, fixed<u32>, nullptr, false, {}, {}}; }

}  // namespace

std::span<const Instruction> matrix_family() {
    static const std::vector<Instruction> list{
        {.name = "ldmatrix",
         .summary =
             "loads one, two or four 8x8 matrices of 16-bit elements; lane i gives the address of row i",
         .section = "9.7.14.5.15",
         .rows = {{{num(), flag(Field::trans), in_shared(), types({b16})}, {7, 8}}},
         .operands = {fragment("d", Access::out), row_address()},
         .ptx = "ldmatrix.sync.aligned.m8n8{.num}{.trans}{.space}{.type} {%d}, [{%a}]",
         .taken_by = Participants::warp,
         .effects =
             [](const Step& s, Effects& e) {
                 e.memory({space(s.form), false, &s.operands[1], row_bytes});
             },
         .value = unknown,
         .run = run_ldmatrix},
        {.name = "stmatrix",
         .summary =
             "stores one, two or four 8x8 matrices of 16-bit elements; lane i gives the address of row i",
         .section = "9.7.14.5.16",
         .rows = {{{num(), flag(Field::trans), in_shared(), types({b16})}, {7, 8}}},
         .operands = {row_address(), fragment("b", Access::in)},
         .ptx = "stmatrix.sync.aligned.m8n8{.num}{.trans}{.space}{.type} [{%a}], {%b}",
         .taken_by = Participants::warp,
         .effects =
             [](const Step& s, Effects& e) {
                 e.memory({space(s.form), true, &s.operands[0], row_bytes});
             },
         .run = run_stmatrix},
        {.name = "movmatrix",
         .summary = "transposes an 8x8 matrix of 16-bit elements in the registers of a warp",
         .section = "9.7.14.5.17",
         .rows = {{{types({b16})}, {7, 8}}},
         .operands = {out("d", fixed<b32>), in("a", fixed<b32>, Rule::reg)},
         .ptx = "movmatrix.sync.aligned.m8n8.trans{.type} {%d}, {%a}",
         .taken_by = Participants::warp,
         .value = unknown,
         .run = run_movmatrix},
    };
    return list;
}

}  // namespace wgrun::isa
