// The register file of an SM, as a launch divides it among the threads of a CTA.
#pragma once

#include <algorithm>

namespace wgrun {

/// Registers that each thread has when a kernel of `threads` threads a CTA begins, where one CTA may fill the
/// SM (.minnctapersm 1): an even share of the 64K, in units of 8, and a thread names at most 255.
constexpr int registers_at_entry(int threads) {
    constexpr int file = 65536, unit = 8, most = 255;
    return std::min(file / threads, most) / unit * unit;
}

}  // namespace wgrun
