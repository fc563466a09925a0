#include "sim/shadow.hpp"

#include <algorithm>
#include <bit>

namespace wgrun::sim {
namespace {

constexpr unsigned whole_word = 15;

}  // namespace

Shadow::Shadow(Warps warps, std::int64_t bytes, HazardSink& sink) : warps_(warps), sink_(sink) {
    const auto units = static_cast<std::size_t>((bytes + unit_bytes - 1) / unit_bytes);
    writes_.resize(units * (unit_bytes / word_bytes));
    reads_.resize(writes_.size());
    copies_.resize(units);
}

void Shadow::reset() {
    std::fill(writes_.begin(), writes_.end(), Epoch());
    if (read_) std::fill(reads_.begin(), reads_.end(), Epoch());
    read_ = false;
    before_ = latest_;
    if (before_ > UINT32_MAX / 2) {
        std::fill(in_flight_.begin(), in_flight_.end(), 0);
        before_ = latest_ = 0;
    }
    if (copied_) std::fill(copies_.begin(), copies_.end(), Epoch());
    copied_ = false;
    lacks_.clear();
    splits_.clear();
    free_splits_.clear();
    read_sets_.clear();
    free_read_sets_.clear();
    displaced_.clear();
}

/// Calls f(word, bits of its bytes) for an aligned access of 1, 2, 4, 8 or 16 bytes.
template <class F>
void Shadow::for_each_word(std::uint32_t offset, int bytes, F f) {
    const std::uint32_t first = offset / word_bytes;
    const auto words = static_cast<std::uint32_t>(bytes) / word_bytes;
    if (words == 0) return f(first, ((1U << bytes) - 1) << offset % word_bytes);
    for (std::uint32_t word = first; word < first + words; ++word) f(word, whole_word);
}

void Shadow::load(const Actor& actor, int lane, std::uint32_t offset, int bytes) {
    const Epoch now(actor.clock, actor.pc, actor.warp, lane);
    read_ = true;
    if (!lacks_.empty()) check_lack(offset, static_cast<std::uint32_t>(bytes));
    for_each_word(offset, bytes, [&](std::uint32_t word, unsigned part) {
        const Epoch written = writes_[word], read = reads_[word];
        if (part == whole_word && (written || initialised_) && ordered(actor, now, written) &&
            replaced(actor, now, read))
            reads_[word] = joined(actor, now, read);
        else
            load_word(actor, now, word, part);
    });
}

void Shadow::load_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes) {
    const std::uint32_t offset = word * word_bytes;
    if (bytes == whole_word && !writes_[word].is_link()) {
        check_load(actor, now, writes_[word], offset);
        reads_[word] = merged_read(actor, now, reads_[word]);
        return;
    }
    Split& parts = split(word);
    check_displaced(actor, now, parts, bytes, false, offset);
    for (std::uint32_t b = 0; b < word_bytes; ++b) {
        if ((bytes >> b & 1U) == 0) continue;
        check_load(actor, now, parts.write[b], offset + b);
        parts.read[b] = merged_read(actor, now, parts.read[b]);
    }
}

void Shadow::check_load(const Actor& actor, Epoch now, Epoch written, std::uint32_t offset) {
    if (!written && !initialised_)
        sink_.hazard(Hazard::uninitialised, offset, written);
    else if (!ordered(actor, now, written))
        race(actor, Hazard::read_after_write, offset, written);
}

bool Shadow::store(const Actor& actor, int lane, std::uint32_t offset, int bytes) {
    const Epoch now(actor.clock, actor.pc, actor.warp, lane);
    bool overlap = false;
    if (!lacks_.empty()) fill_lack(offset, static_cast<std::uint32_t>(bytes));
    for_each_word(offset, bytes, [&](std::uint32_t word, unsigned part) {
        const Epoch written = writes_[word];
        if (part == whole_word && ordered(actor, now, written) && ordered(actor, now, reads_[word]) &&
            !written.same_step(now)) {
            writes_[word] = now;
            reads_[word] = Epoch();
        } else {
            overlap |= store_word(actor, now, word, part);
        }
    });
    check_in_flight(actor, offset / unit_bytes);
    return overlap;
}

