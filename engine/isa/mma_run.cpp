// What the products of a warp compute: fragments in registers, PTX ISA 9.7.14.5, and the sums.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "isa/effects.hpp"
#include "isa/lanes.hpp"
#include "isa/mma.hpp"
#include "isa/wgmma.hpp"
#include "number/number.hpp"

namespace wgrun::isa::mma {
namespace {

using enum Type;

/// The element of a line, a row of A or a column of B, with which a register of a lane begins.
struct Beginning {
    int line, first;
};
/// Register r of lane l holds `run` neighbours along K, of line l / 4, from run * (l % 4) on. In A, every
/// other register is 8 rows further down, and K continues after as many registers as there are halves of
/// rows.
Beginning beginning(int lane, int r, int lines, int run) {
    const int halves = lines / 8;
    return {lane / 4 + 8 * (r % halves), 4 * run * (r / halves) + run * (lane % 4)};
}

/// The element of D or C that lane l holds as number `value`.
struct Place {
    int row, column;
    std::size_t index() const { return static_cast<std::size_t>(row * columns + column); }
};
Place place(int lane, int value) { return {lane / 4 + 8 * (value / 2), 2 * (lane % 4) + value % 2}; }

/// Returns the elements in registers of a type, those of the first lane first.
std::vector<float> numbers(Type type, const Lanes<std::uint32_t>& words) {
    const int run = 32 / bits(type);
    std::vector<float> out(static_cast<std::size_t>(lanes * run));
    if (bits(type) == 4) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const auto digit = static_cast<int>(words[i / 8] >> 4 * (i % 8) & 15U);
            out[i] = static_cast<float>(is_signed(type) && digit > 7 ? digit - 16 : digit);
        }
    } else {
        decode(*parse_dtype(to_string(type)), std::as_bytes(std::span(words)), std::span(out));
    }
    return out;
}

/// Calls put(line, i, value) with the elements of an operand.
template <class Put>
void read_lines(Machine& m, const std::vector<Reg>& registers, Type type, int lines, Put put) {
    const int run = 32 / bits(type);
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        const std::vector<float> values =
            numbers(type, read_reg<std::uint32_t>(m, registers[static_cast<std::size_t>(r)]));
        for (int l = 0; l < lanes; ++l) {
            const auto [line, first] = beginning(l, r, lines, run);
            for (int i = 0; i < run; ++i) put(line, first + i, values[static_cast<std::size_t>(l * run + i)]);
        }
    }
}

std::vector<double> read_c(Machine& m, const std::vector<Reg>& registers, Type type, int rows) {
    std::vector<double> out(static_cast<std::size_t>(rows * columns));
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        const Lanes<std::uint32_t> words = read_reg<std::uint32_t>(m, registers[static_cast<std::size_t>(r)]);
        for (int l = 0; l < lanes; ++l) {
            const std::uint32_t word = words[static_cast<std::size_t>(l)];
            if (type == f16) {
                out[place(l, 2 * r).index()] = from_f16(static_cast<std::uint16_t>(word));
                out[place(l, 2 * r + 1).index()] = from_f16(static_cast<std::uint16_t>(word >> 16));
            } else {
                out[place(l, r).index()] = type == s32
                                               ? static_cast<double>(std::bit_cast<std::int32_t>(word))
                                               : static_cast<double>(std::bit_cast<float>(word));
            }
        }
    }
    return out;
}

std::uint32_t integer(double sum, bool saturate) {
    const auto exact = static_cast<std::int64_t>(sum);
    return static_cast<std::uint32_t>(saturate ? std::clamp<std::int64_t>(exact, INT32_MIN, INT32_MAX)
                                               : exact);
}
std::uint32_t half(double sum) { return std::isnan(sum) ? half_nan : to_f16(sum); }
std::uint32_t single(double sum) { return std::bit_cast<std::uint32_t>(settled(static_cast<float>(sum))); }

