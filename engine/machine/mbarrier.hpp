// An mbarrier object (PTX ISA 9.7.13.15): its state, and the effect of each operation.
//
// An operation returns what has happened. mbarrier_unit.hpp has the instructions, lane by lane, and says what
// is wrong; the abstract execution and the simulator, which drive both, keep what each warp knows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "isa/warp.hpp"
#include "machine/proxies.hpp"

namespace wgrun::machine {

/// Steps are named by their numbers in the flat code of who drives the machine; this stands for none.
inline constexpr std::uint32_t no_pc = UINT32_MAX;

/// The object is an actor, too, whose clock counts its events: the init, the fence that announces it, and
/// completed phases. A warp that knows of one of these events knows the clock.
class Mbarrier {
  public:
    static constexpr std::uint32_t bytes = 8;  ///< size and alignment of an object
    /// The limit of a phase's arrivals, and of the tx-count in either direction.
    static constexpr std::int64_t most = (1 << 20) - 1;

    /// A completed phase.
    struct Turn {
        std::uint32_t phase;      ///< its number
        std::int64_t in_flight;   ///< bytes that its copies had not yet delivered
        std::int64_t to_expect;   ///< bytes that it was told to expect
        std::int64_t to_bring;    ///< bytes of its copies
        std::int64_t unsized;     ///< copies of unknown size that had not landed
        std::uint32_t told_at;    ///< the last expectation of bytes in it, or else the last arrival
        std::uint32_t copied_at;  ///< the last copy that began in it
        bool by_others;           ///< other CTAs have begun copies in it
    };
    /// Who initialised the object: a lane of a warp, at that clock of the warp and that step.
    struct Maker {
        int warp = 0, lane = 0;
        std::uint32_t clock = 0, pc = no_pc;
    };
    /// A copy that has landed.
    struct Landing {
        bool counts;  ///< false if its phase completed without it, as turn() reported, or the object was
                      ///< invalidated
        std::optional<std::int64_t> too_many;  ///< as of expect()
    };
    /// The outcome of a warp's wait.
    enum class Wait : std::uint8_t {
        unknown,  ///< the warp does not know that the object is initialised
        skipped,  ///< a phase that the warp has not waited for has completed, and this wait is not for it
        blocked,  ///< the phase is not complete
        news,     ///< the phase is complete, and the warp did not know
        again,    ///< the warp knew, and that phase has ended a wait of it before
        known,    ///< the warp knew by other means
    };

    /// actor: its number (-1: its knowledge is not tracked).
    explicit Mbarrier(std::uint32_t offset, int actor = -1) : offset_(offset), actor_(actor) {}

    // --- operations

