// The state that the checker carries along a path: that of a warpgroup that executes it, and of the shared
// memory that the warpgroup sees.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "check/fact.hpp"
#include "check/register_values.hpp"
#include "machine/proxies.hpp"
#include "rules/wgmma_words.hpp"

namespace wgrun::check {

/// Bytes of a shared buffer. Tiles are tracked as a whole, one cell per stage; other buffers are one cell
/// each. A region without a cell is unknown.
struct Region {
    int cell = -1;
    std::int64_t lo = 0, hi = 0;  ///< [lo, hi) from the buffer's start, bytes; empty: somewhere in the cell
    bool whole = false;           ///< the cell as a whole

    bool operator==(const Region&) const = default;
    bool overlaps(const Region& other) const {
        if (cell < 0 || cell != other.cell) return false;
        return whole || other.whole || (lo < other.hi && other.lo < hi);
    }
};

using rules::MmaOperand;
using rules::name_of;

/// A register that a wgmma accesses somewhere in the program.
struct RegisterState {
    Fact touched;  ///< read or written by a thread since the last wgmma.fence
    /// Its use as an accumulator of a wgmma of this shape since the last wgmma.fence. Of several shapes, two
    /// are tracked.
    struct Use {
        Fact fact;
        int shape = 0;
        const Step* mma = nullptr;
        bool operator==(const Use&) const = default;
    };
    std::array<Use, 2> used;

    bool operator==(const RegisterState&) const = default;
};

std::size_t hash_of(const RegisterState& state);

/// An asynchronous operation that is waited for in groups.
struct Grouped {
    Fact pending;                  ///< no wait_group has covered it
    int age = uncommitted;         ///< age of its group: 0 the youngest; the least on all paths
    const Step* waited = nullptr;  ///< a wait_group that preceded the commit
    const Step* committed = nullptr;

    static constexpr int uncommitted = -1;
    bool operator==(const Grouped&) const = default;
};

struct MmaRegisters;

/// A wgmma in flight. Its registers and the tiles that it reads become free at different times.
struct InFlightMma : Grouped {
    const Step* mma = nullptr;
    const MmaRegisters* registers = nullptr;
    int shape = 0;
    Region a, b;
    Fact retired;  ///< this warpgroup has waited for it, but there was no barrier yet: others may be behind

    static constexpr int oldest = 7;  ///< wait_group does not distinguish older groups
    bool same_place(const InFlightMma& other) const {
        return mma == other.mma && a == other.a && b == other.b;
    }
    bool operator==(const InFlightMma&) const = default;
};

/// A cp.async in flight.
struct InFlightCopy : Grouped {
    const Step* step = nullptr;
    Region region;

    static constexpr int oldest = 64;
    bool same_place(const InFlightCopy& other) const { return step == other.step && region == other.region; }
    bool operator==(const InFlightCopy&) const = default;
};

/// Writes to a cell that wgmma may not read yet.
struct CellState {
    struct Write {
        Fact fact;
        const Step* step = nullptr;
        Region region;
        explicit operator bool() const { return static_cast<bool>(fact); }
        bool operator==(const Write&) const = default;
    };
    machine::Unpublished<Write> unpublished;
    /// Some cp.async to the cell has been waited for: others may fill other parts of it.
    bool arrived = false;

    bool operator==(const CellState&) const = default;
};

std::size_t hash_of(const CellState& state);

/// A wait_group 0 and the wgmma that it waited for, until something needs that wait.
struct Drain {
    struct Mma {
        const Step* step;
        int shape;
        bool operator==(const Mma&) const = default;
    };
    const Step* wait = nullptr;
    std::vector<Mma> mmas;
    bool operator==(const Drain&) const = default;
};

struct State {
    RegisterValues values;
    using Registers = InternedArray<RegisterState>;
    Registers registers;             ///< by slot
    Chunks<const Step*> touched_by;  ///< by slot: the step that has touched it last
    using MmaGroups = Shared<std::vector<InFlightMma>>;
    MmaGroups flights;
    Shared<std::vector<InFlightCopy>> copies;
    InternedArray<CellState> cells;
    Fact unfenced = Fact::always();     ///< there was no wgmma.fence yet
    const Step* proxy_fence = nullptr;  ///< the last one, of any state space
    Drain drain;                        ///< tracked for performance() alone

    bool operator==(const State&) const = default;

    void order_registers();
    void commit(const Step& step);
    /// `others`: other warpgroups may execute the same wgmma.
    void wait(const Step& step, int pending, bool others);
    void fence_proxies();
    void barrier();
    /// Records a write by threads to the region, through the generic proxy.
    void write(const Step& step, const Region& region, const Fact& fact);
    void copy(const Step& step, const Region& region);
    /// Notes whether a cp.async to the region has been waited for.
    void arrive(const Region& region, bool arrived);
    void commit_copies();
    /// Copies in groups of at least age `pending` are complete; nullopt: all copies are.
    void wait_copies(std::optional<int> pending);
};

/// Makes `a` the state where two paths meet that `condition` chose between. `place` is the branch, loop or
/// step.
void join(State& a, const State& b, const Decision& decision, const Known& condition, const void* place,
          const RegisterSet& live);
/// The same of all but the values of registers.
void join(State& a, const State& b, const Decision& decision);
RegisterState join(const RegisterState& a, const RegisterState& b, const Decision& decision);
void join(State::MmaGroups& a, const State::MmaGroups& b, const Decision& decision);

/// Makes doubtful every fact in which `a` and `b` differ, for loops whose facts reach no fixed point.
void doubt_differences(State& a, const State& b);

}  // namespace wgrun::check
