// Bulk copies in an abstract execution, and stores to the memory of other CTAs: WG-TMA-01, -03, WG-MEM-03.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "check/abstract/mma_reads.hpp"
#include "check/box_sizes.hpp"
#include "isa/bulk_copy.hpp"
#include "machine/groups.hpp"

namespace wgrun::check::abstract {

class Copies {
  public:
    Copies(ExecutionState& execution, Faults& report, Peers& peers, Mbarriers& mbarriers, Contents& contents,
           MmaReads& products);

    void bulk_copy(const isa::BulkCopy& copy);
    void bulk_commit();
    /// A copy that has been read no longer needs the CTA's memory: with .read, a wait is worth the same here.
    void bulk_wait(int pending);
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier);

    /// The oldest copy lands, of those that an mbarrier counts and that can. Returns false if there is none.
    bool land();
    /// The last warp of a CTA has ended: reports copies still in flight to or from its memory.
    void unfinished(int cta);

    /// Where boxes of unknown sizes have been.
    const BoxSizes& boxes() const { return boxes_; }

    auto state() { return std::tie(in_flight_, stores_, unsized_); }
    void encode(Encoder& to) const;

  private:
    struct Copy {
        Mbarrier* mbarrier;
        std::uint32_t pc;
        std::optional<std::int64_t> bytes;
        std::uint32_t phase;

        /// One of unknown size lands when its phase expects bytes: it brings them.
        bool can_land() const {
            return bytes || mbarrier->tx() > mbarrier->in_flight() || mbarrier->phase() != phase;
        }
    };
    /// The copies of a warp to global memory.
    struct Stores {
        struct Store {
            int lane;
            std::uint32_t number;
            const Step* step;
        };
        machine::Groups<> groups;
        std::vector<Store> running;  ///< that no wait has covered
    };

    std::uint64_t map_of(const Step& copy);
    std::optional<std::int64_t> taken_for_granted(BoxSizes::To to, std::uint32_t shared);
    void compare_boxes(const Mbarrier& mbarrier);
    bool fits_shared(const isa::BulkCopy& copy, const TensorBox* box);
    void unknown_bytes(const isa::BulkCopy& copy);
    void sends();
    void copy_to(std::uint64_t shared, std::uint64_t mbarrier, int lane, std::optional<std::int64_t> bytes,
                 const TensorBox* box, machine::MbarrierUser user, const isa::BulkCopy* copy);
    Stores& own() { return stores_[static_cast<std::size_t>(execution_.warp->number)]; }

    ExecutionState& execution_;
    Faults& report_;
    Peers& peers_;
    Mbarriers& mbarriers_;
    Contents& contents_;
    MmaReads& products_;
    std::deque<Copy> in_flight_;  ///< nearly always the first of them lands
    /// The boxes of unknown sizes that a phase counts: their maps, and how many bytes it expected at least as
    /// one of them began.
    struct Unsized {
        std::vector<std::uint64_t> maps{};
        std::int64_t expected = INT64_MAX;
    };
    std::map<const Mbarrier*, Unsized> unsized_;  ///< by mbarrier
    std::vector<std::uint64_t> named_;  ///< by register: what its address comes from; none before map_of()
    BoxSizes boxes_;                    ///< of those
    std::map<std::uint64_t, std::string> names_;  ///< of maps whose boxes are taken for granted
    std::vector<Stores> stores_;                  ///< by warp
    bool multicasts_;                             ///< copies bring bytes to several CTAs
};

}  // namespace wgrun::check::abstract
