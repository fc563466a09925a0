// What is said of a wait for the wrong phase of an mbarrier (WG-MBAR-06), by the rehearsal and of a run.
#pragma once

#include <cstdint>
#include <string>

namespace wgrun::phase_words {

struct Words {
    std::string message, fix;
};

/// A parity that is neither 0 nor 1. who: "warp 3"; place: of the mbarrier.
Words bad_parity(const std::string& who, const std::string& place, std::int64_t parity);

/// The mbarrier is in `phase`, and the warp has not waited for the one before. passes: the wait is let
/// through.
Words skipped(const std::string& who, const std::string& place, std::int64_t phase, std::int64_t parity,
              bool passes);

/// A wait while `phase` is in progress, let through by the one before or by a fresh mbarrier.
Words let_through(const std::string& place, std::int64_t phase, std::int64_t parity);

}  // namespace wgrun::phase_words
