// The timestamps of a launch of a profiled build: what each warp did and when (program/profiled.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "program/profiled.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// Times are in cycles of the SM's clock.
struct Timestamp {
    std::uint32_t site = 0;   ///< of ProfiledProgram::sites, from 0
    std::uint32_t value = 0;  ///< as profiled() defines it
    std::uint64_t begin = 0, end = 0;
};

struct ProfiledWarp {
    Dim3 cta;
    int warp = 0, sm = 0;
    std::uint32_t shared = 0;  ///< address of the CTA's shared memory
    std::uint64_t begin = 0, end = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;  ///< by the clock that all SMs share, in nanoseconds
    std::vector<Timestamp> timestamps;
};

struct Timestamps {
    std::vector<TimestampSite> sites;  ///< point into the kernel's program
    std::vector<ProfiledWarp> warps;
    std::uint64_t dropped = 0, dropped_warps = 0;
    Timeline::Source source = Timeline::Source::gpu;
};

/// Runs the launch, on the GPU once more before that if it has no visible effects: the first launch also
/// loads code and descriptors. Throws what profile_of throws.
Timestamps timestamps_of(Kernel& kernel, const ProfileOptions& options);

}  // namespace wgrun::timeline
