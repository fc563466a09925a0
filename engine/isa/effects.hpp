// What a step does besides reading and writing its operand registers: what the checker hears of it.
#pragma once

#include <optional>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// A generic-proxy access of each executing thread to `bytes` consecutive bytes.
struct MemoryAccess {
    Space space;
    bool write;
    const Operand* address;
    int bytes;
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

/// Receives what a step does besides reading and writing its operand registers.
class Effects {
  public:
    virtual ~Effects() = default;
    virtual void memory(const MemoryAccess& access) = 0;
    virtual void order_registers() = 0;  ///< wgmma.fence
    virtual void issue_mma(const AsyncMma& mma) = 0;
    virtual void commit_mma() = 0;                             ///< wgmma.commit_group
    virtual void wait_mma(int pending) = 0;                    ///< wgmma.wait_group N
    virtual void proxy_fence(std::optional<Space> space) = 0;  ///< fence.proxy.async; no space: all
    /// cp.async: the executing threads' copies write there later, through the generic proxy.
    virtual void copy_async(const MemoryAccess& access) = 0;
    virtual void commit_copies() = 0;  ///< cp.async.commit_group
    /// cp.async.wait_group N; nothing: wait_all, also for what is in no group.
    virtual void wait_copies(std::optional<int> pending) = 0;
    virtual void arrive_copies() = 0;  ///< cp.async.mbarrier.arrive: an mbarrier waits for them
    virtual void barrier(const Operand& id, const Operand& threads) = 0;  ///< bar.sync
    /// A wait for a phase of an mbarrier or for the cluster: those who pass know what came before the
    /// arrivals.
    virtual void await_arrivals() = 0;
};

}  // namespace wgrun::isa
