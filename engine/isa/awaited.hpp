// The operands by which a step says what it waits for, so that nobody else looks for operands by their names.
#pragma once

#include <optional>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Operands of a step; null: it has none of that kind.
struct Awaited {
    const Operand* address = nullptr;  ///< of the mbarrier or the memory at which it looks
    const Operand* parity = nullptr;   ///< of the mbarrier's phase; null: it waits for the phase of a state
    const Operand* passed = nullptr;   ///< the predicate that says that the mbarrier's phase is complete
    const Operand* barrier = nullptr;  ///< of the CTA
    const Operand* threads = nullptr;  ///< the number that this barrier waits for
    std::optional<int> products;       ///< groups of wgmma that may be left
    std::optional<int> registers;      ///< a thread shall have
};
Awaited awaited(const Step& step);

/// Returns the address of the mbarrier that counts the bytes which the step brings later; null: there is
/// none.
const Operand* counting_mbarrier(const Step& step);

}  // namespace wgrun::isa
