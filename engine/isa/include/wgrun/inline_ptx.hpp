// Instructions without a record: PTX as text, with typed operands and declared effects. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "wgrun/isa.hpp"

#pragma GCC visibility push(default)

namespace wgrun::isa {

/// The arguments of k:asm.
struct InlinePtx {
    struct Place {
        std::string name;
        Access access = Access::in;
        Type type = Type::none;
        bool operator==(const Place&) const = default;
    };
    std::string text;                    ///< one or more statements; operands are written %name
    std::vector<Place> places;           ///< the operands, in the order of the step
    bool declared = false;               ///< the next three fields are the effects; else they are unknown
    bool reads = false, writes = false;  ///< the text reads, or writes, memory
    bool synchronises = false;           ///< synchronises with other threads, or orders memory
    bool simulated = false;              ///< steps of simulated_only with the same meaning follow
    PtxVersion min_ptx{8, 0};
    bool operator==(const InlinePtx&) const = default;
};

/// The record of an instruction with that text, without its comments. The simulator refuses to run it unless
/// `simulated`. Throws ArgumentError for a text without a statement, for a name after % that is neither an
/// operand nor a special register, for an operand that the text does not name, for what would reach beyond
/// the text (a comment, a string or a brace without its other end), for control characters, and for more than
/// 1 MiB.
InstructionRef inline_ptx(InlinePtx request);

/// The request that a record of inline_ptx was made from; null for any other record.
const InlinePtx* inline_ptx_of(const Instruction& op);

/// The first instruction of a text without declared effects that accesses memory, synchronises or orders,
/// such as "st.shared.u32"; empty: there is none, or effects are declared, or nothing is.
std::string hidden_effect(const InlinePtx& request);

/// The same instruction, of the table, for the simulator and the checker alone; it emits no text.
const Instruction& simulated_only(const Instruction& op);

}  // namespace wgrun::isa

#pragma GCC visibility pop
