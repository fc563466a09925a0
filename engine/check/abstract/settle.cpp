// Accesses to shared memory that can be told apart no longer: whatever follows comes after them.
#include <algorithm>
#include <iterator>
#include <limits>

#include "check/abstract/shared_memory.hpp"

namespace wgrun::check::abstract {
namespace {

constexpr std::uint32_t all_clocks = std::numeric_limits<std::uint32_t>::max();

/// Up to which clock of each actor all warps know of its accesses.
class KnownToAll {
  public:
    explicit KnownToAll(const ExecutionState& of) : of_(of), ordered_(of.warps.size()), fenced_(ordered_) {
        for (std::size_t warp = 0; warp < of.warps.size(); ++warp) {
            const auto actor = static_cast<int>(warp);
            ordered_[warp] = least(actor, ordered_by(actor));
            fenced_[warp] = std::min(least(actor, fenced_by(actor)), of.warps[warp].published);
        }
    }

    bool ordered(int warp, std::uint32_t clock) const {
        return clock <= ordered_[static_cast<std::size_t>(warp)];
    }
    bool fenced(int warp, std::uint32_t clock) const {
        return clock <= fenced_[static_cast<std::size_t>(warp)];
    }
    bool multiplied(int warp, std::uint32_t wait) const { return wait <= least(warp, multiplied_by(warp)); }
    bool landed(int mbarrier, std::uint32_t clock) const {
        return clock <= least(-1, landed_at(mbarrier, of_.warps.size()));
    }
    /// All lanes of the warp know of it.
    bool together(int warp, std::uint32_t clock) const {
        return clock <= of_.warps[static_cast<std::size_t>(warp)].together;
    }

  private:
    /// Of the warps that go on, but for the one that `at` is about.
    std::uint32_t least(int except, int at) const {
        std::uint32_t out = all_clocks;
        for (const Warp& warp : of_.warps)
            if (warp.state != Warp::State::ended && warp.number != except)
                out = std::min(out, warp.known.memory.of(at));
        return out;
    }

    const ExecutionState& of_;
    std::vector<std::uint32_t> ordered_, fenced_;
};

}  // namespace

/// Forgets accesses that all warps come after; that the bytes are written stays. Once all lanes of the warp
/// have met, it does not matter which of them it was. Neither changes again.
void SharedMemory::settle() {
    if (is_over()) return;
    const KnownToAll all(execution_);
    const auto is_settled = [&](const Access& one) {
        switch (one.kind) {
            case Access::Kind::generic:
                return all.together(one.actor, one.clock) && all.ordered(one.actor, one.clock) &&
                       all.fenced(one.actor, one.clock);
            case Access::Kind::store:
                return one.over && all.together(one.actor, one.clock) && all.ordered(one.actor, one.clock);
            case Access::Kind::copy: return all.landed(one.actor, one.clock);
            case Access::Kind::product:
                for (std::size_t i = 0; i < one.waited.size(); ++i)
                    if (one.waited[i] != 0 && all.multiplied(one.group + static_cast<int>(i), one.waited[i]))
                        return true;
                return false;
            default: return false;
        }
    };
    const auto forget = [&](Access& one) {
        const bool by_warp =
            one.kind == Access::Kind::generic || (one.kind == Access::Kind::store && one.over);
        if (by_warp && all.together(one.actor, one.clock)) one.lanes = 0;
        // A wgmma that its warpgroup has waited for is known by these waits.
        if (one.kind != Access::Kind::product || !one.over) return;
        const auto mates = execution_.mates(execution_.warps[static_cast<std::size_t>(one.actor)]);
        if (std::all_of(one.waited.begin(), one.waited.begin() + static_cast<std::ptrdiff_t>(mates.size()),
                        [](std::uint32_t waited) { return waited != 0; })) {
            one.actor = one.group;
            one.lanes = 0;
            one.clock = 0;
        }
    };
    for (Cta& cta : ctas_) {
        auto last = cta.begin();
        for (auto at = cta.begin(); at != cta.end(); ++at) {
            if (is_settled(at->written)) at->written = {.kind = Access::Kind::settled};
            forget(at->written);
            std::erase_if(at->read, is_settled);
            std::ranges::for_each(at->read, forget);
            for (auto one = at->read.begin(); one != at->read.end(); ++one)
                at->read.erase(std::remove(std::next(one), at->read.end(), *one), at->read.end());
            if (last != at && last->hi == at->lo && last->written == at->written && last->read == at->read)
                last->hi = at->hi;
            else if (last != at && ++last != at)
                *last = std::move(*at);
        }
        if (!cta.empty()) cta.erase(std::next(last), cta.end());
    }
}

void SharedMemory::encode(Encoder& to) {
    for (std::size_t warp = 0; warp < copies_.size(); ++warp) {
        const ThreadCopies& its = copies_[warp];
        if (its.groups.issued() == 0) continue;
        its.groups.encode(to);
        // What a lane has waited for counts as written by it.
        for (std::size_t lane = 0; lane < its.last.size(); ++lane)
            to.number(its.last[lane] > its.waited[lane] ? its.groups.issued() - its.last[lane] + 1 : 0);
    }
    if (is_over()) return;
    settle();
    const auto count_back = [&](Access& one) {
        if (one.kind == Access::Kind::by_thread)
            one.clock = copies_[static_cast<std::size_t>(one.actor)].groups.issued() - one.clock;
        else if (one.kind == Access::Kind::store && !one.over)
            one.clock = to.back(Encoder::stores_of(one.actor), one.clock);
        else if (one.kind == Access::Kind::product && one.clock != 0)
            one.clock = to.back(Encoder::products_of(one.actor), one.clock);
    };
    std::vector<Cta> memory = ctas_;
    for (Cta& cta : memory)
        for (Bytes& bytes : cta) {
            count_back(bytes.written);
            std::ranges::for_each(bytes.read, count_back);
        }
    to.memory(std::move(memory));
}

}  // namespace wgrun::check::abstract
