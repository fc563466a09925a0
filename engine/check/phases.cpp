// Which phases of an mbarrier a warp of a rehearsal waits for: WG-MBAR-06.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/rehearsal.hpp"
#include "rules/phase_words.hpp"

namespace wgrun::check {

/// Parities tell two phases apart: the one in progress and the one before. A warp waits for the first phase
/// that it does not know to be complete, or again for the one before that.
void Rehearsal::watch_phase(Mbarrier& mbarrier, std::int64_t parity) {
    const std::uint32_t known = warp_->known.of(mbarrier.actor);
    const auto skips = [&](rules::Saying saying) {
        skipped(op_->step, std::move(saying), {mbarrier.made->where, "initialised here"});
    };
    if (parity != 0 && parity != 1)
        return skips(rules::bad_parity(name(*warp_), place(mbarrier.offset), parity));
    if (anybody_left_ || known < mbarrier.init) return;
    const bool passes = mbarrier.is_complete(parity);
    if (known < mbarrier.before || (known < mbarrier.since && !passes)) {
        rules::Saying saying =
            rules::phase_skipped(name(*warp_), place(mbarrier.offset), mbarrier.phase, parity, passes);
        if (const Warp::LetThrough* wait = repeated())
            return blame(*wait, {op_->where, std::move(saying.message)});
        return skips(std::move(saying));
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
void Rehearsal::skipped(const Step* wait, rules::Saying saying, Note note) {
    if (std::ranges::find(findings_, saying.rule.id, &Diagnostic::rule) == findings_.end())
        add(std::move(saying), wait, {std::move(note)});
}

/// Something is done before a phase of the mbarrier has been waited for: WG-MBAR-03, or a wait is at fault.
void Rehearsal::early(const Mbarrier& mbarrier, rules::Saying saying) {
    if (const Warp::LetThrough* wait = suspect(mbarrier))
        return blame(*wait, {op_->where, std::move(saying.message)});
    add(std::move(saying), op_->step,
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
    skipped(wait.step, rules::let_through(place(wait.mbarrier->offset), wait.phase, wait.parity),
            std::move(consequence));
}

}  // namespace wgrun::check