    /// mbarrier.init, of an object at which the waits of so many warps are tracked. Are the arrivals within 1
    /// to `most`?
    bool init(std::int64_t arrivals, int warps) { return init(arrivals, warps, Maker()); }
    bool init(std::int64_t arrivals, int warps, Maker by) {
        const int actor = actor_;
        const std::uint32_t clock = clock_ + 1;
        *this = Mbarrier(offset_, actor);
        live_ = true;
        made_ = by;
        expected_ = pending_ = arrivals;
        clock_ = init_ = since_ = before_ = clock;
        passed_.assign(static_cast<std::size_t>(warps), 0U);
        return arrivals >= 1 && arrivals <= most;
    }
    /// mbarrier.inval
    void end() { live_ = false; }
    /// A fence by these lanes of a warp (fence.mbarrier_init, or one of the async proxy). If they have
    /// initialised the object, and no fence before has done so, it makes the init known to all that know of
    /// the fence: returns the clock of that.
    std::optional<std::uint32_t> announce(int warp, isa::Mask lanes) {
        if (announced_ != 0 || !live_ || made_.warp != warp || (lanes >> made_.lane & 1U) == 0) return {};
        return announced_ = ++clock_;
    }
    /// Counts arrivals; none: one that cancels the expected arrival that it adds. False, without effect: the
    /// phase expects fewer.
    bool arrive(std::int64_t arrivals, std::uint32_t pc = no_pc) {
        if (arrivals > pending_) return false;
        pending_ -= arrivals;
        if (arrivals == 0) ++added_;
        arrived_at_ = pc;
        return true;
    }
    /// The phase expects one more arrival. False, without effect: it expects as many as it can.
    bool expect_arrival() {
        if (pending_ >= most) return false;
        ++pending_;
        ++added_;
        return true;
    }
    /// expect_tx. Returns the tx-count if that is more than the object holds; it stays at the limit.
    std::optional<std::int64_t> expect(std::int64_t size, std::uint32_t pc = no_pc) {
        expected_at_ = pc;
        to_expect_ += size;
        return add(size);
    }
    /// complete_tx by a thread: so many bytes count as arrived. Returns as expect() does.
    std::optional<std::int64_t> deliver(std::int64_t size) { return add(-size); }
    /// Later phases expect so many arrivals fewer.
    void drop(std::int64_t arrivals) { expected_ = std::max(expected_ - arrivals, std::int64_t{0}); }
    /// A copy begins that the current phase counts.
    void begin_copy(std::int64_t size, std::uint32_t pc = no_pc, bool by_other = false) {
        copied_at_ = pc;
        by_others_ |= by_other;
        in_flight_ += size;
        to_bring_ += size;
        copied_ = true;
    }
    /// The same of a copy whose size is not known: all of the phase together bring what other copies do not.
    void begin_unsized(std::uint32_t pc = no_pc) {
        copied_at_ = pc;
        ++unsized_;
        copied_ = true;
    }
    /// Such a copy of that phase has landed.
    Landing land_unsized(std::uint32_t phase) {
        if (!live_ || phase != phase_) return {false, {}};
        if (--unsized_ == 0) tx_ = std::min(tx_, in_flight_);
        return {true, {}};
    }
    /// complete_tx: such a copy of that phase has landed.
    Landing land(std::int64_t size, std::uint32_t phase) {
        if (!live_ || phase != phase_) return {false, {}};
        in_flight_ -= size;
        return {true, add(-size)};
    }
    /// Completes the current phase if everything that it expects has arrived.
    std::optional<Turn> turn() {
        if (pending_ != 0 || tx_ != 0) return {};
        const std::uint32_t expected_at = std::exchange(expected_at_, no_pc);
        const Turn out{phase_++,
                       std::exchange(in_flight_, 0),
                       std::exchange(to_expect_, 0),
                       std::exchange(to_bring_, 0),
                       std::exchange(unsized_, 0),
                       expected_at != no_pc ? expected_at : arrived_at_,
                       std::exchange(copied_at_, no_pc),
                       std::exchange(by_others_, false)};
        added_ = 0;
        pending_ = expected_;
        before_ = std::exchange(since_, ++clock_);
        return out;
    }
    /// A wait with parity 0 or 1 of a warp (of those that init() was told of) that knows the clock `known`.
    ///
    /// Parities distinguish two phases: the current and the previous one. A warp waits for the first phase
    /// that it does not know to be complete, or again for the one before that.
    Wait wait(std::int64_t parity, int warp, std::uint32_t known) {
        if (known < init_) return Wait::unknown;
        const bool passes = is_complete(parity);
        if (known < before_ || (known < since_ && !passes)) return Wait::skipped;
        if (!passes) return Wait::blocked;
        const bool repeated = std::exchange(passed_[static_cast<std::size_t>(warp)], next()) == next();
        return known < since_ ? Wait::news : repeated ? Wait::again : Wait::known;
    }

    // --- state

