// Which phases of an mbarrier a warp of a rehearsal waits for: WG-MBAR-06.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/rehearsal.hpp"

namespace wgrun::check {

/// Parities tell two phases apart: the one in progress and the one before. A warp waits for the first phase
/// that it does not know to be complete, or again for the one before that.
void Rehearsal::watch_phase(Mbarrier& mbarrier, std::int64_t parity) {
    const std::uint32_t known = warp_->known.of(mbarrier.actor);
    if (parity != 0 && parity != 1)
        return skipped(op_->step,
                       fmt::format("{} waits for {} with parity {}: it is 0 or 1", name(*warp_),
                                   place(mbarrier.offset), parity),
                       "the lowest bit of the phase's number: phase & 1",
                       {mbarrier.made->where, "initialised here"});
    if (anybody_left_ || known < mbarrier.init) return;
    const bool passes = mbarrier.is_complete(parity);
    if (known < mbarrier.before || (known < mbarrier.since && !passes)) {
        // The last phase of that parity that the warp may mean.
        const std::int64_t phase = mbarrier.phase, meant = phase - (passes ? 3 : 2);
        const std::string where = place(mbarrier.offset);
        std::string message = fmt::format(
            "{} waits {}, which is in phase {} by now: phase {} has completed, and the warp has not waited "
            "for it",
            name(*warp_),
            meant < 0 ? fmt::format("with parity {} for {} as for a fresh mbarrier", parity & 1, where)
                      : fmt::format("for phase {} (parity {}) of {}", meant, parity & 1, where),
            phase, phase - 1);
        if (const Warp::LetThrough* wait = repeated()) return blame(*wait, {op_->where, std::move(message)});
        return skipped(op_->step, std::move(message),
                       fmt::format("wait for each phase in turn: the parity of phase {} is {}", phase - 1,
                                   (phase - 1) & 1),
                       {mbarrier.made->where, "initialised here"});
    }
    if (!passes) return;
    std::uint32_t& passed = mbarrier.passed[static_cast<std::size_t>(local(*warp_))];
    const bool repeated = std::exchange(passed, mbarrier.next()) == mbarrier.next();
    if (known < mbarrier.since) {
        warp_->news_since_arrival = warp_->news_since_meeting = true;
        warp_->let_through.clear();
    } else if (!warp_->news_since_meeting && (repeated || mbarrier.phase == 0)) {
        std::erase_if(warp_->let_through, [&](const auto& other) { return other.mbarrier == &mbarrier; });
        warp_->let_through.push_back({&mbarrier, mbarrier.next(), mbarrier.phase, parity & 1, op_->step,
                                      repeated && !warp_->news_since_arrival});
    }
}

/// The last wait of the warp at hand, if it has waited for that phase before and for nothing else since.
const Rehearsal::Warp::LetThrough* Rehearsal::repeated() const {
    const auto& waits = warp_->let_through;
    return !waits.empty() && waits.back().repeated ? &waits.back() : nullptr;
}

/// The same, or that of a warp that has arrived at the mbarrier, or has waited for it.
const Rehearsal::Warp::LetThrough* Rehearsal::suspect(const Mbarrier& mbarrier) const {
    if (const Warp::LetThrough* wait = repeated()) return wait;
    // An arrival too many in this phase, or in the one before, which it has completed.
    if (mbarrier.suspect.mbarrier != nullptr && mbarrier.phase - mbarrier.suspected <= 1)
        return &mbarrier.suspect;
    // Of one that is waited for before its first bytes come.
    if (mbarrier.brought != nullptr)
        for (const Warp& warp : warps_)
            for (const Warp::LetThrough& wait : warp.let_through)
                if (wait.mbarrier == &mbarrier && wait.phase == 0) return &wait;
    return nullptr;
}

/// Once a phase has gone by unseen, what follows is no news.
void Rehearsal::skipped(const Step* wait, std::string message, std::string fix, Note note) {
    constexpr const char* rule = "WG-MBAR-06";
    if (std::ranges::find(findings_, rule, &Diagnostic::rule) == findings_.end())
        add(rule, wait, std::move(message), std::move(fix), {std::move(note)});
}

/// Something is done before a phase of the mbarrier has been waited for: WG-MBAR-03, or a wait is at fault.
void Rehearsal::early(const Mbarrier& mbarrier, std::string message, std::string fix) {
    if (const Warp::LetThrough* wait = suspect(mbarrier))
        return blame(*wait, {op_->where, std::move(message)});
    add("WG-MBAR-03", op_->step, std::move(message), std::move(fix),
        {{mbarrier.made != nullptr ? mbarrier.made->where : Where{}, "initialised here"}});
}

/// Is it the warp's wait that is at fault when it comes before `copy`, which the mbarrier counts in the phase
/// that is complete at `clock`? Reports it then.
bool Rehearsal::let_through(const Warp& warp, const Mbarrier& mbarrier, std::uint32_t clock,
                            const Step* copy) {
    const auto wait = std::ranges::find(warp.let_through, &mbarrier, &Warp::LetThrough::mbarrier);
    if (wait == warp.let_through.end() || wait->clock != clock) return false;
    blame(*wait, {copy->where, fmt::format("the bytes of phase {} are copied here", wait->phase)});
    return true;
}

void Rehearsal::blame(const Warp::LetThrough& wait, Note consequence) {
    const std::string where = place(wait.mbarrier->offset);
    skipped(wait.step,
            wait.phase == 0
                ? fmt::format(
                      "a fresh mbarrier lets the wait with parity {} for {} through: phase 0 is in progress",
                      wait.parity, where)
                : fmt::format(
                      "phase {} of {}, which the warp has waited for before, lets the wait with parity {} "
                      "through: phase {} is in progress",
                      wait.phase - 1, where, wait.parity, wait.phase),
            fmt::format("turn the parity from phase to phase: that of phase {} is {}", wait.phase,
                        wait.phase & 1),
            std::move(consequence));
}

}  // namespace wgrun::check
