// Instructions that the table lacks: PTX as text, with typed operands and declared effects.
#pragma once

#include <string>
#include <vector>

#include "wgrun/isa.hpp"

#pragma GCC visibility push(default)

namespace wgrun::isa {

/// What k:asm is given.
struct InlinePtx {
    struct Place {
        std::string name;
        Access access = Access::in;
        Type type = Type::none;
        bool operator==(const Place&) const = default;
    };
    std::string text;                    ///< one or more statements; operands are written %name
    std::vector<Place> places;           ///< the operands, in the order of the step
    bool declared = false;               ///< the three below say all; otherwise nothing is known
    bool reads = false, writes = false;  ///< memory
    bool synchronises = false;           ///< with other threads, or orders memory
    bool simulated = false;              ///< steps of simulated_only follow that mean the same
    PtxVersion min_ptx{8, 0};
    bool operator==(const InlinePtx&) const = default;
};

/// The record of an instruction with that text, equal for equal ones; it lives as long as the process. The
/// simulator refuses it unless `simulated`. Throws ArgumentError for a text without a statement, for a name
/// behind % that is neither an operand nor a special register, for an operand that the text does not name,
/// and for more than 4 MiB of such texts in all.
const Instruction& inline_ptx(InlinePtx request);

/// What a record of inline_ptx was made of; null for any other.
const InlinePtx* inline_ptx_of(const Instruction& op);

/// The same instruction for the simulator and the checker alone: it has no text.
const Instruction& simulated_only(const Instruction& op);

}  // namespace wgrun::isa

#pragma GCC visibility pop
