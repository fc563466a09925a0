// Shadow of a CTA's shared memory: which accesses wrote and read each byte last, and which wgmma and which
// bulk copy may still read it.
//
// It is kept for words of four bytes, and for single bytes where there were smaller accesses (the word is
// then "split"). Every access is checked against the accesses before it with the vector clocks of clocks.hpp.
// As in FastTrack (Flanagan and Freund, 2009), a new access replaces a last access that everybody has seen,
// so that one comparison is nearly always enough.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/lanes.hpp"
#include "sim/clocks.hpp"

namespace wgrun::sim {

/// A past access: its actor, its step, and the clock of the actor then. It is packed into 64 bits: mark 1 |
/// clock 26 | pc 22 | actor 10 | lane 5; 0 is "never". For an actor that is not a warp, the mark says that it
/// works through the generic proxy. For a read by a warp, it says that several of its lanes, this one
/// included, have read since they last reconverged.
class Epoch {
  public:
    Epoch() = default;
    /// generic: the actor is not a warp, but works through the generic proxy (Clocks::add_generic_actor).
    Epoch(std::uint32_t clock, std::uint32_t pc, int actor, int lane, bool generic = false)
        : bits_(std::uint64_t{generic} << 63 | std::uint64_t{clock} << 37 | std::uint64_t{pc} << 15 |
                static_cast<std::uint32_t>(actor << 5 | lane)) {}
    explicit operator bool() const { return bits_ != 0; }
    std::uint32_t clock() const { return static_cast<std::uint32_t>(bits_ >> 37) & ((1U << 26) - 1); }
    bool generic() const { return bits_ >> 63 != 0; }
    bool several() const { return bits_ >> 63 != 0; }
    Epoch with_others() const {
        Epoch e = *this;
        e.bits_ |= std::uint64_t{1} << 63;
        return e;
    }
    std::uint32_t pc() const { return static_cast<std::uint32_t>(bits_ >> 15) & ((1U << 22) - 1); }
    int actor() const { return static_cast<int>(bits_ >> 5 & 1023); }
    int lane() const { return static_cast<int>(bits_ & 31); }
    /// Returns the same access by another lane.
    Epoch of_lane(std::size_t lane) const {
        Epoch e = *this;
        e.bits_ = (e.bits_ & ~std::uint64_t{31}) | lane;
        return e;
    }
    int thread() const { return static_cast<int>(bits_ & 32767); }  ///< of the cluster, if a warp did it
    /// Returns whether both have the same actor, step and clock.
    bool same_step(Epoch other) const { return (bits_ ^ other.bits_) >> 5 == 0; }
    bool operator==(const Epoch&) const = default;
    /// The same number for accesses of one lane at one step and clock, and no other.
    std::uint64_t number() const { return bits_ & ~(std::uint64_t{1} << 63); }

    /// Makes an index into a pool instead of an access: its clock is later than every real one.
    static Epoch link(std::uint32_t index) {
        Epoch e;
        e.bits_ = link_clock << 37 | std::uint64_t{index} << 15;
        return e;
    }
    bool is_link() const { return bits_ >> 37 == link_clock; }
    std::uint32_t index() const { return pc(); }

  private:
    static constexpr std::uint64_t link_clock = (1U << 27) - 1;
    std::uint64_t bits_ = 0;
};

enum class Hazard : std::uint8_t {
    write_after_write,
    equal_writes,  ///< the same, by one step of the program, of one value
    write_after_read,
    read_after_write,     ///< generic accesses of two warps, or of two lanes of one, unordered
    write_under_mma,      ///< a wgmma reads the bytes for a warp that is not known to have waited for it
    write_under_copy,     ///< a bulk copy reads the bytes, and is not known to be done with them
    async_after_write,    ///< a wgmma or a bulk copy reads what was written, unordered
    missing_proxy_fence,  ///< ordered, but never published to the async proxy that reads it
    unfenced_overwrite,   ///< ordered, but never published to the async proxy that overwrites it
    unfenced_read,        ///< ordered, but the read is never published to the async proxy that overwrites
    uninitialised,
};

/// Receives the hazards that the shadow finds. `other`: the earlier access; for write_under_mma, its pc and
/// warp.
class HazardSink {
  public:
    virtual ~HazardSink() = default;
    virtual void hazard(Hazard hazard, std::uint32_t offset, Epoch other) = 0;
    /// The same, if other lanes of `other`'s warp are known to have got that far, but this lane is not.
    virtual void hazard_of_lane(Hazard hazard, std::uint32_t offset, Epoch other) {
        this->hazard(hazard, offset, other);
    }
    /// Returns whether the access of this step races with strong ones.
    virtual bool weak(std::uint32_t pc) const = 0;
    /// Returns whether accesses of this step by any two threads do not race. It may be no where they do not.
    virtual bool meets_itself(std::uint32_t) const { return false; }
};

/// The warp that accesses memory, and what the lane knows. Warps are numbered in the cluster.
struct Actor : KnownClocks {
    int warp;
    std::uint32_t pc;
    std::uint32_t clock;
};

/// A wgmma of a warpgroup.
struct MmaActor {
    int first;  ///< the first warp of the group
    std::uint32_t pc;
    std::uint32_t serial;  ///< counts the wgmma of the group from 1
};

class Shadow {
  public:
    /// The warps of a CTA: `warps` of them, from number `first` in the cluster.
    struct Warps {
        int all, first, warps;
    };
    Shadow(Warps warps, std::int64_t bytes, HazardSink& sink);

