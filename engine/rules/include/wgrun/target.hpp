// The chip that kernels are written for: each of its numbers stands here and nowhere else (tests/house.cmake
// checks that). Scripts read them as wg.target. Constants: any thread may read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// A chip and its multiprocessors (SMs). Sources: CUDA C++ Programming Guide 13.0, table "Technical
/// Specifications per Compute Capability"; PTX ISA 9.0, 5.1.7, 9.7.13.1, 9.7.19.5; what no document states is
/// measured (docs/silicon.md).
struct Target {
    std::string_view name;
    int multiprocessors;  ///< of an H100 SXM and of an H200: chips.hpp

    // Threads
    int lanes;        ///< threads of a warp
    int warpgroup;    ///< threads that execute a wgmma together
    int cta_threads;  ///< at most, of a CTA
    int cta_layers;   ///< at most, the third extent of a CTA
    int sm_threads;   ///< at most, on an SM
    int sm_ctas;
    int sm_parts;  ///< each with an issue slot: warp w belongs to part w mod 4
    int barriers;  ///< of a CTA, for bar.sync

    // Grids
    std::int64_t grid_columns;  ///< CTAs: at most, the first extent
    std::int64_t grid_rows;     ///< at most, each of the others

    // Clusters
    int portable_cluster;  ///< CTAs of a cluster that every chip of the generation runs
    int cluster;           ///< CTAs of a cluster, where the driver permits more

    // Registers
    int registers;         ///< of an SM
    int thread_registers;  ///< at most, that a thread can use
    int register_unit;     ///< a thread's registers are allocated in multiples of this
    int least_setmaxnreg;  ///< the smallest operand of setmaxnreg
    int most_setmaxnreg;

    // Memory, in bytes
    std::int64_t sm_shared;
    std::int64_t cta_reserved;  ///< part of an SM's shared memory that the driver reserves for each CTA
    std::uint32_t
        shared_base;  ///< where a CTA's own memory begins in the shared window, behind the reserved part
    int banks;        ///< of shared memory: consecutive words belong to consecutive banks
    int bank_bytes;   ///< of a word, which a bank reads or writes in a cycle
    std::int64_t l2;  ///< at least: chips.hpp
    int sector;       ///< of a line in the caches: memory moves whole ones (CUDA C++ Best Practices
                      ///< Guide 13.0, 10.2.1)

    /// What a tensor map can describe (PTX ISA 5.5; CUDA Driver API, cuTensorMapEncodeTiled).
    struct TensorMaps {
        std::int64_t bytes;   ///< of the map itself
        std::int64_t align;   ///< of the map itself, at least
        std::int64_t unit;    ///< bytes that addresses, strides and the width of a box are multiples of
        std::size_t dims;     ///< at most
        std::int64_t extent;  ///< elements of a dimension, at most
        std::int64_t side;    ///< elements of a box along a dimension, at most
        std::int64_t stride;  ///< bytes, less than this
        std::int64_t pixels;  ///< of a column that an im2col map describes, at most
        std::int64_t step;    ///< elements from one that is copied to the next, at most
    } tensor_maps;

    /// Bytes of dynamic and static shared memory that a CTA can have together.
    constexpr std::int64_t cta_shared() const { return sm_shared - cta_reserved; }
    constexpr int bank_of(std::uint32_t address) const {
        return static_cast<int>(address / static_cast<std::uint32_t>(bank_bytes) %
                                static_cast<std::uint32_t>(banks));
    }
    constexpr int sm_warps() const { return sm_threads / lanes; }
    constexpr int warps_of(int threads) const { return (threads + lanes - 1) / lanes; }

    /// Registers of each thread when a kernel of `threads` threads per CTA begins, if one CTA may fill the SM
    /// (.minnctapersm 1): an even share, in whole units.
    constexpr int registers_at_entry(int threads) const {
        return std::min(registers / threads, thread_registers) / register_unit * register_unit;
    }
    /// Registers that the assembler may use per thread of such a kernel.
    constexpr int registers_to_use(int threads) const {
        return std::min(registers / threads / register_unit * register_unit, thread_registers);
    }

    /// How many CTAs an SM holds at a time, by each of its resources.
    struct Residents {
        std::int64_t by_registers, by_shared, by_threads, by_ctas;
        constexpr std::int64_t least() const {
            return std::min({by_registers, by_shared, by_threads, by_ctas});
        }
    };
    /// For CTAs of `threads` threads and `shared` bytes of shared memory; 0 registers a thread: not known.
    constexpr Residents residents(int threads, std::int64_t shared, int registers_a_thread) const {
        const std::int64_t whole = warps_of(threads) * std::int64_t{lanes};
        const std::int64_t units = (registers_a_thread + register_unit - 1) / register_unit;
        const std::int64_t each = units * register_unit;
        return {each == 0 ? sm_ctas : registers / (each * whole), sm_shared / (shared + cta_reserved),
                sm_threads / whole, sm_ctas};
    }
};

inline constexpr Target sm_90a{.name = "sm_90a",
                               .multiprocessors = 132,
                               .lanes = 32,
                               .warpgroup = 128,
                               .cta_threads = 1024,
                               .cta_layers = 64,
                               .sm_threads = 2048,
                               .sm_ctas = 32,
                               .sm_parts = 4,
                               .barriers = 16,
                               .grid_columns = INT32_MAX,
                               .grid_rows = 65535,
                               .portable_cluster = 8,
                               .cluster = 16,
                               .registers = 65536,
                               .thread_registers = 255,
                               .register_unit = 8,
                               .least_setmaxnreg = 24,
                               .most_setmaxnreg = 256,
                               .sm_shared = std::int64_t{228} * 1024,
                               .cta_reserved = 1024,
                               .shared_base = 1024,
                               .banks = 32,
                               .bank_bytes = 4,
                               .l2 = 50 << 20,
                               .sector = 32,
                               .tensor_maps = {.bytes = 128,
                                               .align = 64,
                                               .unit = 16,
                                               .dims = 5,
                                               .extent = std::int64_t{1} << 32,
                                               .side = 256,
                                               .stride = std::int64_t{1} << 40,
                                               .pixels = 1024,
                                               .step = 8}};

}  // namespace wgrun

#pragma GCC visibility pop
