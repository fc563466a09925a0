// The phases of an mbarrier that warps of a rehearsal wait for: WG-MBAR-06.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/rehearsal.hpp"
#include "rules/phase_words.hpp"

namespace wgrun::check {

void Rehearsal::watch_phase(Mbarrier& mbarrier, std::int64_t parity) {
    const auto skips = [&](rules::Saying saying) {
        skipped(op_->step, std::move(saying), {mbarrier.made->where, "initialised here"});
    };
    if (parity != 0 && parity != 1)
        return skips(rules::bad_parity(name(*warp_), place(mbarrier.offset()), parity));
    if (anybody_left_) return;
    const std::uint32_t known = warp_->known.of(mbarrier.actor());
    if (waits_.wait(warp_->number, local(*warp_), mbarrier, parity, known, warp_->pc) !=
        Mbarrier::Wait::skipped)
        return;
    rules::Saying saying = rules::phase_skipped(name(*warp_), place(mbarrier.offset()), mbarrier.phase(),
                                                parity, mbarrier.is_complete(parity));
    if (const machine::LetThrough* wait = waits_.repeated(warp_->number))
        return blame(*wait, {op_->where, std::move(saying.message)});
    skips(std::move(saying));
}

/// Reports a skipped phase, unless one is reported already: further ones are consequences.
void Rehearsal::skipped(const Step* wait, rules::Saying saying, Note note) {
    if (std::ranges::find(findings_, saying.rule.id, &Diagnostic::rule) == findings_.end())
        add(std::move(saying), wait, {std::move(note)});
}

/// Reports an operation before the wait for a phase of the mbarrier: WG-MBAR-03, or a wait that is at fault.
void Rehearsal::early(const Mbarrier& mbarrier, rules::Saying saying) {
    if (const machine::LetThrough* wait = waits_.to_blame(warp_->number, mbarrier))
        return blame(*wait, {op_->where, std::move(saying.message)});
    add(std::move(saying), op_->step,
        {{mbarrier.made != nullptr ? mbarrier.made->where : Where{}, "initialised here"}});
}

/// Blames the wait, if there is one, for passing before `copy`, whose bytes the mbarrier counts. Returns
/// whether it did.
bool Rehearsal::let_through(const machine::LetThrough* wait, const Step* copy) {
    if (wait == nullptr) return false;
    blame(*wait, {copy->where, fmt::format("the bytes of phase {} are copied here", wait->phase)});
    return true;
}

void Rehearsal::blame(const machine::LetThrough& wait, Note consequence) {
    skipped(skeleton_.ops[wait.pc].step, rules::let_through(place(wait.offset), wait.phase, wait.parity),
            std::move(consequence));
}

}  // namespace wgrun::check
