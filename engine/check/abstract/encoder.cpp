#include "check/abstract/encoder.hpp"

#include <algorithm>
#include <optional>

namespace wgrun::check::abstract {
namespace {

/// Whether an actor's clocks are compared with what is known of them, and with nothing else: a warp's, and
/// those of its accesses.
bool is_warps(int actor, int warps) { return actor != -1 && actor < warps && actor > -2 - warps; }

}  // namespace

std::set<int> Encoder::actors_of_clocks() const {
    std::set<int> out;
    for (const Encoded::Clock& clock : out_.clocks)
        if (clock.value != 0) out.insert(clock.actor);
    return out;
}

/// What is known of an actor that no clock is of decides nothing, but where accesses to memory are compared
/// with it.
bool Encoder::decides(int actor, const std::set<int>& of_clocks) const {
    return !out_.memory.empty() || of_clocks.contains(actor);
}

void Encoder::lower(const std::vector<std::uint32_t>& kept, int actors) const {
    const std::set<int> of_clocks = actors_of_clocks();
    std::vector<std::uint32_t> most;
    most.reserve(out_.known.size());
    for (auto next = kept.begin(); const Encoded::Clock& known : out_.known)
        most.push_back(decides(known.actor, of_clocks) ? *next++ : UINT32_MAX);
    for (const auto& [count, at] : counts_) *count = std::min(*count, most[at]);
    for (const auto& [of, first] : pieces_) {
        auto next = most.begin() + static_cast<std::ptrdiff_t>(first);
        for (int actor = 0; actor < actors; ++actor) of->limit(actor, *next++);
        for (int at = 0; at < 3 * out_.warps; ++at) of->memory.limit(at, *next++);
        for (int actor = out_.warps; actor < actors; ++actor)
            of->memory.limit(3 * out_.warps + actor, *next++);
    }
}

/// The order of clocks that are compared with each other belongs to the numbers.
Encoded Encoder::finish() && {
    const auto& clocks = out_.clocks;
    std::vector<std::uint32_t>& order = out_.order;
    for (std::uint32_t i = 0; i < clocks.size(); ++i)
        if (clocks[i].value != 0) order.push_back(i);
    const auto key = [](const Encoded::Clock& clock) { return std::pair(clock.actor, clock.value); };
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return key(clocks[i]); });
    std::vector<std::uint64_t> ranks(clocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Encoded::Clock& clock = clocks[order[i]];
        const Encoded::Clock* before =
            i == 0 || clocks[order[i - 1]].actor != clock.actor ? nullptr : &clocks[order[i - 1]];
        const std::uint64_t rank = before == nullptr ? 1 : ranks[order[i - 1]];
        const bool later =
            before != nullptr && before->value != clock.value && !is_warps(clock.actor, out_.warps);
        ranks[order[i]] = rank + (later ? 1 : 0);
    }
    out_.numbers.insert(out_.numbers.end(), ranks.begin(), ranks.end());
    const auto of_clocks = actors_of_clocks();
    std::erase_if(out_.known, [&](const Encoded::Clock& known) { return !decides(known.actor, of_clocks); });
    out_.end.reserve(out_.known.size());
    for (const Encoded::Clock& known : out_.known)
        out_.end.push_back(static_cast<std::uint32_t>(
            std::ranges::upper_bound(order, key(known), {}, [&](std::uint32_t i) { return key(clocks[i]); }) -
            order.begin()));
    return std::move(out_);
}

/// In numbers, as what it takes to compare them.
std::size_t Encoded::size() const {
    constexpr std::size_t of_bytes = 32;
    std::size_t out = numbers.size();
    for (const MemoryOfCta& cta : memory) out += of_bytes * cta.size();
    return out;
}

/// For each piece of knowledge: every clock that it includes here, it includes there. Of an mbarrier, whether
/// it is later than the clock matters, too.
bool Encoded::knows_no_more_than(const Encoded& other) const {
    if (clocks.size() != other.clocks.size() || known.size() != other.known.size()) return false;
    // By place in `order`: the latest of the other's clocks of the same actor up to there.
    std::vector<std::uint32_t> latest(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        latest[i] = other.clocks[order[i]].value;
        if (i != 0 && clocks[order[i - 1]].actor == clocks[order[i]].actor)
            latest[i] = std::max(latest[i], latest[i - 1]);
    }
    const auto of = [&](std::uint32_t end, int actor) -> std::uint32_t {
        return end == 0 || clocks[order[end - 1]].actor != actor ? 0 : latest[end - 1];
    };
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto [actor, value] = known[i];
        if (of(end[i], actor) > other.known[i].value) return false;
        if (is_warps(actor, warps) || end[i] == 0) continue;
        std::uint32_t before = end[i];
        while (before != 0 && clocks[order[before - 1]].actor == actor &&
               clocks[order[before - 1]].value == value)
            --before;
        if (const std::uint32_t its = of(before, actor); its != 0 && its >= other.known[i].value)
            return false;
    }
    return memory_covers(*this, other);
}

std::vector<std::uint32_t> Encoded::known_in_both(const Encoded& other) const {
    std::vector<std::uint32_t> out(known.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto [actor, value] = known[i];
        std::uint32_t& most = out[i] = value;
        std::optional<std::uint32_t> last;  // of the clocks that are included in both
        std::uint32_t others_last = 0;
        for (std::uint32_t at = end[i]; at != 0 && clocks[order[at - 1]].actor == actor; --at) {
            const std::uint32_t its = clocks[order[at - 1]].value, others = other.clocks[order[at - 1]].value;
            if (others > other.known[i].value) {
                most = its - 1;
                last.reset();
                others_last = 0;
            } else {
                last = last.value_or(its);
                others_last = std::max(others_last, others);
            }
        }
        if (!is_warps(actor, warps) && last && others_last >= other.known[i].value)
            most = std::min(most, *last);
    }
    return out;
}

}  // namespace wgrun::check::abstract
