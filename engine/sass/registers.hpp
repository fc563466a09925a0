// Which registers an instruction of machine code reads and writes: as its text says, with the widths that its
// mnemonic gives.
#pragma once

#include <array>
#include <span>

#include "sass/instruction.hpp"

namespace wgrun::sass {

/// What a product does with registers.
struct Product {
    int n = 0, k = 0;  ///< 64 x n x k
    bool sparse = false;
    bool ends_group = false;                     ///< gsb0: it is the last one of its group
    Registers accumulators, fragment, metadata;  ///< fragment: of A; none: A is in shared memory
    bool reads_accumulators = true;              ///< false where C is RZ
};
/// Of an instruction whose record says so.
Product product_of(const Instruction& instruction);

/// The registers that it writes; count 0: none. Those of a product are written later, and not among them.
Registers written(const Instruction& instruction);

/// Calls visit(registers) for each operand that it reads, but for those of a product, which are read later.
template <class Visit>
void for_each_read(const Instruction& instruction, Visit visit);

/// The bytes of each thread that a memory access moves.
int access_bytes(const Instruction& instruction);

namespace detail {
struct Reads {
    std::array<Registers, 8> list{};
    std::size_t count = 0;
};
Reads reads_of(const Instruction& instruction);
}  // namespace detail

template <class Visit>
void for_each_read(const Instruction& instruction, Visit visit) {
    const detail::Reads reads = detail::reads_of(instruction);
    for (std::size_t i = 0; i < reads.count; ++i) visit(reads.list[i]);
}

}  // namespace wgrun::sass
