#include "sim/launch_history.hpp"

#include <algorithm>
#include <bit>

namespace wgrun::sim {

/// Calls f(the word, its address, bits of its bytes).
template <class F>
void LaunchHistory::for_each_word(std::uint64_t address, std::uint64_t bytes, F f) {
    constexpr std::uint64_t line_bytes = line_words * word_bytes;
    std::vector<Word>* line = nullptr;
    for (std::uint64_t at = address, end = address + bytes; at < end;) {
        const std::uint64_t word = at / word_bytes * word_bytes, next = std::min(word + word_bytes, end);
        if (line == nullptr || word % line_bytes == 0) {
            line = &lines_[word / line_bytes];
            line->resize(line_words);
        }
        f((*line)[word % line_bytes / word_bytes], word, ((1U << (next - at)) - 1) << (at - word));
        at = next;
    }
}

bool LaunchHistory::ordered(const Now& now, std::uint32_t cluster, Epoch past) const {
    const auto known = [&](Epoch one) { return now.learned.knows(cluster, one, now.actor); };
    if (!known(past)) return false;
    const auto copies = ends_.find({cluster, past.number()});
    return copies == ends_.end() || std::ranges::all_of(copies->second, [&](const Ends& ends) {
               return std::ranges::any_of(ends, known);
           });
}

void LaunchHistory::race(std::uint64_t address, const Side& access, const Side& other) {
    if (!told_.emplace(access.by.pc(), other.by.pc()).second) return;
    told_.emplace(other.by.pc(), access.by.pc());
    found_[std::max(access.cluster, other.cluster)].push_back({Wrong::unordered, address, access, other});
}

void LaunchHistory::read(const Now& now, std::uint64_t address, std::uint64_t bytes) {
    const Side self{now.cluster, false, now.by};
    for_each_word(address, bytes, [&](Word& word, std::uint64_t at, unsigned part) {
        bool fed = false;
        for (const Access& past : word) {
            if (!past.writes || (past.bytes & part) == 0 || past.cluster == now.cluster) continue;
            if (ordered(now, past.cluster, past.by)) {
                fed = true;
                continue;
            }
            if (past.kind != weak && past.kind == now.kind) continue;
            const Side write{past.cluster, true, past.by};
            const std::uint64_t byte = at + static_cast<unsigned>(std::countr_zero(past.bytes & part));
            if (past.before && ordered(now, past.cluster, past.before))
                race(byte, write, self);
            else
                race(byte, self, write);
        }
        std::erase_if(word, [&](Access& past) {
            if (past.writes || past.cluster != now.cluster || past.by.actor() != now.by.actor() ||
                (past.kind == weak && now.kind != weak))
                return false;
            fed |= past.fed;
            return (past.bytes &= static_cast<std::uint8_t>(~part)) == 0;
        });
        word.push_back({now.cluster, now.kind, false, fed, static_cast<std::uint8_t>(part), now.by, Epoch()});
    });
}

void LaunchHistory::write(const Now& now, std::uint64_t address, std::uint64_t bytes, bool same) {
    const Side self{now.cluster, true, now.by};
    for_each_word(address, bytes, [&](Word& word, std::uint64_t at, unsigned part) {
        Epoch before;
        for (const Access& past : word) {
            if ((past.bytes & part) == 0) continue;
            if (past.cluster == now.cluster) {
                if (past.writes) before = past.by;
                continue;
            }
            if ((past.kind != weak && past.kind == now.kind) || (past.writes && same) ||
                ordered(now, past.cluster, past.by))
                continue;
            const Side other{past.cluster, past.writes, past.by};
            const std::uint64_t byte = at + static_cast<unsigned>(std::countr_zero(past.bytes & part));
            if (past.writes || past.fed)
                race(byte, self, other);
            else
                race(byte, other, self);
        }
        // What comes after a weak write comes after all that it was compared with. Strong writes of several
        // clusters are in no order, and each stands for those of its own thread before it.
        std::erase_if(word, [&](Access& past) {
            const bool own = past.cluster == now.cluster && past.by.actor() == now.by.actor();
            if (now.kind != weak && !(own && past.kind == now.kind)) return false;
            return (past.bytes &= static_cast<std::uint8_t>(~part)) == 0;
        });
        word.push_back({now.cluster, now.kind, true, false, static_cast<std::uint8_t>(part), now.by, before});
    });
}

void LaunchHistory::reads_until(std::uint32_t cluster, Epoch read, const Ends& ends) {
    ends_[{cluster, read.number()}].push_back(ends);
}

std::vector<Conflict> LaunchHistory::take(std::uint64_t cluster) {
    const auto found = found_.find(static_cast<std::uint32_t>(cluster));
    if (found == found_.end()) return {};
    std::vector<Conflict> out = std::move(found->second);
    found_.erase(found);
    return out;
}

}  // namespace wgrun::sim
