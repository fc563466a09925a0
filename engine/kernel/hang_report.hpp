// Evaluates the slots of a guarded run: which warps waited where, and for what. See docs/hangs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/device_copies.hpp"
#include "program/guarded.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

/// An mbarrier as an H100 keeps it in its 64 bits (docs/silicon.md).
struct MbarrierState {
    int parity = 0;                ///< of the phase in progress
    std::int64_t expected = 0;     ///< arrivals of a phase
    std::int64_t pending = 0;      ///< arrivals that are missing
    std::int64_t outstanding = 0;  ///< in bytes; negative if more have arrived than were announced
};
MbarrierState mbarrier_state(std::uint64_t word);

/// The state of all warps. `grid`, in CTAs, is that of the launch; `block` holds the slots.
class HangReport {
  public:
    HangReport(const Program& program, const GuardedProgram& guarded, Dim3 grid,
               std::span<const std::byte> block, std::span<const DeviceRange> tensors);
    ~HangReport();
    HangReport(const HangReport&) = delete;
    HangReport& operator=(const HangReport&) = delete;

    /// Whether a guard was triggered.
    bool overdue() const { return overdue_; }

    /// A kernel that did not end: the likeliest cause is the finding, the others are its notes. Nothing where
    /// nobody waits.
    std::optional<Diagnostic> hang() const;

    /// The accesses that had not ended when a traced run was cut off, one note for each line.
    std::vector<Note> accesses() const;

  private:
    struct Place;
    std::vector<Place> places_;
    bool overdue_ = false;
};

}  // namespace wgrun