void Shadow::strong(const Actor& actor, int lane, std::uint32_t offset, int bytes, bool writes) {
    const Epoch now(actor.clock, actor.pc, actor.warp, lane);
    for_each_word(offset, bytes, [&](std::uint32_t word, unsigned part) {
        const Epoch written = writes_[word], read = reads_[word];
        const auto stays = [&](Epoch past, bool past_writes) {
            return !past || (!past.is_link() && covers(actor, now, writes, past, past_writes));
        };
        if (!written.is_link() && stays(read, false) && (!writes || stays(written, true))) return;
        displace(actor, now, word, part, writes);
    });
}

void Shadow::displace(const Actor& actor, Epoch now, std::uint32_t word, unsigned part, bool writes) {
    Split& parts = split(word);
    std::erase_if(parts.displaced, [&](Displaced& past) {
        if ((past.bytes & ~part) != 0 || past.by.pc() != now.pc() || (past.writes && !writes)) return false;
        return (past.lanes &= ~ordered(actor, now, past)) == 0;
    });
    fresh_.clear();
    const auto keep = [&](Epoch past, unsigned byte, bool past_writes) {
        if (!past || covers(actor, now, writes, past, past_writes)) return;
        // Of reads in no order all are remembered where a read comes.
        if (!writes && !ordered(actor, now, past)) return;
        const auto known = std::ranges::find_if(
            fresh_, [&](const Past& other) { return other.by == past && other.writes == past_writes; });
        if (known != fresh_.end())
            known->bytes |= byte;
        else
            fresh_.push_back({past, byte, past_writes});
    };
    for (std::uint32_t b = 0; b < word_bytes; ++b) {
        if ((part >> b & 1U) == 0) continue;
        if (writes) keep(parts.write[b], 1U << b, true);
        const Epoch read = parts.read[b];
        if (!read.is_link()) {
            keep(read, 1U << b, false);
            continue;
        }
        const Epoch* set = read_sets_.data() + read.index() * set_size();
        for (std::size_t i = 0; i < set_size(); ++i) keep(set[i], 1U << b, false);
    }
    for (const Past& past : fresh_) {
        const isa::Mask lane = isa::Mask{1} << past.by.lane();
        const auto known = std::ranges::find_if(parts.displaced, [&](const Displaced& other) {
            return other.by.same_step(past.by) && other.bytes == past.bytes && other.writes == past.writes;
        });
        if (known != parts.displaced.end())
            known->lanes |= lane;
        else
            parts.displaced.push_back({past.by, lane, past.bytes, past.writes});
    }
    if (!fresh_.empty()) displaced_.insert(word);
}

/// Compares an access with those in whose place strong ones came.
void Shadow::check_displaced(const Actor& actor, Epoch now, const Split& parts, unsigned bytes, bool writes,
                             std::uint32_t offset) {
    if (parts.displaced.empty()) return;
    const bool own = sink_.meets_itself(now.pc());
    for (const Displaced& past : parts.displaced) {
        if (own && past.by.pc() == now.pc()) continue;
        if ((past.bytes & bytes) == 0 || !(past.writes || writes)) continue;
        const isa::Mask apart = past.lanes & ~ordered(actor, now, past);
        if (apart == 0) continue;
        const Epoch by = past.by.of_lane(static_cast<std::size_t>(std::countr_zero(apart)));
        const Hazard hazard = !writes       ? Hazard::read_after_write
                              : past.writes ? Hazard::write_after_write
                                            : Hazard::write_after_read;
        race(actor, hazard, offset + static_cast<unsigned>(std::countr_zero(past.bytes & bytes)), by);
    }
}

Epoch Shadow::written_at_once(std::uint32_t offset, int bytes) const {
    const Epoch word = writes_[offset / word_bytes];
    if (!word.is_link()) return word;
    const auto* part = splits_[word.index()].write.data() + offset % word_bytes;
    const auto differs = [&](Epoch other) {
        return other.pc() != part->pc() || other.actor() != part->actor();
    };
    return std::any_of(part + 1, part + std::min(bytes, static_cast<int>(word_bytes)), differs) ? Epoch()
                                                                                                : *part;
}

