// The order of memory, as the qualifiers of a step speak of it, and what a step waits for.
#pragma once

#include <cstdint>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Threads of the CTA, the cluster, the GPU, the system (PTX ISA 8.5), each with those before.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

/// What an access or a fence says of the order of memory (PTX ISA 8). Weak accesses say nothing.
struct MemoryOrder {
    bool strong = false;  ///< may meet with others that are strong, in the scopes of both
    bool acquire = false, release = false;
    Scope scope = Scope::cta;
};

/// What the qualifiers of a step say of the order of memory.
MemoryOrder order_of(const Step& step);

/// The same of an arrival at a barrier, which releases where it does not say.
MemoryOrder arrival_order(const Step& step);

/// What the step waits for: what its record says, or memory, where it is a strong access that gives what it
/// finds (a loop around it may wait for a value).
Awaits awaited_by(const Step& step);

}  // namespace wgrun::isa
