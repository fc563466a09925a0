#include "machine/waits.hpp"

#include <algorithm>

namespace wgrun::machine {

Mbarrier::Wait Waits::wait(int warp, int local, Mbarrier& mbarrier, std::int64_t parity, std::uint32_t known,
                           std::uint32_t pc) {
    const Mbarrier::Wait what = mbarrier.wait(parity, local, known);
    Warp& own = of(warp);
    own.by_a_fresh_one = false;
    if (what == Mbarrier::Wait::news) {
        own.news_since_arrival = own.news_since_meeting = true;
        own.let_through.clear();
        return what;
    }
    const bool again = what == Mbarrier::Wait::again;
    if (own.news_since_meeting || !(again || (what == Mbarrier::Wait::known && mbarrier.phase() == 0)))
        return what;
    std::erase_if(own.let_through, [&](const LetThrough& other) { return other.actor == mbarrier.actor(); });
    own.let_through.push_back({mbarrier.actor(), mbarrier.offset(), mbarrier.next(), mbarrier.phase(), pc,
                               static_cast<int>(parity & 1), again && !own.news_since_arrival});
    own.by_a_fresh_one = !again;
    return what;
}

void Waits::arrives_at(int warp, const Mbarrier& mbarrier) {
    if (const LetThrough* wait = repeated(warp))
        suspects_.insert_or_assign(mbarrier.actor(), Suspect{*wait, mbarrier.phase()});
    of(warp).by_a_fresh_one = false;
    of(warp).arrived[mbarrier.actor()] = mbarrier.phase();
}

const LetThrough* Waits::repeated(int warp) const {
    const auto& waits = of(warp).let_through;
    return !waits.empty() && waits.back().repeated ? &waits.back() : nullptr;
}

const LetThrough* Waits::for_phase(int warp, int actor, std::uint32_t clock) const {
    const auto& waits = of(warp).let_through;
    const auto found = std::ranges::find(waits, actor, &LetThrough::actor);
    return found != waits.end() && found->clock == clock ? &*found : nullptr;
}

const LetThrough* Waits::for_phase(int actor, std::uint32_t clock) const {
    for (std::size_t warp = 0; warp < warps_.size(); ++warp)
        if (const LetThrough* wait = for_phase(static_cast<int>(warp), actor, clock)) return wait;
    return nullptr;
}

const LetThrough* Waits::to_blame(int warp, const Mbarrier& mbarrier) const {
    if (const LetThrough* wait = repeated(warp)) return wait;
    const Warp& own = of(warp);
    if (own.by_a_fresh_one && own.let_through.back().actor != mbarrier.actor()) {
        const auto before = own.arrived.find(mbarrier.actor());
        if (before != own.arrived.end() && mbarrier.phase() - before->second <= 1)
            return &own.let_through.back();
    }
    // An excess arrival in this phase, or in the previous one, which it has completed.
    const auto suspect = suspects_.find(mbarrier.actor());
    if (suspect != suspects_.end() && mbarrier.phase() - suspect->second.phase <= 1)
        return &suspect->second.wait;
    // Of one that is waited for before its first bytes come.
    if (mbarrier.has_copied())
        for (const Warp& other : warps_)
            for (const LetThrough& wait : other.let_through)
                if (wait.actor == mbarrier.actor() && wait.phase == 0) return &wait;
    return nullptr;
}

}  // namespace wgrun::machine