bool Shadow::store_again(const Actor& actor, int lane, std::uint32_t offset, int bytes) {
    const Epoch written = written_at_once(offset, bytes);
    if (!written || written.pc() != actor.pc || written.actor() == actor.warp ||
        ordered(actor, Epoch(actor.clock, actor.pc, actor.warp, lane), written))
        return false;
    sink_.hazard(Hazard::equal_writes, offset, written);
    return true;
}

bool Shadow::store_word(const Actor& actor, Epoch now, std::uint32_t word, unsigned bytes) {
    const std::uint32_t offset = word * word_bytes;
    if (bytes == whole_word && !writes_[word].is_link()) {
        const Epoch written = writes_[word];
        check_overwrite(actor, now, written, offset);
        check_read_before(actor, now, reads_[word], offset);
        writes_[word] = now;
        reads_[word] = Epoch();
        return written != now && written.same_step(now);
    }
    Split& parts = split(word);
    check_displaced(actor, now, parts, bytes, true, offset);
    // What comes after a weak write comes after all that it was compared with.
    if (!parts.displaced.empty() && sink_.weak(actor.pc))
        std::erase_if(parts.displaced, [&](Displaced& past) { return (past.bytes &= ~bytes) == 0; });
    bool overlap = false;
    for (std::uint32_t b = 0; b < word_bytes; ++b) {
        if ((bytes >> b & 1U) == 0) continue;
        overlap |= parts.write[b] != now && parts.write[b].same_step(now);
        check_overwrite(actor, now, parts.write[b], offset + b);
        check_read_before(actor, now, parts.read[b], offset + b);
        parts.write[b] = now;
        parts.read[b] = Epoch();
    }
    if (bytes == whole_word && parts.displaced.empty()) {
        free_splits_.push_back(writes_[word].index());
        writes_[word] = now;
    }
    return overlap;
}

// Lanes that write in the same step are reported by store().
void Shadow::check_overwrite(const Actor& actor, Epoch now, Epoch written, std::uint32_t offset) {
    if (!written.same_step(now) && !ordered(actor, now, written))
        race(actor, Hazard::write_after_write, offset, written);
}

void Shadow::check_read_before(const Actor& actor, Epoch now, Epoch read, std::uint32_t offset) {
    if (!read.is_link()) {
        if (!ordered(actor, now, read)) race(actor, Hazard::write_after_read, offset, read);
        return;
    }
    const Epoch* set = read_sets_.data() + read.index() * set_size();
    for (std::size_t i = 0; i < set_size(); ++i)
        if (!ordered(actor, now, set[i])) race(actor, Hazard::write_after_read, offset, set[i]);
    forget_read(read);
}

void Shadow::grow(std::int64_t bytes) {
    initialised_ = true;
    const auto words = static_cast<std::size_t>(bytes) / word_bytes;
    if (words <= writes_.size()) return;
    writes_.resize(words);
    reads_.resize(words);
}

Shadow::Last Shadow::last(std::uint32_t word) const {
    Last out;
    const auto add = [&](unsigned bytes, Epoch write, Epoch read) {
        if (write) out.written |= bytes, out.write = write;
        if (!read) return;
        out.read |= bytes;
        out.reader = read;
        if (!read.is_link()) return;
        const Epoch* set = read_sets_.data() + read.index() * set_size();
        out.reader = *std::find_if(set, set + set_size(), [](Epoch one) { return static_cast<bool>(one); });
    };
    if (!writes_[word].is_link()) {
        add(whole_word, writes_[word], reads_[word]);
        return out;
    }
    const Split& parts = splits_[writes_[word].index()];
    for (std::uint32_t b = 0; b < word_bytes; ++b) add(1U << b, parts.write[b], parts.read[b]);
    return out;
}

std::uint32_t Shadow::unread(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t at = begin;
    for (; at + word_bytes <= end; at += word_bytes) {
        const Last found = last(at / word_bytes);
        if (found.written != whole_word || found.read != 0 || found.write.actor() >= warps_.all) break;
    }
    return at - begin;
}