void write_d(const Step& s, Machine& m, std::span<const double> result) {
    const Type type = s.form.type(Field::d);
    const bool saturate = s.form.get(Field::satfinite, 0) == 1;
    const std::vector<Reg>& registers = s.operands[0].list;
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        Lanes<std::uint32_t> words;
        for (int l = 0; l < lanes; ++l) {
            const auto get = [&](int value) { return result[place(l, value).index()]; };
            words[static_cast<std::size_t>(l)] = type == f16   ? half(get(2 * r)) | half(get(2 * r + 1)) << 16
                                                 : type == s32 ? integer(get(r), saturate)
                                                               : single(get(r));
        }
        write_reg(m, registers[static_cast<std::size_t>(r)], words);
    }
}

/// Adds the products of integers, exactly.
void add_integers(const Form& form, const Factors& f, std::span<double> d) {
    const bool differs = form.has(Field::op) && spelled(Field::op, form.get(Field::op)) == "xor.popc";
    for (int row = 0; row < f.rows; ++row)
        for (int i = 0; i < f.stored; ++i) {
            const auto at = static_cast<std::size_t>(row * f.stored + i);
            const float x = f.a[at], *y = f.b.data() + std::ptrdiff_t{f.k_of_a[at]} * columns;
            for (int j = 0; j < columns; ++j)
                d[Place{row, j}.index()] += differs ? (x != y[j] ? 1 : 0) : double{x} * y[j];
        }
}

/// The exponents by which products are aligned, of A and of B.
struct Exponents {
    std::vector<int> a, b;
};
Exponents exponents_of(const Factors& f, Type a, Type b) {
    Exponents out{std::vector<int>(f.a.size()), std::vector<int>(f.b.size())};
    exponents(a, f.a, out.a);
    exponents(b, f.b, out.b);
    return out;
}

/// Products of 8-bit floats are two of f16 to the assembler: the first one of the lower halves of A's
/// registers, the other one of the upper halves; then it adds C.
void add_in_halves(const Factors& f, std::span<double> d) {
    const Exponents exponents = exponents_of(f, f16, f16);
    const MatrixB b{f.b, columns, exponents.b};
    for (int row = 0; row < f.rows; ++row) {
        std::array<double, columns> sums{};
        for (const int half : {0, 1}) {
            std::vector<float> values;
            std::vector<int> k, those;
            for (int i = 0; i < f.stored; ++i) {
                if (i % 4 / 2 != half) continue;
                const auto at = static_cast<std::size_t>(row * f.stored + i);
                values.push_back(f.a[at]);
                k.push_back(f.k_of_a[at]);
                those.push_back(exponents.a[at]);
            }
            add_aligned(accumulation_of_h200(f16), f32, {values, k}, those, b, sums);
        }
        for (int j = 0; j < columns; ++j) {
            double& to = d[Place{row, j}.index()];
            to = static_cast<float>(to) + static_cast<float>(sums[static_cast<std::size_t>(j)]);
        }
    }
}

void run_doubles(const std::vector<double>& a, const std::vector<double>& b, int rows, int k,
                 std::vector<double>& d) {
    for (int row = 0; row < rows; ++row)
        for (int j = 0; j < columns; ++j) {
            double& sum = d[Place{row, j}.index()];
            for (int i = 0; i < k; ++i)
                sum = std::fma(a[static_cast<std::size_t>(row * k + i)],
                               b[static_cast<std::size_t>(j * k + i)], sum);
        }
}

}  // namespace

int registers(int elements, Type type) { return elements * bits(type) / (lanes * std::max(32, bits(type))); }

void multiplies(const Step& s, Effects& e) {
    e.multiply({&s.operands[0].list, &s.operands[1].list, &s.operands[2].list, &s.operands[3].list});
}

