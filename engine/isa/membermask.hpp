// The lanes that execute shfl, vote, match, redux, elect and bar.warp.sync together.
#pragma once

#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The operand that names lanes of the warp; the whole warp where it is left out.
OperandRule membermask(bool by_name);

/// Returns the operand of the step that names lanes of its warp, or null if the instruction has none.
const Operand* membermask_of(const Step& step);

/// Returns, by lane, the lanes that execute the step together with it: those that its membermask names and
/// that have not ended. None for lanes that do not execute it. Throws unless all of them execute it, with the
/// same membermask (PTX ISA 9.7.13.2).
Lanes<Mask> parties(const Step& step, Machine& machine);

/// Calls visit(party) once for each party of the active lanes.
template <class Visit>
void for_each_party(const Lanes<Mask>& parties, Mask active, Visit visit) {
    while (active != 0) {
        const Mask party = parties[static_cast<std::size_t>(std::countr_zero(active))];
        visit(party);
        active &= ~party;
    }
}

}  // namespace wgrun::isa