void Shadow::check_in_flight(const Actor& actor, std::uint32_t unit) {
    if (!in_flight_.empty()) {
        const auto warps = static_cast<std::size_t>(warps_.warps);
        const std::uint32_t* serial = in_flight_.data() + unit * warps;
        const std::uint32_t* finished = actor.finished + warps_.first;
        unsigned any = 0;  // without a branch for each warp: nearly always there is none
        for (std::size_t w = 0; w < warps; ++w) any |= serial[w] > before_ + finished[w];
        for (std::size_t w = 0; any != 0 && w < warps; ++w)
            if (serial[w] > before_ + finished[w])
                sink_.hazard(
                    Hazard::write_under_mma, unit * unit_bytes,
                    Epoch(0, in_flight_pc_[unit * warps + w], warps_.first + static_cast<int>(w), 0));
    }
    if (copied_ && !ordered(actor.seen, copies_[unit]))
        sink_.hazard(Hazard::write_under_copy, unit * unit_bytes, copies_[unit]);
}

// Returns the reads to remember after one more: the new one alone when it has seen the others, else a set.
Epoch Shadow::merged_read(const Actor& actor, Epoch now, Epoch read) {
    const std::size_t size = set_size();
    if (!read.is_link()) {
        if (replaced(actor, now, read)) return joined(actor, now, read);
        std::uint32_t index = static_cast<std::uint32_t>(read_sets_.size() / size);
        if (free_read_sets_.empty()) {
            read_sets_.resize(read_sets_.size() + size);
        } else {
            index = free_read_sets_.back();
            free_read_sets_.pop_back();
            std::fill_n(read_sets_.begin() + static_cast<std::ptrdiff_t>(index * size), size, Epoch());
        }
        Epoch* set = read_sets_.data() + index * size;
        set[static_cast<std::size_t>(read.actor())] = read;
        add_read(actor, now, set);
        return Epoch::link(index);
    }
    Epoch* set = read_sets_.data() + read.index() * size;
    add_read(actor, now, set);
    const Epoch own = set[static_cast<std::size_t>(actor.warp)];
    if (!std::all_of(set, set + size, [&](Epoch past) { return past == own || ordered(actor, now, past); }))
        return read;
    forget_read(read);
    return own;
}

void Shadow::add_read(const Actor& actor, Epoch now, Epoch* set) {
    Epoch& last = set[static_cast<std::size_t>(actor.warp)];
    Epoch& before = set[static_cast<std::size_t>(warps_.all + actor.warp)];
    if (ordered(actor, now, before)) before = Epoch();
    if (replaced(actor, now, last)) {
        last = joined(actor, now, last);
    } else {
        before = last;
        last = now;
    }
}

void Shadow::forget_read(Epoch read) { free_read_sets_.push_back(read.index()); }

// Returns the bytes of a word, each with the history that the word had.
Shadow::Split& Shadow::split(std::uint32_t word) {
    if (writes_[word].is_link()) return splits_[writes_[word].index()];
    std::uint32_t index = static_cast<std::uint32_t>(splits_.size());
    if (free_splits_.empty()) {
        splits_.emplace_back();
    } else {
        index = free_splits_.back();
        free_splits_.pop_back();
    }
    Split& parts = splits_[index];
    parts.displaced.clear();
    parts.write.fill(writes_[word]);
    parts.read.fill(reads_[word]);
    if (reads_[word].is_link()) {  // each byte needs a set of its own
        const std::size_t size = set_size();
        for (std::size_t b = 1; b < word_bytes; ++b) {
            const std::size_t from = reads_[word].index() * size, to = read_sets_.size();
            read_sets_.resize(to + size);
            std::copy_n(read_sets_.begin() + static_cast<std::ptrdiff_t>(from), size,
                        read_sets_.begin() + static_cast<std::ptrdiff_t>(to));
            parts.read[b] = Epoch::link(static_cast<std::uint32_t>(to / size));
        }
    }
    writes_[word] = Epoch::link(index);
    reads_[word] = Epoch();
    return parts;
}

}  // namespace wgrun::sim
