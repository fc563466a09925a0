// mbarrier objects (PTX ISA 9.7.13.15): opaque 64 bits of shared memory, kept in a table of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/code.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

struct Mbarrier {
    /// Of arrivals of a phase, and of the tx-count in either direction.
    static constexpr std::int64_t most = (1 << 20) - 1;

    std::uint32_t offset = 0;                ///< bytes from the start of the CTA's shared memory
    bool live = false;                       ///< between init and inval
    std::int64_t expected = 0, pending = 0;  ///< arrivals
    std::int64_t tx = 0;                     ///< bytes that are expected but have not come
    std::uint32_t phase = 0;                 ///< number of the one in progress

    // What is known of whom. In Clocks the object is an actor, with two places: what came before the
    // arrivals of the phase in progress, and before the complete ones. Its clock counts init, the fence that
    // announces it, and complete phases.
    int actor = -1, arriving = -1, complete = -1;
    int generic_actor = -1;  ///< of what comes through the generic proxy, at the clock of `actor`
    std::uint32_t clock = 0;
    std::uint32_t init = 0, announced = 0;  ///< clocks of them; announced 0: not yet
    std::uint32_t since = 0;                ///< clock of the last phase's completion, or of the init
    std::uint32_t before = 0;               ///< the same one phase earlier
    std::vector<std::uint32_t> passed;      ///< by warp of the CTA: next() when a wait of it last succeeded

    Epoch made;                     ///< the init
    std::uint32_t pc = no_pc;       ///< of the last arrival or expectation
    std::uint32_t copy_pc = no_pc;  ///< of the last copy of the phase in progress
    std::int64_t under_way = 0;     ///< bytes of copies of the phase that have not landed

    /// Is the phase of this parity complete, which is the one in progress or the one before?
    bool is_complete(std::int64_t parity) const { return (phase & 1) != (parity & 1); }
    /// The epoch clock of what belongs to the phase in progress.
    std::uint32_t next() const { return clock + 1; }
};

/// The mbarrier objects of a CTA.
class Mbarriers {
  public:
    static constexpr std::uint32_t bytes = 8;  ///< of an object

    void reset() {
        objects_.clear();
        begin_ = end_ = 0;
    }
    /// The object that starts at this offset, live or ended, or null. Valid until the next add.
    Mbarrier* find(std::uint32_t offset);
    Mbarrier& add(std::uint32_t offset);
    /// A live object of which an access to these bytes touches something, or null.
    const Mbarrier* touched(std::uint32_t offset, std::uint32_t size) const {
        return offset < end_ && offset + size > begin_ ? search(offset, size) : nullptr;
    }
    std::vector<Mbarrier>& all() { return objects_; }

  private:
    const Mbarrier* search(std::uint32_t offset, std::uint32_t size) const;

    std::vector<Mbarrier> objects_;      ///< by offset
    std::uint32_t begin_ = 0, end_ = 0;  ///< of all of them together
};

}  // namespace wgrun::sim