    std::uint32_t offset() const { return offset_; }  ///< bytes from the start of the CTA's shared memory
    int actor() const { return actor_; }
    bool live() const { return live_; }  ///< between init and inval
    /// Nothing has happened to it since the init: another one to as many arrivals changes nothing.
    bool is_new() const {
        return clock_ == init_ && pending_ == expected_ && added_ == 0 && tx_ == 0 && to_expect_ == 0 &&
               !copied_;
    }
    std::int64_t expected() const { return expected_; }  ///< arrivals of a phase
    std::int64_t pending() const { return pending_; }    ///< arrivals that are outstanding
    std::int64_t added() const { return added_; }        ///< besides them, by copies (cp.async)
    std::int64_t tx() const { return tx_; }              ///< bytes that are expected but have not arrived
    std::int64_t in_flight() const {
        return in_flight_;
    }  ///< bytes that copies of the phase have not yet delivered
    std::int64_t to_expect() const { return to_expect_; }  ///< bytes that the phase was told to expect
    std::int64_t to_bring() const { return to_bring_; }    ///< bytes of its copies
    std::uint32_t phase() const { return phase_; }         ///< number of the current phase
    bool has_copied() const { return copied_; }            ///< has it counted any copy since the init?
    /// Is the phase of this parity, the current or the previous one, complete?
    bool is_complete(std::int64_t parity) const { return (phase_ & 1) != (parity & 1); }

    // --- places in the code; no_pc: there was none

    const Maker& made() const { return made_; }
    std::uint32_t arrived_at() const { return arrived_at_; }  ///< the last arrival
    std::uint32_t expected_at() const {
        return expected_at_;
    }                                                       ///< the last expectation of bytes in this phase
    std::uint32_t copied_at() const { return copied_at_; }  ///< the last copy that began in this phase

    // --- what warps know

    /// The clock of the current phase's completion.
    std::uint32_t next() const { return clock_ + 1; }
    std::uint32_t clock() const { return clock_; }
    std::uint32_t announced() const { return announced_; }  ///< clock of the fence; 0: there was none
    /// Of the init, to a warp that knows that clock: it may use the object if threads see it, and pass it to
    /// copies if the async proxy does.
    Visible published(std::uint32_t known) const {
        return visible(known >= init_, [&] { return announced_ != 0 && known >= announced_; });
    }
    /// Of what a warp knows, a relaxed operation passes on that phases are complete and that a fence has told
    /// of the init, but not the init.
    bool passed_on(std::uint32_t known) const { return known > init_; }
    /// A warp that knows of the init, but not that the previous phase is complete, is too early for the
    /// current phase: its operation might count for the previous one.
    bool is_early(std::uint32_t known) const { return known >= init_ && known < since_; }

    /// Writes down what decides how the object goes on: of phases, the parity.
    template <class Encoder>
    void encode(Encoder& to) const {
        to.number(std::uint64_t{live_} | std::uint64_t{copied_} << 1 | std::uint64_t{phase_ & 1} << 2);
        for (const std::int64_t value :
             {expected_, pending_, added_, tx_, in_flight_, to_expect_, to_bring_, unsized_})
            to.number(static_cast<std::uint64_t>(value));
        to.number(static_cast<std::uint64_t>(made_.warp) << 8 | static_cast<std::uint64_t>(made_.lane));
        to.clock(made_.warp, made_.clock);
        for (const std::uint32_t clock : {clock_, clock_ + 1, init_, announced_, since_, before_})
            to.clock(actor_, clock);
        // What has ended a wait before the last phase was complete does not come again.
        for (const std::uint32_t clock : passed_) to.clock(actor_, clock == next() ? clock : 0);
    }

  private:
    std::optional<std::int64_t> add(std::int64_t size) {
        tx_ += size;
        if (tx_ <= most && tx_ >= -most) return {};
        return std::exchange(tx_, std::clamp(tx_, -most, most));
    }

    std::uint32_t offset_;
    int actor_;
    Maker made_;
    std::uint32_t arrived_at_ = no_pc, expected_at_ = no_pc, copied_at_ = no_pc;
    bool live_ = false, copied_ = false, by_others_ = false;
    std::int64_t expected_ = 0, pending_ = 0, added_ = 0;
    std::int64_t tx_ = 0, in_flight_ = 0, to_expect_ = 0, to_bring_ = 0, unsized_ = 0;
    std::uint32_t phase_ = 0;
    std::uint32_t clock_ = 0;
    std::uint32_t init_ = 0, announced_ = 0;
    std::uint32_t since_ = 0;            ///< clock of the last phase's completion, or of the init
    std::uint32_t before_ = 0;           ///< the same one phase earlier
    std::vector<std::uint32_t> passed_;  ///< by warp: next() when a wait of it last succeeded
};

}  // namespace wgrun::machine
