// What is said of waits that another phase of their mbarrier lets through: WG-MBAR-06.
#include <algorithm>
#include <utility>

#include "rules/copy_words.hpp"
#include "rules/phase_words.hpp"
#include "sim/report.hpp"

namespace wgrun::sim {
namespace {

/// The one that should have been for the phase of the mbarrier that ends at this clock.
const Report::LetThrough* for_phase(const std::vector<Report::LetThrough>& waits, int actor,
                                    std::uint32_t clock) {
    const auto found = std::ranges::find(waits, actor, &Report::LetThrough::actor);
    return found != waits.end() && found->clock == clock ? &*found : nullptr;
}

}  // namespace

void Report::bad_parity(const Mbarrier& mbarrier, std::int64_t parity) {
    add(rules::bad_parity(who(), place(mbarrier.offset), parity), no_pc,
        {{code_.where(mbarrier.made.pc()), "initialised here"}});
    settled_ = true;
}

void Report::phase_skipped(const Mbarrier& mbarrier, std::int64_t parity, int warp) {
    rules::Saying saying = rules::phase_skipped("warp " + std::to_string(warp), place(mbarrier.offset),
                                                mbarrier.phase, parity, mbarrier.is_complete(parity));
    if (const LetThrough* wait = repeated()) return blame(*wait, std::move(saying.message));
    add(std::move(saying), no_pc, {{code_.where(mbarrier.made.pc()), "initialised here"}});
    settled_ = true;
}

void Report::blame(const LetThrough& wait, std::string consequence) {
    const std::uint32_t here = std::exchange(pc_, wait.pc);
    add(rules::let_through(place(wait.offset), wait.phase, wait.parity), no_pc,
        {{code_.where(here), std::move(consequence)}});
    pc_ = here;
    settled_ = true;
}

void Report::unfinished_load(Epoch copy) {
    rules::Saying saying = rules::copy_in_at_end();
    for (const auto& waits : let_through_)
        if (const LetThrough* wait = for_phase(waits, copy.actor(), copy.clock()))
            return blame(*wait, std::move(saying.message));
    fault(std::move(saying));
}

void Report::let_through(int warp, const LetThrough& wait) {
    auto& waits = let_through_[static_cast<std::size_t>(warp)];
    std::erase_if(waits, [&](const LetThrough& other) { return other.actor == wait.actor; });
    waits.push_back(wait);
}

/// The last wait of the warp at hand, if it has waited for that phase before and for nothing else since.
const Report::LetThrough* Report::repeated() const {
    const auto& waits = let_through_[static_cast<std::size_t>(thread_ / isa::lanes)];
    return !waits.empty() && waits.back().repeated ? &waits.back() : nullptr;
}

void Report::arrives(const Mbarrier& mbarrier) {
    if (const LetThrough* wait = repeated())
        suspects_.insert_or_assign(mbarrier.actor, Suspect{*wait, mbarrier.phase});
}

void Report::early(const Mbarrier& mbarrier, rules::Saying saying) {
    std::string& message = saying.message;
    if (const LetThrough* wait = repeated()) return blame(*wait, std::move(message));
    // An arrival too many in this phase, or in the one before, which it has completed.
    const auto found = suspects_.find(mbarrier.actor);
    if (found != suspects_.end() && mbarrier.phase - found->second.phase <= 1)
        return blame(LetThrough(found->second.wait), std::move(message));
    // One that is waited for before its first bytes come.
    if (mbarrier.copy_pc != no_pc)
        for (const auto& waits : let_through_)
            for (const LetThrough& wait : waits)
                if (wait.actor == mbarrier.actor && wait.phase == 0) return blame(wait, std::move(message));
    fault(std::move(saying));
}

/// The wait that should have kept the step at hand, or the access before it, from coming too early.
const Report::LetThrough* Report::culprit(Epoch other) const {
    const auto of = [&](int warp) -> const auto& { return let_through_[static_cast<std::size_t>(warp)]; };
    if (copying_.first < 0) return for_phase(of(thread_ / isa::lanes), other.actor(), other.clock());
    const LetThrough* theirs =
        by_copy(other) ? nullptr : for_phase(of(other.actor()), copying_.first, copying_.second);
    return theirs != nullptr ? theirs : repeated();
}

}  // namespace wgrun::sim
