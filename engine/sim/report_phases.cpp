// What is reported about waits that another phase of their mbarrier lets through: WG-MBAR-06.
#include <algorithm>
#include <utility>

#include "rules/copy_words.hpp"
#include "rules/phase_words.hpp"
#include "sim/report.hpp"

namespace wgrun::sim {

void Report::wrong_wait(const Mbarrier& mbarrier, rules::RuleMessage message) {
    add(std::move(message), no_pc, {{code_.where(mbarrier.made().pc), "initialised here"}});
    settled_ = true;
}

void Report::phase_skipped(const Mbarrier& mbarrier, std::int64_t parity, int warp) {
    rules::RuleMessage message = rules::phase_skipped("warp " + std::to_string(warp), place(mbarrier),
                                                      mbarrier.phase(), parity, mbarrier.is_complete(parity));
    if (const machine::LetThrough* wait = waits_.repeated(warp_at_hand()))
        return blame(*wait, std::move(message.text));
    add(std::move(message), no_pc, {{code_.where(mbarrier.made().pc), "initialised here"}});
    settled_ = true;
}

void Report::blame(const machine::LetThrough& wait, std::string consequence) {
    const std::uint32_t here = std::exchange(pc_, wait.pc);
    add(rules::let_through(place(wait.offset), wait.phase, wait.parity), no_pc,
        {{code_.where(here), std::move(consequence)}});
    pc_ = here;
    settled_ = true;
}

void Report::unfinished_load(Epoch copy) {
    rules::RuleMessage message = rules::copy_in_at_end();
    if (const machine::LetThrough* wait = waits_.for_phase(copy.actor(), copy.clock()))
        return blame(*wait, std::move(message.text));
    fault(std::move(message));
}

void Report::early(const Mbarrier& mbarrier, rules::RuleMessage message) {
    if (const machine::LetThrough* wait = waits_.to_blame(warp_at_hand(), mbarrier))
        return blame(*wait, std::move(message.text));
    fault(std::move(message));
}

/// Returns the wait that should have kept the current step, or the access before it, from coming too early.
const machine::LetThrough* Report::culprit(Epoch other) const {
    if (copying_.first < 0) return waits_.for_phase(warp_at_hand(), other.actor(), other.clock());
    const machine::LetThrough* theirs =
        by_copy(other) ? nullptr : waits_.for_phase(other.actor(), copying_.first, copying_.second);
    return theirs != nullptr ? theirs : waits_.repeated(warp_at_hand());
}

}  // namespace wgrun::sim
