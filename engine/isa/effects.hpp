// What a step does besides computing its destinations from its sources: a record reports it to a listener.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isa/bulk_copy.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// A generic-proxy access of each executing thread to `bytes` consecutive bytes.
struct MemoryAccess {
    Space space;
    bool write;
    const Operand* address;
    int bytes;
};

/// cp.async: its write to shared memory.
struct AsyncCopy : MemoryAccess {
    const Operand* from;  ///< the address in global memory
    bool fills = false;   ///< a register decides whether zeros stand in place of some of the source
};

/// A copy by the bulk-copy engine, for each executing thread. Its memory accesses come later, through the
/// async proxy.
struct BulkAccess {
    BulkCopy::Direction direction;
    const Operand* to = nullptr;      ///< in shared memory; null: it writes to global memory, or nowhere
    const Operand* from = nullptr;    ///< in shared memory; null: it reads global memory
    const Operand* global = nullptr;  ///< the address, or the tensor map; null: from shared to shared memory
    const Operand* coordinates = nullptr;  ///< in the tensor; null: a linear copy
};

/// What a step does to the mbarrier at an address.
struct MbarrierAccess {
    enum class Kind : std::uint8_t {
        init,
        inval,
        expect,    ///< bytes, without an arrival
        complete,  ///< bytes that were expected, without a copy
        arrive,    ///< the step may also expect bytes
        wait       ///< tests whether a phase is complete; the step does not wait for long
    };
    Kind kind;
    const Operand* address;
    const Operand* count = nullptr;  ///< of init and arrive: number of arrivals; null: one
    const Operand* bytes = nullptr;  ///< of expect, complete and arrive; null: none
};

/// An asynchronous matrix multiply: accumulators, A's fragment registers (or none), shared-memory operands.
struct AsyncMma {
    const std::vector<Reg>* accumulators;
    const std::vector<Reg>* a_fragment;  ///< null when A comes from shared memory
    const Operand* a_descriptor;         ///< null when A comes from registers
    const Operand* b_descriptor;
    const Operand* metadata;   ///< the register of a sparse A; null when A is dense
    bool reads_accumulators;   ///< false when scale-d is the constant 0
    int rows_a, rows_b;        ///< M and N
    int k_bytes_a, k_bytes_b;  ///< bytes of K that are stored: a sparse A has half of its K
    int element_bits_a, element_bits_b;
    bool a_mn_major, b_mn_major;
    int same_shape_key;  ///< equal for instructions of the same shape
};

/// A matrix multiply of one warp with all fragments in registers: mma.sync.
struct WarpMma {
    const std::vector<Reg>*d, *a, *b, *c;
    const Operand* metadata = nullptr;  ///< the register of a sparse A; null when A is dense
    bool increasing = false;            ///< the indices of a code of the metadata must be
};

/// A listener, which receives what a step does, in the order of execution. It overrides the functions of the
/// effects that it needs.
class Effects {
  public:
    virtual ~Effects() = default;

    // Memory, through the generic proxy, and its order.
    virtual void memory(const MemoryAccess&) {}
    /// The bytes have no value afterwards: a write, of nothing.
    virtual void discard(const MemoryAccess& access) { memory(access); }
    virtual void fence() {}                            ///< orders accesses to memory before and after it
    virtual void publish_inits() { fence(); }          ///< orders mbarrier.init alone: fence.mbarrier_init
    virtual void proxy_fence(std::optional<Space>) {}  ///< fence.proxy.async; no space: all of them
    /// Threads that pass know what came before the arrivals, or releases, for which they have waited.
    virtual void await_arrivals() {}
    virtual void prefetch() {}  ///< into a cache: only the time of an access changes
    virtual void pause() {}     ///< only the time of what follows changes
    virtual void trap() {}      ///< the kernel ends with an error

    // Tensor maps in memory.
    virtual void change_map() {}   ///< of global memory
    virtual void release_map() {}  ///< those who acquire see the changes before
    virtual void acquire_map() {}  ///< copies that follow see what was released

    // Products.
    virtual void multiply(const WarpMma&) {}
    virtual void order_registers() {}  ///< wgmma.fence
    virtual void issue_mma(const AsyncMma&) {}
    virtual void commit_mma() {}                            ///< wgmma.commit_group
    virtual void wait_mma([[maybe_unused]] int pending) {}  ///< wgmma.wait_group N

    // Copies by threads.
    /// cp.async: the copies of the executing threads write there later, through the generic proxy.
    virtual void copy_async(const AsyncCopy&) {}
    virtual void commit_copies() {}  ///< cp.async.commit_group
    /// cp.async.wait_group N; nothing: wait_all, which also waits for copies in no group.
    virtual void wait_copies([[maybe_unused]] std::optional<int> pending) {}
    /// cp.async.mbarrier.arrive: the mbarrier waits for the copies.
    virtual void arrive_copies([[maybe_unused]] const Operand& mbarrier) {}

    // The bulk-copy engine.
    virtual void bulk_copy(const BulkAccess&) {}
    virtual void commit_bulk() {}  ///< cp.async.bulk.commit_group
    /// cp.async.bulk.wait_group N; read: waits only until the sources have been read.
    virtual void wait_bulk([[maybe_unused]] int pending, [[maybe_unused]] bool read) {}
    /// The bytes of the step arrive later, and this mbarrier counts them.
    virtual void counted([[maybe_unused]] const Operand& mbarrier) {}

    // Barriers.
    virtual void mbarrier(const MbarrierAccess&) {}
    virtual void barrier([[maybe_unused]] const Operand& id, [[maybe_unused]] const Operand& threads) {}
    /// bar.arrive: like barrier(), but the threads do not wait.
    virtual void arrive([[maybe_unused]] const Operand& id, [[maybe_unused]] const Operand& threads) {}
    virtual void cluster_arrive() {}
    virtual void cluster_wait() {}
    virtual void converge() {}  ///< lanes of a warp wait for each other

    // Agreements of warpgroups and grids.
    virtual void set_registers([[maybe_unused]] int registers, [[maybe_unused]] bool increase) {}
    virtual void launch_dependents() {}  ///< grids that wait for this one may start
    virtual void wait_for_grids() {}     ///< which were started before

    /// An effect that is not analysed: inline PTX, and what the builds for hangs, profiles and messages add.
    virtual void unknown() {}
};

/// Reports to `listener` what the step does.
inline void visit_effects(const Step& step, Effects& listener) {
    if (step.op->effects != nullptr) step.op->effects(step, listener);
}

/// Returns whether the compiler of CUDA C++ must leave the instruction, and the memory there, in place. It
/// need not if the instruction only computes destinations, in each lane by itself. (Inline PTX may declare
/// that.)
bool pinned(const Instruction& op);

}  // namespace wgrun::isa
