// Observing a simulation: what a debugger needs to know about the machine, and when it is called.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/warp.hpp"
#include "sim/code.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::sim {

class Cluster;

/// A view of a cluster between two operations. Warps are numbered through all of its CTAs.
class View {
  public:
    enum class State : std::uint8_t { ready, waits, ended };
    struct Warp {
        Dim3 cta;      ///< in the grid
        int rank = 0;  ///< of that CTA in the cluster
        int warp = 0;  ///< in that CTA
        std::uint32_t pc = 0;
        isa::Mask all = 0, running = 0;  ///< lanes that exist, and those of the current path
        State state = State::ready;
        std::string waits_for;  ///< "at barrier 1: 64 of 128 threads have arrived"
        std::uint32_t waits_at = no_pc;
    };
    struct Mbarrier {
        std::uint32_t offset = 0;  ///< bytes from the start of the CTA's shared memory
        bool live = false;
        std::uint32_t phase = 0;
        std::int64_t expected = 0, pending = 0;  ///< arrivals
        std::int64_t bytes = 0;                  ///< that are expected but have not been delivered
        std::uint32_t made = no_pc;              ///< where it is initialised
    };

    explicit View(Cluster& cluster) : cluster_(&cluster) {}

    const Program& program() const;
    const Code& code() const;
    std::uint64_t steps() const;  ///< warp instructions executed so far
    int warps() const;
    Warp warp(int warp) const;
    int ctas() const;
    Dim3 cta(int rank) const;
    /// Returns the 32 lanes of a register: 4 bytes each for predicates and types up to 32 bits, else 8.
    const std::byte* lanes_of(int warp, isa::Reg reg) const;
    isa::Mask written(int warp, isa::Reg reg) const;  ///< lanes that have a value
    bool in_flight(int warp, isa::Reg reg) const;     ///< whether a wgmma may still use it
    std::span<const std::byte> shared(int rank) const;
    std::vector<Mbarrier> mbarriers(int rank) const;
    /// Returns a pointer to global memory, or null where no tensor holds all these bytes.
    const std::byte* global(std::uint64_t address, int bytes) const;
    std::string global_place(std::uint64_t address) const;  ///< "`c` + 32"
    std::uint64_t param(int index) const;
    std::span<const Diagnostic> findings() const;  ///< so far
    std::uint32_t pc(int warp) const;              ///< the same as warp(warp).pc, but cheaper
    /// Returns, after a step, the lanes that have executed it.
    isa::Mask executed() const;

  private:
    Cluster* cluster_;
};

/// An event for which others wait, or the end of a wait: the edges between the warps of a run.
struct Signal {
    enum class Kind : std::uint8_t {
        arrival,  ///< a lane arrives at an mbarrier, in its phase `phase`
        passed,   ///< `phase` of an mbarrier is complete, and the warp knows; no_phase: none was complete
                  ///< before
        copy,     ///< a copy begins whose bytes `phase` of an mbarrier counts
        store,    ///< a bulk copy from shared to global memory begins
        commit,   ///< the bulk copies so far are committed as a group
        drained,  ///< at most `phase` groups of bulk copies run; bytes 1: the others have been read
        meeting,  ///< the warp arrives at barrier `place` of the CTA; bytes 1: and waits there
        met,      ///< all warps have arrived at barrier `place`
        cluster_arrival,  ///< the warp arrives in `phase` of the cluster's barrier
        cluster_passed,   ///< that phase is complete, and the warp knows
    };
    static constexpr std::uint32_t no_phase = UINT32_MAX;
    Kind kind;
    int rank = 0;              ///< the CTA of the cluster to which the barrier belongs
    std::uint32_t place = 0;   ///< of an mbarrier: bytes from the start of shared memory
    std::uint32_t phase = 0;   ///< counted from 0
    std::uint32_t bytes = 0;   ///< that a copy moves
    std::uint64_t global = 0;  ///< the tensor map or address that it reads or writes; 0: shared memory
};

/// Is called on the thread that simulates. An exception that it throws ends the run. (Hidden, though a public
/// header names it.)
class __attribute__((visibility("hidden"))) Observer {
  public:
    virtual ~Observer() = default;
    virtual void begin(View) {}  ///< a cluster begins
    /// The warp is about to execute the operation at its pc: a step, a branch or its end.
    virtual void before(View, int /*warp*/) {}
    virtual void after(View, int /*warp*/, std::uint32_t /*pc*/) {}
    /// The bytes of a copy have moved. A thread (of the cluster) issued it at that operation.
    virtual void landed(View, std::uint32_t /*pc*/, int /*thread*/) {}
    /// A step of the warp gives a signal, between before() and after().
    virtual void signal(View, int /*warp*/, const Signal&) {}
    virtual void ended(View) {}  ///< the cluster has ended, or nothing in it can continue
};

}  // namespace wgrun::sim