Factors read_factors(const Step& s, Machine& m, int stored) {
    Factors f{s.form.get(Field::m), stored, s.form.get(Field::k), {}, {}, {}};
    f.a.resize(static_cast<std::size_t>(f.rows * f.stored));
    f.b.resize(static_cast<std::size_t>(f.k * columns));
    read_lines(m, s.operands[1].list, s.form.type(Field::a), f.rows, [&](int row, int i, float value) {
        f.a[static_cast<std::size_t>(row * f.stored + i)] = value;
    });
    read_lines(m, s.operands[2].list, s.form.type(Field::b), columns, [&](int column, int i, float value) {
        f.b[static_cast<std::size_t>(i * columns + column)] = value;
    });
    f.k_of_a.resize(f.a.size());
    for (std::size_t i = 0; i < f.k_of_a.size(); ++i) f.k_of_a[i] = static_cast<int>(i) % f.stored;
    return f;
}

void add_floats(const Form& form, const Numerics& numerics, const Factors& f, std::span<double> d) {
    const Type a = form.type(Field::a);
    const bool exact = numerics.model == Numerics::Model::exact;
    const bool as_h200 = numerics.model == Numerics::Model::h200;
    if (as_h200 && bits(a) == 8) return add_in_halves(f, d);
    const Accumulation model = as_h200 ? accumulation_of_h200(a) : numerics.given;
    const Exponents exponents = exact ? Exponents{} : exponents_of(f, a, form.type(Field::b));
    const MatrixB b{f.b, columns, exponents.b};
    const auto stored = static_cast<std::size_t>(f.stored);
    for (std::size_t row = 0; row < static_cast<std::size_t>(f.rows); ++row) {
        const RowOfA line{std::span(f.a).subspan(row * stored, stored),
                          std::span(f.k_of_a).subspan(row * stored, stored)};
        const std::span<double> sums = d.subspan(row * columns, columns);
        if (exact)
            add_products(line, b, sums);
        else
            add_aligned(model, form.type(Field::d), line,
                        std::span(exponents.a).subspan(row * stored, stored), b, sums);
    }
}

void multiply(const Step& s, Machine& m, const Factors& factors) {
    const Type type = s.form.type(Field::d);
    std::vector<double> d = read_c(m, s.operands[3].list, type, factors.rows);
    if (type == s32)
        add_integers(s.form, factors, d);
    else
        add_floats(s.form, m.numerics(), factors, d);
    write_d(s, m, d);
}

void multiply_doubles(const Step& s, Machine& m) {
    const int rows = s.form.get(Field::m), k = s.form.get(Field::k);
    const auto lines = [&](const std::vector<Reg>& registers, int count) {
        std::vector<double> out(static_cast<std::size_t>(count * k));
        for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
            const Lanes<double> values = read_reg<double>(m, registers[static_cast<std::size_t>(r)]);
            for (int l = 0; l < lanes; ++l) {
                const auto [line, first] = beginning(l, r, count, 1);
                out[static_cast<std::size_t>(line * k + first)] = values[static_cast<std::size_t>(l)];
            }
        }
        return out;
    };
    const std::vector<double> a = lines(s.operands[1].list, rows), b = lines(s.operands[2].list, columns);
    std::vector<double> d(static_cast<std::size_t>(rows * columns));
    const auto for_each = [&](const std::vector<Reg>& registers, auto visit) {
        for (int r = 0; r < static_cast<int>(registers.size()); ++r)
            visit(registers[static_cast<std::size_t>(r)],
                  [&, r](int lane) -> double& { return d[place(lane, r).index()]; });
    };
    for_each(s.operands[3].list, [&](Reg reg, auto at) {
        const Lanes<double> values = read_reg<double>(m, reg);
        for (int l = 0; l < lanes; ++l) at(l) = values[static_cast<std::size_t>(l)];
    });
    run_doubles(a, b, rows, k, d);
    for_each(s.operands[0].list, [&](Reg reg, auto at) {
        Lanes<double> values;
        for (int l = 0; l < lanes; ++l) values[static_cast<std::size_t>(l)] = at(l);
        write_reg(m, reg, values);
    });
}

}  // namespace wgrun::isa::mma
