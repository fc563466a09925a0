// Products of a warp with all operands in registers: mma.sync, mma.sp, and what wmma shares with them.
#pragma once

#include <span>
#include <vector>

#include "isa/machine.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa::mma {

inline constexpr int columns = 8;  ///< of D

// --- operands ------------------------------------------------------------------------------------------

/// Floats are packed bits, never an f32; those of 64 bits have registers of their own. Of the integers, the
/// assembler refuses an f32 to those of m8n8k16 alone.
inline Type packed(const Form& form, Type type) {
    if (type == Type::f64) return type;
    const bool bits_only = is_float(type) || (form.get(Field::m) == 8 && bits(type) == 8);
    return bits_only ? Type::f16x2 : Type::b32;
}
inline Type a_type(const Form& form) { return packed(form, form.type(Field::a)); }
inline Type b_type(const Form& form) { return packed(form, form.type(Field::b)); }
inline Type d_type(const Form& form) {
    const Type d = form.type(Field::d);
    return d == Type::f16 ? Type::f16x2 : d;
}

/// Returns the registers of a lane, where the 32 lanes hold that many elements together.
int registers(int elements, Type type);

inline OperandRule fragment(std::string_view name, Access access, Type (*type)(const Form&),
                            int (*count)(const Form&)) {
    return {name, access, OperandRule::list, type, count, false, {}, {}};
}

/// Reports that the lists of a step, D, A, B and C, are those of a product.
void multiplies(const Step& s, Effects& e);

// --- meaning -------------------------------------------------------------------------------------------

/// A and B as numbers. A sparse A has the elements that are stored.
struct Factors {
    int rows, stored, k;
    std::vector<float> a;     ///< [rows][stored]
    std::vector<int> k_of_a;  ///< [rows][stored]: which row of B an element is multiplied with
    std::vector<float> b;     ///< [k][columns]
};

/// Reads A, operand 1, and B, operand 2. Every element of A is at its place in K: a dense A.
Factors read_factors(const Step& s, Machine& m, int stored);

/// Computes D, operand 0, from the factors and C, operand 3.
void multiply(const Step& s, Machine& m, const Factors& factors);

/// Adds the products of floats to d[row][column]. Exactly, in binary64, or as the chip does, by the machine's
/// numerics; the results are still to be rounded to the type of D.
void add_floats(const Form& form, const Numerics& numerics, const Factors& factors, std::span<double> d);

/// The same product of binary64: a chain of fma from C on, in the order of K (docs/silicon.md).
void multiply_doubles(const Step& s, Machine& m);

}  // namespace wgrun::isa::mma
