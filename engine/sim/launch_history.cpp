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
    const auto known = [&](Epoch one) { return now.knower.knows(cluster, one); };
    if (!known(past)) return false;
    const auto copies = ends_.find({cluster, past.number()});
    return copies == ends_.end() || std::ranges::all_of(copies->second, [&](const Ends& ends) {
               return std::ranges::any_of(ends, known);
           });
}

bool LaunchHistory::published(const Now& now, const Access& past) {
    if (!now.async || past.async) return true;
    const Write write{past.cluster, past.by};
    if (fine_ == write && fine_to_ == now.by) return true;
    const auto any = [](const FenceLog::Fence&) { return true; };
    if (proxy_fences.between(past.cluster, past.by, now.knower, any) == nullptr) return false;
    fine_ = write;
    fine_to_ = now.by;
    return true;
}

void LaunchHistory::tell(Wrong wrong, std::uint64_t address, const Side& access, const Side& other) {
    if (!reported_.emplace(access.by.pc(), other.by.pc()).second) return;
    reported_.emplace(other.by.pc(), access.by.pc());
    found_[std::max(access.cluster, other.cluster)].push_back({wrong, address, access, other});
}

void LaunchHistory::read(const Now& now, std::uint64_t address, std::uint64_t bytes) {
    const std::uint32_t cluster = now.knower.cluster;
    const Side self{cluster, false, now.by};
    for_each_word(address, bytes, [&](Word& word, std::uint64_t at, unsigned part) {
        bool fed = false;
        for (const Access& past : word) {
            if (!past.writes || (past.bytes & part) == 0 || past.cluster == cluster) continue;
            const Side write{past.cluster, true, past.by};
            const std::uint64_t byte = at + static_cast<unsigned>(std::countr_zero(past.bytes & part));
            if (ordered(now, past.cluster, past.by)) {
                fed = true;
                if (!published(now, past)) tell(Wrong::unfenced, byte, self, write);
                continue;
            }
            if (meet(now, past)) continue;
            if (past.before && ordered(now, past.cluster, past.before))
                tell(Wrong::unordered, byte, write, self);
            else
                tell(Wrong::unordered, byte, self, write);
        }
        std::erase_if(word, [&](Access& past) {
            if (past.writes || past.cluster != cluster || past.by.actor() != now.by.actor() ||
                !stands_for(now, past))
                return false;
            fed |= past.fed;
            return (past.bytes &= static_cast<std::uint8_t>(~part)) == 0;
        });
        word.push_back({cluster, now.kind, false, now.async, false, now.system, fed,
                        static_cast<std::uint8_t>(part), now.by, Epoch()});
    });
}

void LaunchHistory::write(const Now& now, std::uint64_t address, std::uint64_t bytes, bool same) {
    const std::uint32_t cluster = now.knower.cluster;
    const Side self{cluster, true, now.by};
    for_each_word(address, bytes, [&](Word& word, std::uint64_t at, unsigned part) {
        Epoch before;
        for (const Access& past : word) {
            if ((past.bytes & part) == 0) continue;
            if (past.cluster == cluster) {
                if (past.writes) before = past.by;
                continue;
            }
            const Side other{past.cluster, past.writes, past.by};
            const std::uint64_t byte = at + static_cast<unsigned>(std::countr_zero(past.bytes & part));
            if (ordered(now, past.cluster, past.by)) {
                if (past.writes && !published(now, past)) tell(Wrong::unfenced, byte, self, other);
                continue;
            }
            if (meet(now, past) || (past.writes && same && now.fixed && past.fixed)) continue;
            if (past.writes || past.fed)
                tell(Wrong::unordered, byte, self, other);
            else
                tell(Wrong::unordered, byte, other, self);
        }
        // What comes after a weak write comes after all that it was compared with. Strong writes of several
        // clusters are in no order, and each stands for those of its own thread before it.
        std::erase_if(word, [&](Access& past) {
            const bool own = past.cluster == cluster && past.by.actor() == now.by.actor();
            if (now.kind != weak && !(own && stands_for(now, past))) return false;
            return (past.bytes &= static_cast<std::uint8_t>(~part)) == 0;
        });
        word.push_back({cluster, now.kind, true, now.async, now.fixed, now.system, false,
                        static_cast<std::uint8_t>(part), now.by, before});
    });
}

std::vector<LaunchHistory::Write> LaunchHistory::last_writes(std::uint64_t address, std::uint64_t bytes) {
    std::vector<Write> out;
    for_each_word(address, bytes, [&](const Word& word, std::uint64_t, unsigned part) {
        for (const Access& past : word)
            if (const Write write{past.cluster, past.by};
                past.writes && (past.bytes & part) != 0 && std::ranges::find(out, write) == out.end())
                out.push_back(write);
    });
    return out;
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
