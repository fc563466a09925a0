#include "check/rehearsal/encoder.hpp"

#include <map>

namespace wgrun::check::rehearsal {
namespace {

/// Whether an actor's clocks are compared with what is known of them, and with nothing else: a warp's, and
/// those of its accesses.
bool is_warps(int actor, int warps) { return actor != -1 && actor < warps && actor > -2 - warps; }

}  // namespace

/// The order of clocks that are compared with each other belongs to the numbers.
Encoded Encoder::finish() && {
    std::map<int, std::vector<std::uint32_t>> sorted;
    for (const Encoded::Clock& clock : out_.clocks)
        if (!is_warps(clock.actor, out_.warps)) sorted[clock.actor].push_back(clock.value);
    for (auto& [actor, values] : sorted) {
        std::ranges::sort(values);
        values.erase(std::ranges::unique(values).begin(), values.end());
        if (values.front() == 0) values.erase(values.begin());
    }
    out_.numbers.reserve(out_.numbers.size() + out_.clocks.size());
    for (const Encoded::Clock& clock : out_.clocks) {
        std::uint64_t rank = clock.value == 0 ? 0 : 1;
        if (const auto its = sorted.find(clock.actor); its != sorted.end() && rank != 0)
            rank += static_cast<std::uint64_t>(std::ranges::lower_bound(its->second, clock.value) -
                                               its->second.begin());
        out_.numbers.push_back(rank);
    }
    return std::move(out_);
}

/// For each piece of knowledge: every clock that it includes here, it includes there. Of an mbarrier, whether it
/// is later than the clock matters, too.
bool Encoded::knows_no_more_than(const Encoded& other) const {
    if (clocks.size() != other.clocks.size() || known.size() != other.known.size()) return false;
    struct Both {
        std::uint32_t here, there;
    };
    std::unordered_map<int, std::vector<Both>> by_actor;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
        if (clocks[i].actor != other.clocks[i].actor) return false;
        if (clocks[i].value != 0) by_actor[clocks[i].actor].push_back({clocks[i].value, other.clocks[i].value});
    }
    for (auto& [actor, both] : by_actor) {
        std::ranges::sort(both, {}, &Both::here);
        for (std::size_t i = 1; i < both.size(); ++i) both[i].there = std::max(both[i].there, both[i - 1].there);
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
        if (known[i].actor != other.known[i].actor) return false;
        const auto its = by_actor.find(known[i].actor);
        if (its == by_actor.end()) continue;
        const auto& both = its->second;
        const auto included = std::ranges::upper_bound(both, known[i].value, {}, &Both::here);
        if (included != both.begin() && std::prev(included)->there > other.known[i].value) return false;
        if (is_warps(known[i].actor, warps)) continue;
        const auto before = std::ranges::lower_bound(both, known[i].value, {}, &Both::here);
        if (before != both.begin() && std::prev(before)->there >= other.known[i].value) return false;
    }
    return true;
}

}  // namespace wgrun::check::rehearsal
