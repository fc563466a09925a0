// What a step does besides computing its destinations from its sources: a record says it, whoever wants to
// know hears it.
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

/// A copy by the bulk-copy engine, for each executing thread. What it accesses it accesses later, through the
/// async proxy.
struct BulkAccess {
    BulkCopy::Direction direction;
    const Operand* to = nullptr;      ///< in shared memory; null: it writes to global memory, or nowhere
    const Operand* from = nullptr;    ///< in shared memory; null: it reads global memory
    const Operand* global = nullptr;  ///< the address, or the tensor map; null: from shared to shared memory
};

/// What a step does to the mbarrier at an address.
struct MbarrierAccess {
    enum class Kind : std::uint8_t {
        init,
        inval,
        expect,  ///< bytes, without an arrival
        arrive,  ///< maybe with bytes that are expected
        wait     ///< tells whether a phase is complete; the step does not wait for long
    };
    Kind kind;
    const Operand* address;
    const Operand* count = nullptr;  ///< of init and arrive: how many arrivals; null: one
    const Operand* bytes = nullptr;  ///< of expect and arrive; null: none
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

/// A matrix multiply of one warp, whose fragments are all in registers: mma.sync.
struct WarpMma {
    const std::vector<Reg>*d, *a, *b, *c;
};

/// Hears what a step does, in the order in which it does it. What a listener does not override it does not
/// want to know.
class Effects {
  public:
    virtual ~Effects() = default;

    // Memory, through the generic proxy, and its order.
    virtual void memory(const MemoryAccess&) {}
    virtual void fence() {}                            ///< between accesses to memory before and after it
    virtual void proxy_fence(std::optional<Space>) {}  ///< fence.proxy.async; no space: all
    /// Those who pass know what came before the arrivals, or releases, that they have waited for.
    virtual void await_arrivals() {}
    virtual void prefetch() {}  ///< into a cache: nothing changes but the time that an access takes

    // Products.
    virtual void multiply(const WarpMma&) {}
    virtual void order_registers() {}  ///< wgmma.fence
    virtual void issue_mma(const AsyncMma&) {}
    virtual void commit_mma() {}                            ///< wgmma.commit_group
    virtual void wait_mma([[maybe_unused]] int pending) {}  ///< wgmma.wait_group N

    // Copies by threads.
    /// cp.async: the executing threads' copies write there later, through the generic proxy.
    virtual void copy_async(const MemoryAccess&) {}
    virtual void commit_copies() {}  ///< cp.async.commit_group
    /// cp.async.wait_group N; nothing: wait_all, also for what is in no group.
    virtual void wait_copies([[maybe_unused]] std::optional<int> pending) {}
    /// cp.async.mbarrier.arrive: the mbarrier waits for them.
    virtual void arrive_copies([[maybe_unused]] const Operand& mbarrier) {}

    // The bulk-copy engine.
    virtual void bulk_copy(const BulkAccess&) {}
    virtual void commit_bulk() {}  ///< cp.async.bulk.commit_group
    /// cp.async.bulk.wait_group N; read: until their sources have been read.
    virtual void wait_bulk([[maybe_unused]] int pending, [[maybe_unused]] bool read) {}
    /// What the step brings comes later, and this mbarrier counts the bytes.
    virtual void counted([[maybe_unused]] const Operand& mbarrier) {}

    // Barriers.
    virtual void mbarrier(const MbarrierAccess&) {}
    virtual void barrier([[maybe_unused]] const Operand& id, [[maybe_unused]] const Operand& threads) {}
    /// bar.arrive: as barrier(), but the threads go on.
    virtual void arrive([[maybe_unused]] const Operand& id, [[maybe_unused]] const Operand& threads) {}
    virtual void cluster_arrive() {}
    virtual void cluster_wait() {}
    virtual void converge() {}  ///< lanes of a warp wait for each other

    // What warpgroups and grids agree on.
    virtual void set_registers([[maybe_unused]] int registers, [[maybe_unused]] bool increase) {}
    virtual void launch_dependents() {}  ///< grids that wait for this one may start
    virtual void wait_for_grids() {}     ///< that were started before

    /// Something that nobody follows: inline PTX, and what the builds for hangs, profiles and messages add.
    virtual void unknown() {}
};

/// Tells `listener` what the step does.
inline void tell(const Step& step, Effects& listener) {
    if (step.op->effects != nullptr) step.op->effects(step, listener);
}

/// Must the compiler of CUDA C++ leave the instruction where it stands, and memory as it is there? Not where
/// it only computes destinations, each lane by itself. (Inline PTX may declare that it does no more.)
bool pinned(const Instruction& op);

}  // namespace wgrun::isa
