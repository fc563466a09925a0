// The stamps of a launch of a profiled build: what each warp did and when (program/stamped.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "program/stamped.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// Times are in cycles of the SM's clock.
struct Stamp {
    std::uint32_t site = 0;   ///< of StampedProgram::sites, from 0
    std::uint32_t value = 0;  ///< as stamped() defines it
    std::uint64_t begin = 0, end = 0;
};

struct StampedWarp {
    Dim3 cta;
    int warp = 0, sm = 0;
    std::uint32_t shared = 0;  ///< address of the CTA's shared memory
    std::uint64_t begin = 0, end = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;  ///< by the clock that all SMs share, in nanoseconds
    std::vector<Stamp> stamps;
};

struct Stamps {
    std::vector<StampSite> sites;  ///< point into the kernel's program
    std::vector<StampedWarp> warps;
    std::uint64_t dropped = 0, dropped_warps = 0;
    Timeline::Source source = Timeline::Source::gpu;
};

/// Runs the launch, on the GPU once more before that if it has no visible effects: the first launch also
/// loads code and descriptors. Throws what profile_of throws.
Stamps stamps_of(Kernel& kernel, const ProfileOptions& options);

}  // namespace wgrun::timeline
