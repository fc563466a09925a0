// What a proof knows of the bytes of shared memory: who has written and read each of them, and whether the
// next one who does comes after that. Of races, of both proxies' order, of bytes that nothing has written and
// of bounds it finds what it cannot prove: all schedules are one here, since vector clocks decide
// (scene.hpp).
//
// Accesses of one warp by several lanes are ordered when its lanes have met since. What wgmma and bulk copies
// read, they read until they are waited for.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check/abstract/mbarriers.hpp"
#include "check/abstract/memory_state.hpp"
#include "check/abstract/values.hpp"
#include "check/gaps.hpp"
#include "isa/generic.hpp"
#include "machine/groups.hpp"
#include "machine/mma_matrix.hpp"

namespace wgrun::check::abstract {

class SharedMemory {
  public:
    SharedMemory(const ExecutionState& execution, const Values& values, const Mbarriers& mbarriers,
                 Gaps& gaps)
        : execution_(execution),
          values_(values),
          mbarriers_(mbarriers),
          gaps_(gaps),
          ctas_(static_cast<std::size_t>(execution.ctas)),
          copies_(execution.warps.size()) {
        for_each_step(execution.program,
                      [&](const Step& step) { makes_generic_ |= isa::makes_generic_of_own(step); });
    }

    /// The current step loads, stores or copies by cp.async, or waits for such copies, in each active lane.
    void access(const Step& step);
    /// These lanes of the current warp end.
    void end(isa::Mask lanes);
    /// It copies to a CTA's bytes [lo, hi), which the mbarrier counts.
    void arrives(int cta, std::uint32_t lo, std::uint32_t hi, const Mbarrier& mbarrier, int lane);
    /// A lane starts a copy of its CTA's bytes, until it has waited for its copy of that number.
    void leaves(std::uint32_t lo, std::uint32_t hi, int lane, std::uint32_t number);
    void left(int lane, std::uint32_t number);
    /// The same of a copy to another CTA, until that mbarrier has counted it.
    void sends(std::uint32_t lo, std::uint32_t hi, const Mbarrier& mbarrier, int lane);
    /// A wgmma of the warp, in the group that begins with that number, reads a matrix.
    void reads(const Operand& descriptor, const machine::Matrix& matrix, std::uint32_t product);
    void multiplied(std::uint32_t product);
    /// Nobody knows what the step accesses.
    void lost(std::string_view what);
    /// What is proved of shared memory holds if that is so, in words.
    void assume(const std::string& what);

    auto state() { return std::tie(ctas_, copies_); }
    /// What of it decides about what follows (settle.cpp).
    void encode(Encoder& to);

  private:
    using Access = MemoryAccess;
    using Bytes = MemoryBytes;
    using Cta = MemoryOfCta;
    /// The cp.async of a warp: of each lane the last, and the last that it has waited for.
    struct ThreadCopies {
        machine::Groups<> groups{};
        std::array<std::uint32_t, isa::lanes> last{}, waited{};
    };

    template <class Visit>
    void visit(int cta, std::uint32_t lo, std::uint32_t hi, Visit visit);
    using Part = std::pair<std::uint32_t, std::uint32_t>;  ///< from, to
    template <class Visit>
    void visit_all(int cta, std::span<const Part> parts, Visit visit);
    static Cta::iterator split(Cta& cta, Cta::iterator part, std::uint32_t at);
    bool comes_after(const Access& before, isa::Mask lanes) const;
    bool is_fenced(const Access& before, isa::Mask lanes) const;
    void settle();
    void write(int cta, std::uint32_t lo, std::uint32_t hi, const Access& by);
    void read(int cta, std::uint32_t lo, std::uint32_t hi, const Access& by);
    void read(Bytes& bytes, const Access& by);
    void wait_copies(std::optional<int> pending);
    ThreadCopies& own_copies() { return copies_[static_cast<std::size_t>(execution_.warp->number)]; }
    bool inside(std::uint64_t lo, std::int64_t bytes, std::int64_t align);
    template <class Ends>
    void finish(Access::Kind kind, std::uint32_t number, Ends ends);
    void gap(Property property, std::string reason);
    /// Whether nothing is left that who accessed which byte could prove.
    bool is_over() const {
        return gaps_.has(Property::shared_races) && gaps_.has(Property::proxies) &&
               gaps_.has(Property::initialisation);
    }
    template <std::invocable Reason>
    void gap(Property property, Reason reason);  ///< reason(): only the first one is asked for
    std::string place(std::uint32_t address) const { return execution_.place(address - sm_90a.shared_base); }

    const ExecutionState& execution_;
    const Values& values_;
    const Mbarriers& mbarriers_;
    Gaps& gaps_;
    bool makes_generic_ = false;  ///< some step makes a generic address of shared memory
    std::vector<Cta> ctas_;
    std::vector<ThreadCopies> copies_;  ///< by warp
};

}  // namespace wgrun::check::abstract
