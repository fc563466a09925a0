// A program flattened for execution: one array of operations, block after block of its control-flow graph.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/divergence.hpp"
#include "isa/order.hpp"
#include "machine/mbarrier.hpp"
#include "sim/attempts.hpp"
#include "wgrun/program.hpp"

namespace wgrun::sim {

inline constexpr std::uint32_t no_reg = UINT32_MAX;
/// Also: the other party of a finding that has none.
using machine::no_pc;
/// The shadow of shared memory names operations with 22 bits.
inline constexpr std::size_t max_ops = (std::size_t{1} << 22) - 1;

/// One operation of the flat code. Every block ends with a jump, a branch or an end.
struct Op {
    enum class Kind : std::uint8_t { step, collective, jump, branch, end };
    Kind kind = Kind::end;
    bool negated = false;              ///< the guard or the condition is negated
    bool aligned = false;              ///< all lanes of a warp must execute it together
    bool grouped = false;              ///< the warps of a warpgroup must execute it together
    bool constant = false;             ///< it loads through ld.global.nc
    bool waits_near = false;           ///< for an mbarrier, with .acquire.cta
    bool quiet = false;                ///< the registers after it follow from those before it
    bool copies = false;               ///< a register into another one, as it is
    bool fixed = false;                ///< it stores what is the same in all executions of a launch
    Attempts attempts = {};            ///< of a wait for an mbarrier
    std::uint32_t reg = no_reg;        ///< guard of a step, condition of a branch
    flow::Divergence::Ways ways = {};  ///< of a branch; of a jump `taken`
    isa::MemoryOrder order = {};       ///< of a step
    std::uint32_t place = 0;           ///< equal for operations of one line of the script
    const isa::Step* step = nullptr;
    Where where;
};

struct Code {
    std::vector<Op> ops;
    /// The offset in bytes of the 32 lanes of each register, from the start of a warp's registers.
    std::vector<std::uint32_t> register_offset;
    std::size_t register_bytes = 0;  ///< of a warp

    bool hands_over = false;  ///< whether it passes values to other clusters: by strong accesses to global
                              ///< memory, of atomics those that acquire, or that a fence does so for; and
                              ///< whether it acquires tensor maps, for which order counts likewise

    /// Whether all clusters do the same, or all CTAs, since none asks which it is.
    bool clusters_alike = false, ctas_alike = false;

    bool discards = false;  ///< whether it leaves global memory without a value

    bool waits_near = false;  ///< whether there are steps that do, in a cluster of several CTAs

    Where where(std::uint32_t pc) const { return ops[pc].where; }
    /// Returns whether two steps of CTAs of one cluster may access the same memory without a race (PTX ISA
    /// 8.7, morally strong).
    bool sizes_differ(std::uint32_t a, std::uint32_t b) const {
        const isa::MemoryOrder &one = ops[a].order, &other = ops[b].order;
        return one.strong && other.strong && one.unit != other.unit;
    }
    bool meet(std::uint32_t a, std::uint32_t b, bool same_cta) const {
        const auto meets = [&](std::uint32_t pc) {
            const isa::MemoryOrder& order = ops[pc].order;
            return order.strong && (same_cta || order.scope > isa::Scope::cta);
        };
        return meets(a) && meets(b) && ops[a].order.unit == ops[b].order.unit;
    }
};

/// Flattens the program. Throws ArgumentError when it has more steps or registers than the simulator can
/// name. The result points into `program`.
Code flatten(const Program& program);

}  // namespace wgrun::sim
