// Whether the descriptors with which wgmma are executed fit the tiles that they point into.
#pragma once

#include <optional>
#include <set>
#include <tuple>

#include "flow/origins.hpp"
#include "isa/effects.hpp"
#include "sim/report.hpp"

namespace wgrun::sim {

/// Remembers what was right, so that a descriptor in a loop is judged once.
class Descriptors {
  public:
    explicit Descriptors(const Program& program) : program_(program) {}

    /// Returns whether the descriptor of matrix 'A' or 'B' of the wgmma at step `pc` fits, or reports what is
    /// wrong with it: WG-DESC-01, -02, -03. Bits that no descriptor has are left to the step itself.
    bool judge(Report& report, std::uint32_t pc, const isa::AsyncMma& mma, char name, std::uint64_t bits);

  private:
    const Program& program_;
    std::optional<flow::Origins> origins_;  ///< found when the first descriptor is judged
    std::set<std::tuple<std::uint32_t, char, std::uint64_t>> right_;  ///< step, matrix, descriptor
};

}  // namespace wgrun::sim
