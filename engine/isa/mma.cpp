// mma.sync: the matrix products of one warp, with operands and result in registers.
#include <algorithm>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/mma.hpp"
#include "number/number.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

constexpr int rows = 16, columns = 8;  // of D: m16n8

// --- operands ------------------------------------------------------------------------------------------

/// The 32 lanes hold the whole matrix in registers of 32 bits.
int b_count(const Form& form) { return columns * form.get(Field::k) * bits(form.type(Field::b)) / 1024; }
int a_count(const Form& form) { return rows * form.get(Field::k) * bits(form.type(Field::a)) / 1024; }
int d_count(const Form& form) { return rows * columns * bits(form.type(Field::d)) / 1024; }

// --- meaning -------------------------------------------------------------------------------------------

/// Reads an operand into out[line * k + i], where a line is a row of A or a column of B. Register r of lane l
/// holds `run` neighbours along K, of line l / 4, from run * (l % 4) on. In A, every other register is 8 rows
/// further down, and K continues after as many registers as there are halves of rows.
void read_operand(Machine& m, const std::vector<Reg>& registers, Type type, int lines, int k, float* out) {
    const int run = 32 / bits(type), halves = lines / 8;
    std::vector<float> values(static_cast<std::size_t>(lanes * run));
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        const Lanes<std::uint32_t> words = read_reg<std::uint32_t>(m, registers[static_cast<std::size_t>(r)]);
        decode(*parse_dtype(to_string(type)), std::as_bytes(std::span(words)), std::span(values));
        for (int l = 0; l < lanes; ++l) {
            const int line = l / 4 + 8 * (r % halves), first = 4 * run * (r / halves) + run * (l % 4);
            std::copy_n(values.data() + l * run, run, out + line * k + first);
        }
    }
}

/// The element of D or C that lane l holds as number `value`, 0 to 3.
struct Place {
    int row, column;
};
Place place(int lane, int value) { return {lane / 4 + 8 * (value / 2), 2 * (lane % 4) + value % 2}; }

using Result = std::array<double, std::size_t{rows} * columns>;

void read_result(Machine& m, const std::vector<Reg>& registers, Type type, Result& out) {
    for (std::size_t r = 0; r < registers.size(); ++r) {
        const Lanes<std::uint32_t> words = read_reg<std::uint32_t>(m, registers[r]);
        for (int l = 0; l < lanes; ++l) {
            const std::uint32_t word = words[static_cast<std::size_t>(l)];
            const auto put = [&](int value, double number) {
                const auto [row, column] = place(l, value);
                out[static_cast<std::size_t>(row * columns + column)] = number;
            };
            const int i = static_cast<int>(r);
            if (type == f16) {
                put(2 * i, from_f16(static_cast<std::uint16_t>(word)));
                put(2 * i + 1, from_f16(static_cast<std::uint16_t>(word >> 16)));
            } else {
                put(i, type == s32 ? static_cast<double>(std::bit_cast<std::int32_t>(word))
                                   : static_cast<double>(std::bit_cast<float>(word)));
            }
        }
    }
}

std::uint32_t integer(double sum, bool saturate) {
    const auto exact = static_cast<std::int64_t>(sum);
    return static_cast<std::uint32_t>(saturate ? std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX)
                                               : exact);
}

void write_result(const Step& s, Machine& m, const Result& result) {
    const Type type = s.form.type(Field::d);
    const std::vector<Reg>& registers = s.operands[0].list;
    for (std::size_t r = 0; r < registers.size(); ++r) {
        Lanes<std::uint32_t> words;
        for (int l = 0; l < lanes; ++l) {
            const auto get = [&](int value) {
                const auto [row, column] = place(l, value);
                return result[static_cast<std::size_t>(row * columns + column)];
            };
            const int i = static_cast<int>(r);
            words[static_cast<std::size_t>(l)] =
                type == f16   ? to_f16(get(2 * i)) | std::uint32_t{to_f16(get(2 * i + 1))} << 16
                : type == s32 ? integer(get(i), s.form.get(Field::satfinite, 0) == 1)
                              : std::bit_cast<std::uint32_t>(static_cast<float>(get(i)));
        }
        write_reg(m, registers[r], words);
    }
}

