// Matrices in the registers of a warp, for tests of mma.sync and mma.sp: any layout, as a function.
#pragma once

#include <random>
#include <vector>

#include "number/number.hpp"
#include "tests/unit/isa/bench.hpp"

namespace bench {

struct Place {
    int row, column;
};

struct Matrix {
    Matrix(int rows_in, int columns_in)
        : rows(rows_in), columns(columns_in), values(static_cast<std::size_t>(rows * columns)) {}
    int rows, columns;
    std::vector<double> values;
    double& at(int row, int column) { return values[static_cast<std::size_t>(row * columns + column)]; }
    double at(int row, int column) const { return values[static_cast<std::size_t>(row * columns + column)]; }
};

/// Returns a matrix of small integers, which every type holds exactly.
inline Matrix small_integers(Type type, int rows, int columns, std::mt19937& random) {
    const bool natural = type == Type::u8 || type == Type::u4 || type == Type::b1;
    Matrix out(rows, columns);
    for (double& value : out.values) {
        value = static_cast<double>(random() % (type == Type::b1 ? 2U : 8U)) - (natural ? 0 : 4);
    }
    return out;
}

inline Raw encoded_element(Type type, double value) {
    if (type == Type::f64) return std::bit_cast<Raw>(value);
    if (isa::bits(type) == 4) return static_cast<Raw>(static_cast<int>(value)) & 15U;
    if (type == Type::b1) return value != 0 ? 1 : 0;
    std::uint32_t word = 0;
    encode(*parse_dtype(isa::to_string(type)), std::span(&value, 1),
           std::as_writable_bytes(std::span(&word, 1))
               .first(static_cast<std::size_t>(std::max(8, isa::bits(type)) / 8)));
    return word;
}

inline double decoded_element(Type type, Raw bits) {
    if (type == Type::f64) return std::bit_cast<double>(bits);
    const auto word = static_cast<std::uint32_t>(bits);
    double value = 0;
    decode(*parse_dtype(isa::to_string(type)),
           std::as_bytes(std::span(&word, 1)).first(static_cast<std::size_t>(isa::bits(type) / 8)),
           std::span(&value, 1));
    return value;
}

/// Returns registers that hold the matrix's elements, so many in all lanes together: element i of a lane is
/// at place(lane, i).
template <class Where>
std::vector<Reg> put(Machine& m, Type type, int elements, const Matrix& from, Where place) {
    const int width = isa::bits(type), in_register = std::max(32, width) / width;
    std::vector<Reg> out;
    for (int first = 0; first < elements / lanes; first += in_register) {
        Lanes words{};
        for (int lane = 0; lane < lanes; ++lane)
            for (int i = 0; i < in_register; ++i) {
                const Place at = place(lane, first + i);
                words[static_cast<std::size_t>(lane)] |= encoded_element(type, from.at(at.row, at.column))
                                                         << (in_register == 1 ? 0 : i * width);
            }
        out.push_back(m.put(width == 64 ? Type::b64 : Type::b32, words));
    }
    return out;
}

/// Reads such registers.
template <class Where>
Matrix get(Machine& m, const std::vector<Reg>& registers, Type type, int rows, int columns, Where place) {
    const int width = isa::bits(type), in_register = std::max(32, width) / width;
    Matrix out(rows, columns);
    for (int r = 0; r < static_cast<int>(registers.size()); ++r) {
        const Lanes words = m.get(registers[static_cast<std::size_t>(r)]);
        for (int lane = 0; lane < lanes; ++lane)
            for (int i = 0; i < in_register; ++i) {
                const Place at = place(lane, r * in_register + i);
                const Raw bits = words[static_cast<std::size_t>(lane)] >> (in_register == 1 ? 0 : i * width);
                out.at(at.row, at.column) =
                    decoded_element(type, width == 64 ? bits : bits & ((Raw{1} << width) - 1));
            }
    }
    return out;
}

/// C and D of m8n8 and m16n8, of every type: 9.7.14.5.
inline Place place_of_c(int lane, int i) { return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; }

}  // namespace bench