    void reset();
    /// Makes room for so many bytes, which had values before. Reads by wgmma and bulk copies are not kept for
    /// them.
    void grow(std::int64_t bytes);

    /// Returns whether the access is known to have happened.
    bool ordered(const KnownClocks& known, Epoch past) const {
        return ordered(known.seen, past) || among(known, 0, past);
    }

    /// Returns whether the access comes before what the lane does now, also if it is one of its own warp.
    bool ordered(const Actor& actor, int lane, Epoch past) const {
        return ordered(actor, Epoch(actor.clock, actor.pc, actor.warp, lane), past);
    }

    /// The last access to a word: the bytes accessed (one bit each), and the access to one of them.
    struct Last {
        unsigned written = 0, read = 0;
        Epoch write, reader;
    };
    Last last(std::uint32_t word) const;
    /// Returns how many bytes in a row, between two offsets, warps have written and no thread has read after
    /// that.
    std::uint32_t unread(std::uint32_t begin, std::uint32_t end) const;

    // Offsets and sizes are bytes from the start of the dynamic shared memory.
    // Generic accesses of one lane: 1, 2, 4, 8 or 16 bytes, aligned to their size.
    void load(const Actor& actor, int lane, std::uint32_t offset, int bytes);
    /// Returns whether another lane wrote one of the bytes in this step (or earlier in this epoch).
    bool store(const Actor& actor, int lane, std::uint32_t offset, int bytes);

    /// A store of the bytes that are there already. Reports another warp's store of them by the same step of
    /// the program, if nothing orders the two; returns whether it did: then it is known, and no other harm is
    /// done.
    bool store_again(const Actor& actor, int lane, std::uint32_t offset, int bytes);

    /// The lane is about to access the bytes by a strong step. It need not come after those in whose place it
    /// comes: they are kept, for accesses that do not meet them.
    void strong(const Actor& actor, int lane, std::uint32_t offset, int bytes, bool writes);
    /// An access in whose place a strong one came.
    struct Past {
        Epoch by;
        unsigned bytes;  ///< a bit each
        bool writes;
    };
    /// Calls visit(word, past access).
    template <class Visit>
    void for_each_displaced(Visit visit) const {
        for (const std::uint32_t word : displaced_)
            if (writes_[word].is_link())
                for (const Displaced& past : splits_[writes_[word].index()].displaced)
                    past.for_each([&](Epoch by) { visit(word, Past{by, past.bytes, past.writes}); });
    }

    /// A wgmma reads whole units of 16 bytes for the warps of its group whose bits are set in `warps`.
    void async_read(const MmaActor& mma, unsigned warps, Clocks& clocks, std::uint32_t offset, int bytes);

    // A bulk copy of whole units of 16 bytes, as it is issued. Until a thread knows the clock of its epoch to
    // be past, that thread may neither access what the copy writes nor write what it reads.
    void copy_in(const Actor& issuer, Epoch copy, std::uint32_t offset, std::uint32_t bytes);
    /// all: otherwise some of the bytes may not be copied, and those need not be written.
    void copy_out(const Actor& issuer, Epoch copy, std::uint32_t offset, std::uint32_t bytes,
                  bool all = true);

    /// A copy has brought these whole words from `source` in the shadow `from`: what has no value there has
    /// none here: a thread that reads it there is reported.
    void take_lack(const Shadow& from, std::uint32_t source, std::uint32_t offset, std::uint32_t bytes);

