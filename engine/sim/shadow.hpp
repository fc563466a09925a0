// Shadow of a CTA's shared memory: who wrote and read each byte last, and which wgmma may still read it.
//
// Kept for words of four bytes, and for single bytes where smaller accesses have been (a word is then
// "split"). Every access is checked against the accesses before it with the vector clocks of clocks.hpp; as
// in FastTrack (Flanagan and Freund, 2009) a last access that everybody has seen is replaced by a new one, so
// that nearly always one comparison is enough.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/clocks.hpp"

namespace wgrun::sim {

/// A past access: its thread, its step, and the clock of its warp then. Packed into 64 bits:
/// clock 32 | pc 22 | warp 5 | lane 5; 0 is "never".
class Epoch {
  public:
    Epoch() = default;
    Epoch(std::uint32_t clock, std::uint32_t pc, int warp, int lane)
        : bits_(std::uint64_t{clock} << 32 | pc << 10 | static_cast<std::uint32_t>(warp << 5 | lane)) {}
    explicit operator bool() const { return bits_ != 0; }
    std::uint32_t clock() const { return static_cast<std::uint32_t>(bits_ >> 32); }
    std::uint32_t pc() const { return static_cast<std::uint32_t>(bits_) >> 10; }
    int warp() const { return static_cast<int>(bits_ >> 5 & 31); }
    int thread() const { return static_cast<int>(bits_ & 1023); }  ///< of the CTA
    /// Both of one warp, one step and one clock.
    bool same_step(Epoch other) const { return (bits_ ^ other.bits_) >> 5 == 0; }
    bool operator==(const Epoch&) const = default;

    /// Not an access but an index into a pool: its clock is later than every real one.
    static Epoch link(std::uint32_t index) {
        Epoch e;
        e.bits_ = std::uint64_t{UINT32_MAX} << 32 | index;
        return e;
    }
    bool is_link() const { return clock() == UINT32_MAX; }
    std::uint32_t index() const { return static_cast<std::uint32_t>(bits_); }

  private:
    std::uint64_t bits_ = 0;
};

enum class Hazard : std::uint8_t {
    write_after_write,
    write_after_read,
    read_after_write,     ///< generic accesses of two warps, unordered
    write_under_mma,      ///< a wgmma reads the bytes for a warp that is not known to have waited for it
    mma_after_write,      ///< a wgmma reads what a warp wrote, unordered
    missing_proxy_fence,  ///< ordered, but never published to the async proxy
    uninitialised,
};

/// Receives what the shadow finds. `other`: the earlier access; for write_under_mma its pc and warp.
class HazardSink {
  public:
    virtual ~HazardSink() = default;
    virtual void hazard(Hazard hazard, std::uint32_t offset, Epoch other) = 0;
};

/// The warp that accesses, and what it knows.
struct Actor {
    int warp;
    std::uint32_t pc;
    std::uint32_t clock;
    const std::uint32_t* seen;  ///< Clocks::seen and finished of the warp
    const std::uint32_t* finished;
};

/// A wgmma of a warpgroup.
struct MmaActor {
    int group;
    std::uint32_t pc;
    std::uint32_t serial;  ///< counts the wgmma of the group from 1
};

class Shadow {
  public:
    Shadow(int warps, std::int64_t bytes, HazardSink& sink);

    void reset();

    // Offsets and sizes are bytes from the start of the dynamic shared memory.
    // Generic accesses of one lane: 1, 2, 4, 8 or 16 bytes, aligned to their size.
    void load(const Actor& actor, int lane, std::uint32_t offset, int bytes);
    /// store tells whether another lane wrote one of the bytes in this step (or earlier in this epoch).
    bool store(const Actor& actor, int lane, std::uint32_t offset, int bytes);

    /// A wgmma reads whole units of 16 bytes for the warps of its group whose bits are set in `warps`.
    void async_read(const MmaActor& mma, unsigned warps, Clocks& clocks, std::uint32_t offset, int bytes);

  private:
    /// The bytes of a word that is accessed in parts.
    struct Split {
        std::array<Epoch, 4> write, read;
    };
    struct InFlight {
        std::uint32_t serial = 0, pc = 0;
    };

    void load_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes);
    bool store_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes);
    void check_load(const Actor& actor, Epoch written, std::uint32_t offset);
    void check_store(const Actor& actor, Epoch written, Epoch read, std::uint32_t offset);
    void check_async(const MmaActor& mma, unsigned warps, const Clocks& clocks, Epoch written,
                     std::uint32_t offset);
    void check_in_flight(const Actor& actor, std::uint32_t offset);
    Epoch merged_read(const Actor& actor, Epoch now, Epoch read);
    void forget_read(Epoch read);
    Split& split(std::uint32_t word);

    int warps_;
    HazardSink& sink_;
    std::vector<Epoch> writes_, reads_;  ///< per word
    std::vector<InFlight> in_flight_;    ///< per unit of 16 bytes and warp: the last wgmma that reads it
    std::vector<Split> splits_;
    std::vector<std::uint32_t> free_splits_;
    std::vector<Epoch> read_sets_;  ///< pool of sets, one entry a warp
    std::vector<std::uint32_t> free_read_sets_;
};

}  // namespace wgrun::sim
