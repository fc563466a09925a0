// The memory order that the qualifiers of a step ask for, and what a step waits for.
#pragma once

#include <cstdint>
#include <string_view>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The threads of the CTA, the cluster, the GPU, the system (PTX ISA 8.5). Each scope includes those before
/// it.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
/// Returns its name in PTX, without the dot.
std::string_view name_of(Scope scope);

/// The memory order of an access or a fence (PTX ISA 8). Weak accesses have none.
struct MemoryOrder {
    bool strong = false;  ///< does not race with other strong accesses, in the scopes of both
    bool acquire = false, release = false;
    Scope scope = Scope::cta;
    /// Bytes that it accesses at once: an element of a vector or of a packed type (8.2.2, 8.2.3); 0: it
    /// accesses none. Strong accesses race with those of another size all the same: they do not overlap
    /// completely (8.7).
    int unit = 0;
};

/// Returns the memory order of a step, by its qualifiers.
MemoryOrder order_of(const Step& step);

/// Returns the same for an arrival at a barrier, which releases by default.
MemoryOrder arrival_order(const Step& step);

/// Returns what the step waits for, by its record. A strong access that returns what it finds waits for
/// memory (a loop around it may wait for a value).
Awaits awaited_by(const Step& step);

/// Returns whether the registers after the step follow from those before it, whatever else it does.
bool keeps_to_registers(const Step& step);

}  // namespace wgrun::isa