/// Products and integer sums are exact; sums of floats are computed in binary64 and rounded once.
void run_mma(const Step& s, Machine& m) {
    const int k = s.form.get(Field::k);
    std::vector<float> a(static_cast<std::size_t>(rows * k)), b(static_cast<std::size_t>(columns * k));
    read_operand(m, s.operands[1].list, s.form.type(Field::a), rows, k, a.data());
    read_operand(m, s.operands[2].list, s.form.type(Field::b), columns, k, b.data());
    Result result;
    read_result(m, s.operands[3].list, s.form.type(Field::d), result);
    const bool differs = s.form.has(Field::op) && spelled(Field::op, s.form.get(Field::op)) == "xor.popc";
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const float *x = a.data() + row * k, *y = b.data() + column * k;
            double& sum = result[static_cast<std::size_t>(row * columns + column)];
            for (int i = 0; i < k; ++i)
                sum += differs ? (x[i] != y[i] ? 1.0 : 0.0)
                               : static_cast<double>(x[i]) * static_cast<double>(y[i]);
        }
    write_result(s, m, result);
}

// --- the record ----------------------------------------------------------------------------------------

/// The legal k of a type are those for which A takes two registers, or four; the last one is the default.
Row form(std::initializer_list<Type> d, std::initializer_list<Type> a, std::initializer_list<Type> b,
         std::initializer_list<int> k, std::vector<Choice> tail = {}, PtxVersion min_ptx = {7, 8}) {
    Row row{{among(Field::m, {rows}), among(Field::n, {columns}), among(Field::k, k, *(k.end() - 1)),
             types(Field::d, d), types(Field::a, a), types(Field::b, b)},
            min_ptx};
    row.choices.insert(row.choices.end(), tail.begin(), tail.end());
    return row;
}

OperandRule fragment(std::string_view name, Access access, Type (*type)(const Form&),
                     int (*count)(const Form&)) {
    return {name, access, Rule::list, type, count, false, {}, {}};
}

}  // namespace

std::span<const Instruction> mma_family() {
    static const std::vector<Instruction> list{
        {.name = "mma.sync",
         .summary = "D = A * B + C of a warp, 16 x 8, with all operands in registers",
         .section = "9.7.14.5.14",
         .rows = {form({f16, f32}, {f16}, {f16}, {8, 16}), form({f32}, {bf16}, {bf16}, {8, 16}),
                  form({f32}, {tf32}, {tf32}, {4, 8}),
                  form({f32}, {e4m3, e5m2}, {e4m3, e5m2}, {32}, {}, {8, 4}),
                  form({s32}, {s8, u8}, {s8, u8}, {16, 32}, {flag(Field::satfinite)}),
                  form({s32}, {b1}, {b1}, {128, 256}, {spelled_as(Field::op, {"and.popc", "xor.popc"})})},
         .operands = {fragment("d", Access::out, mma::d_type, d_count),
                      fragment("a", Access::in, mma::a_type, a_count),
                      fragment("b", Access::in, mma::b_type, b_count),
                      fragment("c", Access::in, mma::d_type, d_count)},
         .ptx =
             "mma.sync.aligned.m{m}n{n}k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d}{.op} {%d}, {%a}, {%b}, {%c}",
         .taken_by = Participants::warp,
         .work = Work::products,
         .effects =
             [](const Step& s, Effects& e) {
                 e.multiply(
                     {&s.operands[0].list, &s.operands[1].list, &s.operands[2].list, &s.operands[3].list});
             },
         .value = [](const Step&, const ValueOf&) { return Value{}; },  // each lane has different elements
         .run = run_mma},
    };
    return list;
}

}  // namespace wgrun::isa
