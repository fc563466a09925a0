// What threads do to shared memory, also by cp.async: WG-RACE-02, WG-GROUP-04, WG-PROXY-01.
#pragma once

#include <optional>
#include <string_view>

#include "check/dataflow/mma_groups.hpp"
#include "check/dataflow/values.hpp"

namespace wgrun::check::dataflow {

class SharedAccesses {
  public:
    SharedAccesses(Analysis& analysis, const Values& values, MmaGroups& flights)
        : analysis_(analysis), values_(values), groups_(flights) {}

    /// A load, store or atomic of threads; a cp.async; fence.proxy.async.
    void access(const isa::MemoryAccess& access);
    void copy(const isa::MemoryAccess& access);
    void fence(std::optional<isa::Space> space);
    /// A bulk copy out of shared memory takes what was written there with no fence.proxy.async: WG-PROXY-01.
    void taken(const isa::BulkAccess& copy);
    /// Reports a read of bytes that a cp.async may still write: WG-GROUP-04. Returns whether it did.
    bool copied(const Region& region, std::string_view who, bool by_async_proxy);
    /// Reports copies that are pending at the end of the kernel, after line `end`.
    void left_over(Where end);

  private:
    void note_stored(const Operand& address);
    Region accessed(const isa::MemoryAccess& access) const;
    void overwritten(const Region& region);

    Analysis& analysis_;
    const Values& values_;
    MmaGroups& groups_;
};

}  // namespace wgrun::check::dataflow
