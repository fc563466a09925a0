// What bulk copies have written to the shared memory of an abstract execution's CTAs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/abstract/mbarriers.hpp"

namespace wgrun::check::abstract {

/// "{64, 32} of bf16"
std::string describe(const TensorBox& box);

/// The destination of a copy.
struct Written {
    std::uint32_t lo, hi;  ///< addresses
    const Mbarrier* mbarrier;
    std::uint32_t clock;  ///< clock of the mbarrier when the copy has landed
    const Step* step;
    const TensorBox* box;  ///< null for a linear copy

    bool has(std::uint32_t address) const { return lo <= address && address < hi; }
};

class Contents {
  public:
    explicit Contents(const ExecutionState& execution)
        : execution_(execution), ctas_(static_cast<std::size_t>(execution.ctas)) {}

    void write(int cta, Written written);
    /// A copy of unknown size may have brought any byte.
    void bring_anything(int cta);
    /// Returns the copy that has last written that byte, or null.
    const Written* at(int cta, std::uint32_t address) const;
    /// Returns whether some copy has brought that byte.
    bool brought(int cta, std::uint32_t address) const;
    /// Returns whether threads may have written to the buffer of this byte, perhaps with its elements in
    /// another order.
    bool maybe_stored(std::uint32_t offset) const;

    /// Of copies that all warps know to have landed, it does not matter any more when.
    void settle();

    auto state() { return std::tie(ctas_); }
    void encode(Encoder& to) const;

  private:
    struct Cta {
        std::map<std::uint32_t, Written> written;  ///< by their first address; they do not overlap
        std::vector<std::pair<std::uint32_t, std::uint32_t>> brought;  ///< addresses [lo, hi)

        void bring(std::uint32_t lo, std::uint32_t hi);
    };

    const ExecutionState& execution_;
    std::vector<Cta> ctas_;
    /// Of places that threads may write, by CTA and address, of all ways that were followed.
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> widest_{};
};

}  // namespace wgrun::check::abstract
