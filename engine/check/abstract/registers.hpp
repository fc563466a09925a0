// The registers of an abstract execution's warps that decide how it goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/abstract/forms.hpp"
#include "check/abstract/live.hpp"
#include "check/abstract/mbarriers.hpp"
#include "check/abstract/values.hpp"

namespace wgrun::check::abstract {

/// What the lanes of a register hold. A state has hundreds of registers, and few of them are not as in
/// another one.
class Numbers {
  public:
    explicit Numbers(const Values::Kept* kept) : kept_(kept) {}
    std::int64_t operator[](std::size_t lane) const { return static_cast<std::int64_t>(kept_->lanes[lane]); }
    /// `other`: of the same abstract execution.
    bool operator==(const Numbers& other) const = default;

  private:
    const Values::Kept* kept_;
};

/// A register that may yet be read, or a number that is shown in shared memory: its warp is beyond the others
/// by its CTA, its slot is its address, and it has one lane.
struct Register {
    std::uint32_t warp, slot;
    isa::Mask known;  ///< the lanes that may read it, and whose value is known
    Numbers lanes;
    Forms::Slot form;  ///< of known lanes
};

/// Returns the lanes of the warp that may yet read the register.
isa::Mask readers(const Live& live, const Warp& warp, std::size_t slot);

/// Returns them all, warp by warp.
std::vector<Register> live_registers(const ExecutionState& execution, const Values& values, const Live& live,
                                     const Mbarriers& mbarriers, Forms& forms);

}  // namespace wgrun::check::abstract
