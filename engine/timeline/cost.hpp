// The cost model of an H200's SM: its constants, and the resources that each step of a program uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/throughput.hpp"
#include "sim/code.hpp"
#include "wgrun/chips.hpp"

namespace wgrun::timeline {

/// The constants, with their sources. Those of Luo et al. ("Benchmarking and Dissecting the Nvidia Hopper
/// GPU Architecture", arXiv:2402.13499, 2024) were written down from memory (docs/timeline.md). Times are
/// cycles of the SM, rates bytes a cycle and SM. Those that plans count by, too, are `roofline`'s
/// (chips.hpp).
namespace chip {
/// From the end of the tensor core's work until wgmma.wait_group returns; Luo et al.: a lone m64n256k16 takes
/// 128 cycles, m64n8k16 32, of which the work is 4.
inline constexpr double product_latency = 28;

inline constexpr double shared_latency = 29;  ///< ld.shared; Luo et al.
inline constexpr double l2_latency = 273;     ///< ld.global that hits the L2 cache; Luo et al.
inline constexpr double dram_latency = 478;   ///< ld.global that misses it; Luo et al.
/// Additional latency of a bulk copy over a load; fitted (docs/timeline.md).
inline constexpr double copy_latency = 350;
inline constexpr double copy_issue = 32;  ///< minimum between two bulk copies of an SM
/// An SM's share of the memory (docs/experiments/gemm.md, "Hardware counters").
inline constexpr double dram_rate = roofline.memory_bandwidth / h200.multiprocessors / roofline.clock.waiting;

inline constexpr double fixed_latency = 4;     ///< of arithmetic: until a dependent instruction may issue
inline constexpr double special_latency = 18;  ///< of the special-function pipe
inline constexpr double barrier_latency = 20;  ///< from the last arrival until the waiting warps continue
inline constexpr double branch_cycles = 8;     ///< of a backward branch, for its warp
inline constexpr double atomic_latency = 600;  ///< of atomics on global memory

/// Before the first instruction of a launch that follows another, and after its last; fitted
/// (docs/timeline.md).
inline constexpr double launch_cycles = 1500;
/// From the start of a CTA until its first copy can begin: the descriptors of tensor maps are fetched.
inline constexpr double descriptor_latency = 500;

/// The clock under load.
inline constexpr double idle_ghz = h200.clock / 1e9, busy_ghz = roofline.clock.busy / 1e9;
inline double ghz(double tensor_share) { return idle_ghz - (idle_ghz - busy_ghz) * tensor_share; }
}  // namespace chip

/// The resources of the SM that a step uses.
struct StepCost {
    enum class Kind : std::uint8_t {
        plain,
        shared,   ///< an access to shared memory: `bytes` per lane
        load,     ///< from global memory: `bytes` per lane
        store,    ///< to global memory
        atomic,   ///< a load and a store
        product,  ///< wgmma: `cycles` on the tensor core
        commit,
        wait,         ///< until at most `pending` groups of wgmma are pending
        copy,         ///< cp.async: `bytes` per lane
        commit_copy,  ///< of cp.async
        wait_copies,  ///< until `pending` groups of cp.async run; -1: none, and nothing outside groups
        jump,         ///< back to the head of a loop
        free          ///< costs nothing
    };
    Kind kind = Kind::plain;
    isa::Throughput throughput{};
    int bytes = 0;
    int pending = 0;
    double cycles = 0;
    std::uint32_t first = 0;  ///< its first register in Costs: those that it reads, then those that it writes
    std::uint16_t reads = 0, writes = 0;
};

class Costs {
  public:
    explicit Costs(const sim::Code& code);
    const StepCost& of(std::uint32_t pc) const { return steps_[pc]; }
    std::span<const std::uint32_t> reads(const StepCost& step) const {
        return {registers_.data() + step.first, step.reads};
    }
    std::span<const std::uint32_t> writes(const StepCost& step) const {
        return {registers_.data() + step.first + step.reads, step.writes};
    }

  private:
    void registers_of(const sim::Op& op, StepCost& cost);
    void drop_repetitions(const sim::Code& code);
    std::vector<StepCost> steps_;
    std::vector<std::uint32_t> registers_;
};

}  // namespace wgrun::timeline
