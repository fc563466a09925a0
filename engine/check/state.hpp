// The state that the checker carries along a path: of a warpgroup that executes it, and of the shared memory
// that it sees.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "check/chunks.hpp"
#include "check/fact.hpp"
#include "check/value.hpp"
#include "rules/wgmma_words.hpp"

namespace wgrun::check {

/// Bytes of a shared buffer. Tiles are followed as a whole, one cell a stage; other buffers are one cell.
/// Without a cell nothing is known.
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

using rules::name_of;
using rules::Part;

/// A register that a wgmma accesses somewhere in the program.
struct RegisterState {
    Fact touched;  ///< read or written by a thread since the last wgmma.fence
    const Step* touched_by = nullptr;
    /// The accumulator of a wgmma of this shape since the last wgmma.fence. Of more than two shapes two are
    /// followed.
    struct Use {
        Fact fact;
        int shape = 0;
        const Step* mma = nullptr;
        bool operator==(const Use&) const = default;
    };
    std::array<Use, 2> used;

    bool operator==(const RegisterState&) const = default;
};

/// Something asynchronous that is waited for in groups.
struct Grouped {
    Fact pending;                  ///< no wait_group has covered it
    int age = uncommitted;         ///< of its group: 0 the youngest; the least on all paths
    const Step* waited = nullptr;  ///< a wait_group that came before the commit
    const Step* committed = nullptr;

    static constexpr int uncommitted = -1;
    bool operator==(const Grouped&) const = default;
};

/// A wgmma on its way. The register file and the tiles it reads are free again at different times.
struct Flight : Grouped {
    const Step* mma = nullptr;
    int shape = 0;
    Region a, b;
    Fact retired;  ///< waited for by this warpgroup, but no barrier yet: others may not be as far

    static constexpr int oldest = 7;  ///< wait_group does not tell older groups apart
    bool same_place(const Flight& other) const { return mma == other.mma && a == other.a && b == other.b; }
    bool operator==(const Flight&) const = default;
};

/// A cp.async on its way.
struct CopyFlight : Grouped {
    const Step* step = nullptr;
    Region region;

    static constexpr int oldest = 64;
    bool same_place(const CopyFlight& other) const { return step == other.step && region == other.region; }
    bool operator==(const CopyFlight&) const = default;
};

/// Generic-proxy writes to a cell that wgmma may not read yet, by what they lack.
struct CellState {
    struct Write {
        Fact fact;
        const Step* step = nullptr;
        Region region;
        bool operator==(const Write&) const = default;
    };
    Write raw;      ///< neither proxy fence nor barrier
    Write fenced;   ///< a fence.proxy.async, no barrier
    Write ordered;  ///< a barrier, no fence.proxy.async
    /// Some cp.async to the cell has been waited for: others may bring other parts of it.
    bool arrived = false;

    bool operator==(const CellState&) const = default;
};

/// A wait_group 0, and the wgmma that it has waited for, as long as nothing has needed that.
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
    Chunks<Known> values;             ///< by Reg::id
    Chunks<RegisterState> registers;  ///< by slot
    std::vector<Flight> flights;
    std::vector<CopyFlight> copies;
    std::vector<CellState> cells;
    Fact unfenced = Fact::always();     ///< no wgmma.fence so far
    const Step* proxy_fence = nullptr;  ///< the last one, of whatever space
    Drain drain;                        ///< followed for performance() alone

    bool operator==(const State&) const = default;

    void order_registers();
    void commit(const Step& step);
    /// `others`: other warpgroups may run the same wgmma.
    void wait(const Step& step, int pending, bool others);
    void fence_proxies();
    void barrier();
    /// Threads write to the region through the generic proxy.
    void write(const Step& step, const Region& region, const Fact& fact);
    void copy(const Step& step, const Region& region);
    void commit_copies();
    /// Those whose groups are at least `pending` groups old have come; nothing: all of them.
    void wait_copies(std::optional<int> pending);
};

/// Where two ways meet that `condition` chose between.
State join(const State& a, const State& b, const Decision& decision, const Known& condition,
           const void* place);

/// Makes every fact doubtful in which `a` and `b` differ: for loops whose facts do not settle.
void doubt_differences(State& a, const State& b);

}  // namespace wgrun::check
