// The chips of the generation, as data: what differs between them, and what limits a kernel on them. What
// they have in common is sm_90a (target.hpp). Scripts read the rows as wg.chips. Constants: any thread may
// read them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "wgrun/target.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// A chip. Sources: NVIDIA's data sheets of the H100, H200 and GH200 (memory), and "NVIDIA H100 Tensor Core
/// GPU Architecture": SMs, and of the L2 cache 10 MB, of the memory's width 1024 bits for each stack of
/// memory, of which an H100 has five and the others six. Names and clocks as the driver has them. An H100 SXM
/// and an H200 were at hand; of the others nothing was measured, and of an H20 there is no data sheet.
struct Chip {
    static constexpr std::int64_t gib = 1 << 30;  ///< the GB of NVIDIA's data sheets, of memory

    std::string_view name;  ///< as the driver and `wgrun doctor` say it
    int multiprocessors;
    double clock;  ///< of an SM, at most: cycles in a second
    std::int64_t l2_bytes;
    std::int64_t memory_bytes;  ///< nominal: the driver keeps a part
    double memory_bandwidth;    ///< bytes in a second: two words for each of the memory's cycles
};

/// The chip that plans, the simulator and the timeline stand for where no other is there.
inline constexpr Chip h200{.name = "NVIDIA H200",
                           .multiprocessors = sm_90a.multiprocessors,
                           .clock = 1.98e9,
                           .l2_bytes = 60 << 20,
                           .memory_bytes = 141 * Chip::gib,
                           .memory_bandwidth = 3201e6 * 2 * 768};

inline constexpr std::array chips{h200,
                                  Chip{.name = "NVIDIA H100 80GB HBM3",  // SXM
                                       .multiprocessors = sm_90a.multiprocessors,
                                       .clock = 1.98e9,
                                       .l2_bytes = sm_90a.l2,
                                       .memory_bytes = 80 * Chip::gib,
                                       .memory_bandwidth = 2619e6 * 2 * 640},
                                  Chip{.name = "NVIDIA H100 PCIe",
                                       .multiprocessors = 114,
                                       .clock = 1.755e9,
                                       .l2_bytes = sm_90a.l2,
                                       .memory_bytes = 80 * Chip::gib,
                                       .memory_bandwidth = 1593e6 * 2 * 640},
                                  Chip{.name = "NVIDIA H20",
                                       .multiprocessors = 78,
                                       .clock = 1.98e9,
                                       .l2_bytes = 60 << 20,
                                       .memory_bytes = 96 * Chip::gib,
                                       .memory_bandwidth = 2619e6 * 2 * 768},
                                  Chip{.name = "NVIDIA GH200 480GB",  // 480 GB are the processor's
                                       .multiprocessors = sm_90a.multiprocessors,
                                       .clock = 1.98e9,
                                       .l2_bytes = 60 << 20,
                                       .memory_bytes = 96 * Chip::gib,
                                       .memory_bandwidth = 2619e6 * 2 * 768},
                                  Chip{.name = "NVIDIA GH200 144G HBM3e",
                                       .multiprocessors = sm_90a.multiprocessors,
                                       .clock = 1.98e9,
                                       .l2_bytes = 60 << 20,
                                       .memory_bytes = 144 * Chip::gib,
                                       .memory_bandwidth = 3201e6 * 2 * 768}};

/// What limits a kernel, for plans (stdlib/cost/roofline.lua) and the timeline (engine/timeline).
struct Roofline {
    /// Rows of A x rows of B x bytes of K that the tensor cores of an SM multiply in a cycle
    /// (docs/experiments/gemm.md, "The two limits": a 128x256x64 block of 16 bits takes 1024 cycles).
    double product;
    double shared_bytes;  ///< that an SM reads from its shared memory in a cycle
    double l2_bytes;      ///< between the L2 cache and an SM in a cycle, each way; fitted (docs/timeline.md)
    double memory_bandwidth;  ///< bytes in a second that kernels get of h200's (docs/experiments/decoding.md)
    /// Cycles of an SM in a second. The power limit lowers the clock while the tensor cores are busy
    /// (docs/experiments/gemm.md: 0.90 of 179.6 us at 4096 cubed are 1.57 GHz; 0.87 of 97.4 us at
    /// 8192x8192x512 are 1.51).
    struct Clock {
        double busy;     ///< where the tensor cores always are
        double waiting;  ///< of a kernel that waits for memory
        double long_run;
    } clock;
};

inline constexpr Roofline roofline{.product = 4096,
                                   .shared_bytes = sm_90a.banks * sm_90a.bank_bytes,
                                   .l2_bytes = 64,
                                   .memory_bandwidth = 4.9e12,
                                   .clock = {.busy = 1.50e9, .waiting = 1.9e9, .long_run = 1.755e9}};

static_assert(std::ranges::min(chips, {}, &Chip::l2_bytes).l2_bytes == sm_90a.l2,
              "sm_90a.l2 is what every chip has");

}  // namespace wgrun

#pragma GCC visibility pop