    /// Checks the bytes that a bulk copy of the lane reads: whether earlier writes to them are published to
    /// the async proxy.
    void check_published(const Actor& issuer, int lane, std::uint32_t offset, std::uint32_t bytes);

    /// Checks that something has written each of these whole words, which a reducing copy reads.
    void check_written(std::uint32_t offset, std::uint32_t bytes);

    /// An asynchronous write of 4, 8 or 16 bytes through the generic proxy, as it is issued.
    void write_later(const Actor& issuer, Epoch write, std::uint32_t offset, std::uint32_t bytes);
    /// What was written at one epoch, and not since, counts as written at another.
    void rewrite(Epoch from, Epoch to, std::uint32_t offset, std::uint32_t bytes);

  private:
    static constexpr std::uint32_t word_bytes = 4;
    static constexpr std::uint32_t unit_bytes = 16;

    /// Returns whether the access comes before what the lane does now.
    bool ordered(const Actor& actor, Epoch now, Epoch past) const {
        if (past.actor() != actor.warp) return ordered(static_cast<const KnownClocks&>(actor), past);
        return (past.clock() <= actor.met && !past.is_link()) || among(actor, 1U << now.lane(), past);
    }
    /// Returns whether the lane of the access, though not its warp, is known to be past it. known: the lanes
    /// that are.
    bool among(const KnownClocks& knows, isa::Mask known, Epoch past) const {
        return among(knows, known, past, isa::Mask{1} << past.lane()) != 0;
    }
    /// Returns which of these lanes, that made the access, are known to be past it.
    isa::Mask among(const KnownClocks& knows, isa::Mask known, Epoch past, isa::Mask lanes) const {
        if (past.is_link()) return 0;
        if (knows.parts != nullptr && past.actor() < warps_.all) {
            const SomeLanes part = knows.parts[past.actor()];
            if (past.clock() <= part.clock) known |= part.lanes;
        }
        // Of several lanes that read, only one is named: if more than one is known, they may be all.
        return past.several() && std::has_single_bit(known) ? 0 : known & lanes;
    }
    /// The past access and the current one are not ordered.
    void race(const KnownClocks& knows, Hazard hazard, std::uint32_t offset, Epoch past) const {
        const bool of_lane = knows.parts != nullptr && past.actor() < warps_.all &&
                             knows.parts[past.actor()].clock >= past.clock();
        if (of_lane)
            sink_.hazard_of_lane(hazard, offset, past);
        else
            sink_.hazard(hazard, offset, past);
    }
    /// Returns the epoch of the lane that issues a copy, when it issues it.
    static Epoch issue(const Actor& issuer, Epoch copy) {
        return {issuer.clock, issuer.pc, issuer.warp, copy.lane()};
    }
    static bool ordered(const std::uint32_t* seen, Epoch past) { return seen[past.actor()] >= past.clock(); }

    /// Accesses by lanes of a warp at one step and clock, in whose place strong ones came. Lanes have one
    /// entry together, so that of a word that all threads update there are as many as warps.
    struct Displaced {
        Epoch by;
        isa::Mask lanes;
        unsigned bytes;
        bool writes;

        /// Calls visit(epoch) for each lane.
        template <class Visit>
        void for_each(Visit visit) const {
            isa::for_each_lane(lanes, [&](std::size_t lane) { visit(by.of_lane(lane)); });
        }
    };
    /// Returns which of its lanes made the access before what the actor does now.
    isa::Mask ordered(const Actor& actor, Epoch now, const Displaced& past) const {
        const bool own = past.by.actor() == actor.warp;
        if (own ? past.by.clock() <= actor.met : ordered(actor.seen, past.by)) return past.lanes;
        return among(actor, own ? isa::Mask{1} << now.lane() : 0, past.by, past.lanes);
    }
    /// The bytes of a word that is accessed in parts, or by strong steps in each other's place.
    struct Split {
        std::array<Epoch, 4> write, read;
        std::vector<Displaced> displaced;
    };
    /// The write of these bytes, if one step of one warp wrote them all. Of more than a word, that of the
    /// first.
    Epoch written_at_once(std::uint32_t offset, int bytes) const;

