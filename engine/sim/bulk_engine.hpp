// The bulk-copy engine of a simulation: copies in flight, the groups that threads wait for (PTX
// ISA 9.7.9.25), and st.async.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isa/bulk_copy.hpp"
#include "machine/groups.hpp"
#include "machine/phase_bytes.hpp"
#include "sim/boxes.hpp"
#include "sim/maps.hpp"
#include "sim/mbarriers.hpp"
#include "sim/tensor.hpp"

namespace wgrun::sim {

/// A copy in flight between global memory and one CTA, or between two CTAs. Its bytes move when it lands;
/// those that go to global memory are read some time earlier.
struct Copy {
    isa::BulkCopy::Direction direction;
    isa::BulkCopy::Reduction reduction;
    isa::Type type;  ///< of a linear reduction
    std::uint32_t pc;
    int issuer;           ///< thread of the cluster
    MappedTensor tensor;  ///< without a map: a linear copy
    Coordinates at;
    bool somewhere;                ///< nobody knows where in the tensor: only shared memory counts
    std::byte* global;             ///< of a linear copy
    std::uint64_t global_address;  ///< the same, as the kernel sees it
    std::uint32_t bytes;           ///< bytes that are moved
    std::uint32_t span;            ///< bytes of shared memory that they span: whole lines of a swizzle
    int cta;                       ///< rank of the CTA on the shared side; the destination of to_cluster
    std::uint32_t shared;          ///< address there
    int source_cta;                ///< of to_cluster
    std::uint32_t source;          ///< address there
    std::uint32_t mbarrier;        ///< offset in `cta`, of loads
    std::uint32_t
        serial;  ///< phase of that mbarrier; for stores, the number among those of the issuer's warp
    bool unsized = false;         ///< a box of unknown size: only its first unit is moved
    std::uint64_t handle = 0;     ///< of its tensor map, where a parameter is one
    std::vector<std::byte> read;  ///< by stores: what was read from shared memory; by st.async: its value
};

class BulkEngine {
  public:
    BulkEngine(Scene& scene, Mbarriers& mbarriers, Maps& maps)
        : scene_(scene), report_(scene.report), clocks_(scene.clocks), mbarriers_(mbarriers), maps_(maps) {}

    void reset();

    void bulk_copy(const isa::BulkCopy& asked);
    void bulk_commit();
    void bulk_wait(int pending, bool read);
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier,
                     const void* data, int stride);  // async_store.cpp

    std::size_t in_flight() const { return copies_.size(); }
    void land(std::size_t index);
    /// Lands the oldest copy of unknown size, and all others that the same phase waits for: when nobody can
    /// go on, all of them have begun. Returns whether there was one.
    bool land_unsized();
    /// The run has ended: tells how long the stored boxes of unknown sizes are.
    void measure(BoxSizes& sizes) const { boxes_.measure(scene_.ctas, sizes); }
    /// Returns whether the actor stands for what the stores of some thread read.
    bool stores_as(int actor) const;

  private:
    /// A thread whose stores are watched: the number of a store is its clock.
    struct Storer {
        int actor = 0;    ///< in Clocks: for what the stores read
        int writer = -1;  ///< for what they write, where that is watched
    };

    void touch_global(const Copy& copy, int lane);
    void sends();
    bool in_memory(const Copy& copy);
    bool units_in_memory(const Copy& copy);
    bool global_side(const isa::BulkCopy& asked, Copy& copy);
    bool check_shared_side(Cta& cta, std::uint64_t address, std::uint32_t bytes, std::uint32_t align);
    Epoch load_bulk(std::uint64_t shared, std::uint64_t mbarrier, Copy copy);
    void store_bulk(const isa::BulkCopy& asked, Copy copy);
    bool stores_again(const Copy& before, const Copy& copy) const;
    template <class F>
    void for_each_global_run(const Copy& copy, F f);
    void write_global(const Copy& copy);
    void write_shared(const Copy& copy, Cta& cta);
    void compare_boxes(std::span<const Copy> phase);
    void count_for(const Mbarriers::Found& found, Copy copy);
    const Storer* find_storer(int lane) const;
    Storer& storer(int lane);
    machine::Groups<>& groups() { return groups_[static_cast<std::size_t>(scene_.current)]; }

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    Mbarriers& mbarriers_;
    Maps& maps_;
    std::vector<Copy> copies_;               ///< in flight
    std::vector<Copy> unsized_;              ///< likewise, of boxes of unknown sizes that mbarriers count
    Boxes boxes_;                            ///< those of unknown sizes
    machine::PhaseBytes phases_;             ///< whose copies are of such boxes
    std::vector<machine::Groups<>> groups_;  ///< by warp
    std::vector<Storer> storers_;
    std::vector<std::uint32_t> storer_of_thread_;  ///< index in storers_, counted from 1; 0: none
};

}  // namespace wgrun::sim
