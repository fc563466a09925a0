// The matrices in shared memory that a wgmma reads through its descriptors, and whether a descriptor fits the
// tile that it points into (PTX ISA 9.7.15.5.1.2). The checker asks before the kernel runs, of the
// descriptors that it knows; the simulator asks of all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/effects.hpp"
#include "rules/rule_message.hpp"
#include "wgrun/program.hpp"

namespace wgrun::machine {

/// A matrix operand of a wgmma.
struct Matrix {
    char name;  ///< 'A' or 'B'
    int rows;   ///< M or N extent, elements
    int k_bytes;
    int element_bits;
    bool mn_major;  ///< as the instruction reads it

    static Matrix a(const isa::AsyncMma& mma) {
        return {'A', mma.rows_a, mma.k_bytes_a, mma.element_bits_a, mma.a_mn_major};
    }
    static Matrix b(const isa::AsyncMma& mma) {
        return {'B', mma.rows_b, mma.k_bytes_b, mma.element_bits_b, mma.b_mn_major};
    }
    int lines() const { return mn_major ? k_bytes * 8 / element_bits : rows; }  ///< of contiguous elements
};

/// Returns the addresses of the 16-byte units that wgmma reads through a descriptor, line by line.
std::vector<std::uint32_t> units(const Descriptor& descriptor, const Matrix& matrix);

/// A law that a descriptor breaks; `buffer`: its place is where the buffer was declared, not the step.
struct Misfit {
    rules::RuleMessage message;
    bool at_buffer = false;
};

/// The shared buffer's alignment, in the program, does not suit the swizzle: WG-DESC-04.
std::optional<Misfit> misaligned(const SharedBuffer& buffer, SwizzleMode swizzle, const Program& program);
/// Returns, in words, what is no fault then, of the facts of a WG-DESC-04: where the driver places the only
/// variable in shared memory decides, and the text asks for less; nothing where the kernel itself decides.
std::optional<std::string> granted_place(std::span<const Fact> facts);
/// A matrix that starts so many bytes into `buffer` starts inside of the swizzle's pattern, by its
/// descriptor: WG-DESC-04. Of buffers without a tile: of others misplaced() knows more.
std::optional<Misfit> inside_pattern(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset,
                                     const Descriptor& descriptor);
/// The tile of `buffer` is not what the instruction reads: WG-DESC-03, -01.
std::optional<Misfit> unlike(const Matrix& matrix, const SharedBuffer& buffer, Where step);
/// No block of the tile of `buffer` starts so many bytes into the buffer, or it leaves the tile, or `fields`
/// are not those of the tile: WG-DESC-02, -01.
std::optional<Misfit> misplaced(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset,
                                const std::optional<Descriptor>& fields);

/// A descriptor that was made of the address of `buffer` starts so many bytes from its start, outside of it:
/// WG-DESC-03.
std::optional<Misfit> astray(const Matrix& matrix, const SharedBuffer& buffer, std::int64_t offset);

/// Returns how many tiles the buffer has; 1 if it is none.
int stages(const SharedBuffer& buffer);

}  // namespace wgrun::machine
