// An mbarrier object (PTX ISA 9.7.13.15): its state, and the effect of each operation.
//
// The rehearsal and the simulator drive it. An operation returns what has happened, and they report it in
// their way; they keep further data (places in the code, what each warp knows) themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace wgrun::machine {

/// The object is an actor, too, whose clock counts its events: the init, the fence that announces it, and
/// completed phases. A warp that knows of one of these events knows the clock.
class Mbarrier {
  public:
    static constexpr std::uint32_t bytes = 8;  ///< size and alignment of an object
    /// The limit of a phase's arrivals, and of the tx-count in either direction.
    static constexpr std::int64_t most = (1 << 20) - 1;

    /// A completed phase.
    struct Turn {
        std::uint32_t phase;     ///< its number
        std::int64_t under_way;  ///< bytes that its copies had not yet delivered
        std::int64_t to_expect;  ///< bytes that it was told to expect
        std::int64_t to_bring;   ///< bytes of its copies
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
    bool init(std::int64_t arrivals, int warps) {
        const int actor = actor_;
        const std::uint32_t clock = clock_ + 1;
        *this = Mbarrier(offset_, actor);
        live_ = true;
        expected_ = pending_ = arrivals;
        clock_ = init_ = since_ = before_ = clock;
        passed_.assign(static_cast<std::size_t>(warps), 0U);
        return arrivals >= 1 && arrivals <= most;
    }
    /// mbarrier.inval
    void end() { live_ = false; }
    /// A fence that makes the init known to all that know of the fence. Returns the clock of that.
    std::uint32_t announce() { return announced_ = ++clock_; }
    /// Counts arrivals. False, without effect: the phase expects fewer.
    bool arrive(std::int64_t arrivals) {
        if (arrivals > pending_) return false;
        pending_ -= arrivals;
        return true;
    }
    /// The phase expects one more arrival. False, without effect: it expects as many as it can.
    bool expect_arrival() {
        if (pending_ >= most) return false;
        ++pending_;
        return true;
    }
    /// expect_tx. Returns the tx-count if that is more than the object holds; it stays at the limit.
    std::optional<std::int64_t> expect(std::int64_t size) {
        to_expect_ += size;
        return add(size);
    }
    /// A copy begins that the current phase counts.
    void begin_copy(std::int64_t size) {
        under_way_ += size;
        to_bring_ += size;
        copied_ = true;
    }
    /// complete_tx: such a copy of that phase has landed.
    Landing land(std::int64_t size, std::uint32_t phase) {
        if (!live_ || phase != phase_) return {false, {}};
        under_way_ -= size;
        return {true, add(-size)};
    }
    /// Completes the current phase if everything that it expects has arrived.
    std::optional<Turn> turn() {
        if (pending_ != 0 || tx_ != 0) return {};
        const Turn out{phase_++, std::exchange(under_way_, 0), std::exchange(to_expect_, 0),
                       std::exchange(to_bring_, 0)};
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
    bool live() const { return live_; }                  ///< between init and inval
    std::int64_t expected() const { return expected_; }  ///< arrivals of a phase
    std::int64_t pending() const { return pending_; }    ///< arrivals that are outstanding
    std::int64_t tx() const { return tx_; }              ///< bytes that are expected but have not arrived
    std::int64_t under_way() const {
        return under_way_;
    }  ///< bytes that copies of the phase have not yet delivered
    std::int64_t to_expect() const { return to_expect_; }  ///< bytes that the phase was told to expect
    std::int64_t to_bring() const { return to_bring_; }    ///< bytes of its copies
    std::uint32_t phase() const { return phase_; }         ///< number of the current phase
    bool has_copied() const { return copied_; }            ///< has it counted any copy since the init?
    /// Is the phase of this parity, the current or the previous one, complete?
    bool is_complete(std::int64_t parity) const { return (phase_ & 1) != (parity & 1); }

    // --- what warps know

    /// The clock of the current phase's completion.
    std::uint32_t next() const { return clock_ + 1; }
    std::uint32_t clock() const { return clock_; }
    std::uint32_t announced() const { return announced_; }  ///< clock of the fence; 0: there was none
    /// Does a warp that knows that clock know that the object is initialised?
    bool is_told(std::uint32_t known) const { return known >= init_; }
    /// And may it pass the object to the async proxy?
    bool is_told_to_engine(std::uint32_t known) const { return announced_ != 0 && known >= announced_; }
    /// A warp that knows of the init, but not that the previous phase is complete, is too early for the
    /// current phase: its operation might count for the previous one.
    bool is_early(std::uint32_t known) const { return known >= init_ && known < since_; }

  private:
    std::optional<std::int64_t> add(std::int64_t size) {
        tx_ += size;
        if (tx_ <= most && tx_ >= -most) return {};
        return std::exchange(tx_, std::clamp(tx_, -most, most));
    }

    std::uint32_t offset_;
    int actor_;
    bool live_ = false, copied_ = false;
    std::int64_t expected_ = 0, pending_ = 0;
    std::int64_t tx_ = 0, under_way_ = 0, to_expect_ = 0, to_bring_ = 0;
    std::uint32_t phase_ = 0;
    std::uint32_t clock_ = 0;
    std::uint32_t init_ = 0, announced_ = 0;
    std::uint32_t since_ = 0;            ///< clock of the last phase's completion, or of the init
    std::uint32_t before_ = 0;           ///< the same one phase earlier
    std::vector<std::uint32_t> passed_;  ///< by warp: next() when a wait of it last succeeded
};

}  // namespace wgrun::machine