    template <class F>
    static void for_each_word(std::uint32_t offset, int bytes, F f);
    void load_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes);
    bool store_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes);
    void check_load(const Actor& actor, Epoch now, Epoch written, std::uint32_t offset);
    void check_overwrite(const Actor& actor, Epoch now, Epoch written, std::uint32_t offset);
    void check_read_before(const Actor& actor, Epoch now, Epoch read, std::uint32_t offset);
    void check_mma(const MmaActor& mma, unsigned warps, Clocks& clocks, Epoch written, std::uint32_t offset);
    template <class Written, class Read>
    void overwrite(const Actor& issuer, Epoch write, std::uint32_t offset, std::uint32_t bytes,
                   Written written, Read read);
    void check_copy_in(const Actor& issuer, Epoch now, Epoch written, std::uint32_t offset);
    void check_copy_over(const Actor& issuer, Epoch now, Epoch read, std::uint32_t offset);
    void check_copy_out(const Actor& issuer, Epoch now, Epoch written, std::uint32_t offset, bool all);
    void check_displaced(const Actor& actor, Epoch now, const Split& parts, unsigned bytes, bool writes,
                         std::uint32_t offset);
    void displace(const Actor& actor, Epoch now, std::uint32_t word, unsigned part, bool writes);
    /// Returns whether the access stands for the past one in every later comparison.
    bool covers(const Actor& actor, Epoch now, bool writes, Epoch past, bool past_writes) const {
        return past.pc() == now.pc() && (writes || !past_writes) && ordered(actor, now, past);
    }
    void check_in_flight(const Actor& actor, std::uint32_t unit);
    /// Returns what the past access is to those that the issuer has the async proxy make.
    machine::Visible visible(const Actor& issuer, Epoch now, Epoch past) const {
        return machine::visible(ordered(issuer, now, past),
                                [&] { return published(issuer.seen, issuer.published, past); });
    }
    /// Returns whether this has been published to the async proxy, as far as the vectors know.
    bool published(const std::uint32_t* seen, const std::uint32_t* published, Epoch past) const {
        const int actor = past.actor(), first = warps_.first;
        if (actor >= warps_.all) return seen[actor + (past.generic() ? 1 : 0)] >= past.clock();
        const bool own = actor >= first && actor < first + warps_.warps;
        return published[(own ? 0 : warps_.all * isa::lanes) + past.thread()] >= past.clock();
    }
    std::size_t set_size() const { return 2 * static_cast<std::size_t>(warps_.all); }
    Epoch merged_read(const Actor& actor, Epoch now, Epoch read);
    void add_read(const Actor& actor, Epoch now, Epoch* set);
    /// Returns whether one epoch may stand for both reads.
    bool replaced(const Actor& actor, Epoch now, Epoch read) const {
        return ordered(actor, now, read) || (read.actor() == actor.warp && read.clock() == now.clock());
    }
    Epoch joined(const Actor& actor, Epoch now, Epoch read) const {
        return ordered(actor, now, read) ? now : now.with_others();
    }
    void forget_read(Epoch read);
    /// Returns which bytes of the word have no value.
    unsigned lack(std::uint32_t word) const;
    /// Reports those of these bytes that a copy has brought without a value.
    void check_lack(std::uint32_t offset, std::uint32_t bytes);
    /// The bytes get values.
    void fill_lack(std::uint32_t offset, std::uint32_t bytes);
    Split& split(std::uint32_t word);

    Warps warps_;
    HazardSink& sink_;
    std::vector<Epoch> writes_, reads_;  ///< per word
    bool read_ = false;                  ///< whether a thread has read any
    std::vector<Epoch> copies_;          ///< per unit of 16 bytes: the last bulk copy that reads it
    bool copied_ = false;                ///< whether there has been one
    bool initialised_ = false;           ///< bytes that were never written may be read
    /// Per unit of 16 bytes and warp: serial and step of the last wgmma that reads it; empty before the
    /// first. Serials count on from `before_`, the last of all that the CTAs before this one issued, so that
    /// nothing needs clearing.
    std::vector<std::uint32_t> in_flight_, in_flight_pc_;
    std::uint32_t before_ = 0, latest_ = 0;
    /// By word, a bit for each byte: those that copies have brought without a value.
    std::unordered_map<std::uint32_t, unsigned> lacks_;
    std::vector<Split> splits_;
    std::vector<std::uint32_t> free_splits_;
    /// Pool of sets: by warp of the cluster, the last read, and before it the last of another lane at another
    /// clock.
    std::vector<Epoch> read_sets_;
    std::vector<std::uint32_t> free_read_sets_;
    std::vector<Past> fresh_;                      ///< of the current access
    std::unordered_set<std::uint32_t> displaced_;  ///< the words that have or had such accesses
};

}  // namespace wgrun::sim
