#include "sim/global_shadow.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wgrun::sim {
namespace {

constexpr std::uint32_t word_bytes = 4;

/// Returns the bits of the bytes of a word.
std::uint32_t bits_of(unsigned bytes) {
    std::uint32_t out = 0;
    for (unsigned b = 0; b < word_bytes; ++b)
        if (bytes & 1U << b) out |= 0xFFU << 8 * b;
    return out;
}

/// Returns whether the cluster of `mine` had learned of `theirs` by then.
bool after(const std::shared_ptr<const Learned>& learned, const Side& theirs, const Side& mine) {
    return learned && learned->orders(theirs.cluster, theirs.by, mine.by);
}

}  // namespace

GlobalShadow::GlobalShadow(const Program& program, const SimulatedLaunch& launch, int warps, Sink& sink)
    : sink_(sink), shadow_({warps, 0, warps}, 0, *this), fences_(warps) {
    if (!launch.detect_races) return;
    const auto holds = [](const GlobalBuffer& buffer, std::uint64_t address) {
        return address >= buffer.address &&
               address - buffer.address < static_cast<std::uint64_t>(buffer.bytes);
    };
    // Buffers with the same memory, or a part of another one's, are one: the largest of them.
    const auto whole = [&](const GlobalBuffer& part) -> const GlobalBuffer& {
        const GlobalBuffer* out = &part;
        for (const GlobalBuffer& buffer : launch.buffers)
            if (buffer.data <= part.data && buffer.data + buffer.bytes >= part.data + part.bytes &&
                (buffer.bytes > out->bytes || (buffer.bytes == out->bytes && buffer.address < out->address)))
                out = &buffer;
        return *out;
    };
    std::set<const GlobalBuffer*> written;
    bool all = false;
    const auto write = [&](std::uint64_t address) {
        for (const GlobalBuffer& buffer : launch.buffers)
            if (holds(buffer, address)) written.insert(&whole(buffer));
    };
    for (std::size_t i = 0; i < launch.params.size(); ++i) {
        const std::size_t count = program.params().size();
        const Param& param = program.params()[i % count];
        if (param.structure > 0) all = true;  // it may hold pointers
        if (param.constant) continue;
        if (param.pointee) write(launch.params[i]);
        for (const TensorMap& map : launch.tensor_maps)
            if (param.box && map.device == i / count && map.handle == launch.params[i]) write(map.address);
    }
    for (const GlobalBuffer& buffer : launch.buffers) {
        const GlobalBuffer& in = whole(buffer);
        if (!all && !written.contains(&in)) continue;
        watched_.push_back({buffer.address, buffer.address + static_cast<std::uint64_t>(buffer.bytes),
                            in.address + static_cast<std::uint64_t>(buffer.data - in.data)});
    }
}

void GlobalShadow::reset() {
    shadow_.reset();
    pages_.clear();
    addresses_.clear();
    touched_.clear();
    values_.clear();
    constant_.clear();
    last_page_ = UINT64_MAX;
    steps_ = {};
    fences_.reset();
    ends_.clear();
    read_ = wrote_ = false;
}

std::uint64_t GlobalShadow::watched(std::uint64_t address) const {
    for (const Range& range : watched_)
        if (address >= range.begin && address < range.end) return range.first + (address - range.begin);
    return 0;
}

// Returns where the shadow keeps the address of an access to bytes of one page.
std::uint32_t GlobalShadow::offset(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t page = address / page_bytes;
    if (page != last_page_) {
        const auto [found, made] = pages_.try_emplace(page, static_cast<std::uint32_t>(addresses_.size()));
        if (made) {
            addresses_.push_back(page * page_bytes);
            touched_.push_back(0);
            values_.resize(addresses_.size() * page_bytes);
            shadow_.grow(static_cast<std::int64_t>(values_.size()));
        }
        last_page_ = page;
        last_place_ = found->second;
    }
    const std::uint64_t in_page = address % page_bytes;
    const std::uint64_t first = in_page / GlobalTrace::line_bytes;
    const std::uint64_t last = (in_page + bytes - 1) / GlobalTrace::line_bytes;
    touched_[last_place_] |=
        static_cast<std::uint32_t>((std::uint64_t{2} << last) - (std::uint64_t{1} << first));
    return static_cast<std::uint32_t>(last_place_ * page_bytes + in_page);
}

/// Calls f(address, offset in the shadow, bytes) for the part on each page.
template <class F>
void GlobalShadow::for_each_part(std::uint64_t address, std::uint64_t bytes, F f) {
    while (bytes > 0) {
        const std::uint64_t part = std::min(bytes, page_bytes - address % page_bytes);
        f(address, offset(address, part), static_cast<std::uint32_t>(part));
        address += part;
        bytes -= part;
    }
}

FenceLog::Fence GlobalShadow::logged(std::uint32_t pc, int warp, const GlobalFences::Fence& fence,
                                     const FenceLog::Reach& reach) const {
    return {cluster_, Epoch(fence.clock, pc, warp, 0), fence, *known_, reach};
}

void GlobalShadow::proxy_fence(Clocks& clocks, std::uint32_t pc, int warp, Lanes lanes) {
    if (!wrote_ && history_ == nullptr) return;
    const GlobalFences::Fence& fence = fences_.add(clocks, warp, lanes);
    if (history_ != nullptr) history_->proxy_fences.add(logged(pc, warp, fence, {}));
}

void GlobalShadow::release_maps(Clocks& clocks, std::uint32_t pc, int warp, Lanes lanes,
                                const FenceLog::Reach& reach) {
    if (history_ == nullptr) return;
    const GlobalFences::Fence fence = GlobalFences::made(clocks, warp, lanes);
    history_->map_releases.add(logged(pc, warp, fence, reach));
}

void GlobalShadow::tell_read(const Actor& actor, Epoch by, std::uint64_t address, std::uint64_t bytes,
                             bool async) {
    if (history_ != nullptr) history_->read(now(actor, by, async), address, bytes);
}

void GlobalShadow::tell_write(const LaunchHistory::Now& now, std::uint64_t address, std::uint64_t bytes,
                              bool same) {
    if (history_ != nullptr) history_->write(now, address, bytes, same);
}

void GlobalShadow::load(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    pc_ = actor.pc;
    read_ = true;
    check_value(actor, lane, address, static_cast<std::uint64_t>(bytes));
    tell_read(actor, {actor.clock, actor.pc, actor.warp, lane}, address, static_cast<std::uint64_t>(bytes));
    shadow_.load(actor, lane, offset(address, static_cast<std::uint64_t>(bytes)), bytes);
}

void GlobalShadow::load_constant(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    pc_ = actor.pc;
    steps_.constant.insert(pc_);
    const std::uint32_t at = offset(address, static_cast<std::uint64_t>(bytes));
    for (std::uint32_t word = at / word_bytes; word * word_bytes < at + static_cast<std::uint32_t>(bytes);
         ++word) {
        if (const Shadow::Last last = shadow_.last(word); last.written != 0)
            return sink_.global_stale({true, false, address, last.write});
        constant_[word] = Epoch(actor.clock, actor.pc, actor.warp, lane);
    }
    shadow_.load(actor, lane, at, bytes);
}

void GlobalShadow::written(std::uint32_t offset, std::uint32_t bytes) {
    if (constant_.empty()) return;
    for (std::uint32_t word = offset / word_bytes; word * word_bytes < offset + bytes; ++word)
        if (const auto read = constant_.find(word); read != constant_.end())
            return sink_.global_stale(
                {false, true, addresses_[offset / page_bytes] + offset % page_bytes, read->second});
}

bool GlobalShadow::store(const Actor& actor, int lane, std::uint64_t address, int bytes,
                         const std::byte* data, const std::byte* place) {
    pc_ = actor.pc;
    wrote_ = true;
    const auto size = static_cast<std::size_t>(bytes);
    if (discarded_ != nullptr) discarded_->written(address, size);
    if (sink_.fixed(pc_)) steps_.fixed.insert(pc_);
    if (history_ != nullptr)
        tell_write(now(actor, {actor.clock, actor.pc, actor.warp, lane}, false), address, size,
                   std::memcmp(place, data, size) == 0);
    const std::uint32_t at = offset(address, size);
    written(at, static_cast<std::uint32_t>(bytes));
    same_value_ = std::memcmp(values_.data() + at, data, size) == 0;
    check_ends(actor, at, static_cast<std::uint32_t>(bytes));
    const bool overlaps = shadow_.store(actor, lane, at, bytes);
    same_value_ = false;
    std::memcpy(values_.data() + at, data, size);
    return overlaps;
}

void GlobalShadow::update(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    pc_ = actor.pc;
    wrote_ = true;
    check_value(actor, lane, address, static_cast<std::uint64_t>(bytes));
    if (history_ != nullptr)
        tell_write(now(actor, {actor.clock, actor.pc, actor.warp, lane}, false), address,
                   static_cast<std::uint64_t>(bytes));
    const std::uint32_t at = offset(address, static_cast<std::uint64_t>(bytes));
    written(at, static_cast<std::uint32_t>(bytes));
    shadow_.load(actor, lane, at, bytes);
    check_ends(actor, at, static_cast<std::uint32_t>(bytes));
    shadow_.store(actor, lane, at, bytes);
}

void GlobalShadow::discard(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    discarded_->add(address, static_cast<std::uint64_t>(bytes),
                    {cluster_, Epoch(actor.clock, actor.pc, actor.warp, lane)});
}

void GlobalShadow::check_value(const Actor& reader, int lane, std::uint64_t address, std::uint64_t bytes) {
    if (discarded_ == nullptr) return;
    const auto by = discarded_->find(address, bytes);
    if (!by) return;
    const Epoch now(reader.clock, reader.pc, reader.warp, lane);
    if (by->cluster == cluster_ ? shadow_.ordered(reader, lane, by->step)
                                : learned_->orders(by->cluster, by->step, now))
        sink_.global_discarded(address, by->step);
}

void GlobalShadow::copy_from(const Actor& issuer, int lane, std::uint64_t address, std::uint64_t bytes) {
    pc_ = issuer.pc;
    read_ = true;
    check_value(issuer, lane, address, bytes);
    tell_read(issuer, {issuer.clock, issuer.pc, issuer.warp, lane}, address, bytes, true);
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        for (std::uint32_t i = 0, size = 0; i < part; i += size) {
            size = word_bytes;
            while (size > part - i || (at + i) % size != 0) size /= 2;
            shadow_.load(issuer, lane, at + i, static_cast<int>(size));
        }
        if (wrote_) shadow_.check_published(issuer, lane, at, part);
    });
}

void GlobalShadow::reads_until(const Actor& issuer, int lane, std::vector<Epoch> ends) {
    const Epoch read(issuer.clock, issuer.pc, issuer.warp, lane);
    if (history_ != nullptr) history_->reads_until(cluster_, read, ends);
    ends_[read.number()].push_back(std::move(ends));
}

/// Reports a bulk copy that may still be reading what is written now.
void GlobalShadow::check_ends(const Actor& writer, std::uint32_t offset, std::uint32_t bytes) {
    if (ends_.empty()) return;
    const auto known = [&](const std::vector<Epoch>& ends) {
        return std::ranges::any_of(ends, [&](Epoch end) { return shadow_.ordered(writer, end); });
    };
    for (std::uint32_t word = offset / word_bytes; word * word_bytes < offset + bytes; ++word) {
        const Epoch read = shadow_.last(word).reader;
        const auto copies = ends_.find(read.number());
        if (copies == ends_.end() || std::ranges::all_of(copies->second, known)) continue;
        const std::uint32_t at = word * word_bytes;
        return sink_.global_race({false, true, addresses_[at / page_bytes] + at % page_bytes, read});
    }
}

void GlobalShadow::copy_to(const Actor& issuer, Epoch copy, std::uint64_t address, std::uint64_t bytes,
                           bool combines) {
    pc_ = issuer.pc;
    if (combines) {
        steps_.reductions.insert(pc_);
        check_value(issuer, copy.lane(), address, bytes);
    } else if (discarded_ != nullptr) {
        discarded_->written(address, bytes);
    }
    if (history_ != nullptr) {
        LaunchHistory::Now written = now(issuer, copy, true);
        if (combines) written.kind = LaunchHistory::reducing;
        tell_write(written, address, bytes);
    }
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        written(at, part);
        // The words are whole: a row of a box begins and ends with one, except at the edges of a tensor.
        const std::uint32_t begin = (at + word_bytes - 1) / word_bytes * word_bytes;
        const std::uint32_t end = (at + part) / word_bytes * word_bytes;
        check_ends(issuer, at, part);
        if (begin < end) shadow_.copy_in(issuer, copy, begin, end - begin);
    });
}

void GlobalShadow::landed(std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        std::memcpy(values_.data() + at, data, part);
        data += part;
    });
}

// Accesses before the launch are not reported, nor are reads followed by a bulk copy.
void GlobalShadow::hazard(Hazard hazard, std::uint32_t offset, Epoch other) {
    const std::uint64_t address = addresses_[offset / page_bytes] + offset % page_bytes;
    if (hazard == Hazard::missing_proxy_fence) return sink_.global_unfenced({true, false, address, other});
    if (hazard == Hazard::unfenced_overwrite) return sink_.global_unfenced({false, false, address, other});
    if (steps_.both_combine(pc_, other.pc())) return;
    switch (hazard) {
        case Hazard::write_after_write: return sink_.global_race({false, false, address, other, same_value_});
        case Hazard::write_after_read:
            if (!ends_.contains(other.number())) sink_.global_race({false, true, address, other});
            return;
        case Hazard::read_after_write: return sink_.global_race({true, false, address, other});
        default: return;
    }
}

GlobalTrace GlobalShadow::trace(bool alike) const {
    GlobalTrace out = steps_;
    out.alike = alike && !read_;
    std::vector<std::uint32_t> order(addresses_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t place) { return addresses_[place]; });
    std::size_t lines = 0;
    for (const std::uint32_t touched : touched_) lines += static_cast<std::size_t>(std::popcount(touched));
    out.reserve(lines);
    for (const std::uint32_t place : order)
        for (std::uint32_t left = touched_[place]; left != 0; left &= left - 1) {
            const std::uint64_t in_page =
                static_cast<std::uint64_t>(std::countr_zero(left)) * GlobalTrace::line_bytes;
            const std::uint64_t at = place * page_bytes + in_page;
            out.add(addresses_[place] + in_page, [&](std::uint32_t i) {
                GlobalWord word{0, shadow_.last(static_cast<std::uint32_t>(at / word_bytes) + i), 0};
                std::memcpy(&word.value, values_.data() + at + std::size_t{i} * word_bytes, word_bytes);
                return word;
            });
        }
    shadow_.for_each_displaced([&](std::uint32_t word, const Shadow::Past& past) {
        const Shadow::Last last = shadow_.last(word);
        if (steps_.both_combine(past.by.pc(), (last.write ? last.write : last.reader).pc())) return;
        const std::uint64_t at = std::uint64_t{word} * word_bytes;
        out.replaced.push_back({addresses_[at / page_bytes] + at % page_bytes, past});
    });
    return out;
}

void LaunchShadow::Word::take(std::uint32_t cluster, const GlobalWord& word) {
    const Shadow::Last& last = word.last;
    if (last.written != 0) {
        const std::uint32_t mine = bits_of(last.written);
        value = (value & ~mine) | (word.value & mine);
        write = {cluster, write.bytes | last.written, last.write, true};
    }
    if (last.read != 0) read = {cluster, read.bytes | last.read, last.reader, false};
}

/// The word takes what the cluster did last; what it stood for before is kept where that is of another kind.
void LaunchShadow::take(Word& known, std::uint32_t cluster, const GlobalWord& word) {
    const auto keep = [&](const Access& past, bool replaced, Epoch by) {
        if (past.bytes != 0 && replaced && steps_.size_of(past.by.pc()) != steps_.size_of(by.pc()))
            replaced_.emplace(word.address, past);
    };
    if (!steps_.strong.empty()) {  // else all are of one kind, and this is done for each word of a launch
        keep(known.write, word.last.written != 0, word.last.write);
        keep(known.read, word.last.read != 0, word.last.reader);
    }
    known.take(cluster, word);
}

LaunchShadow::Words& LaunchShadow::words_of(Line& line) {
    if (!line.words) {
        line.words = std::make_unique<Words>();
        const GlobalTrace& trace = traces_.at(line.cluster);
        for (std::uint32_t i = 0; i < GlobalTrace::line_words; ++i)
            (*line.words)[i].take(line.cluster, trace.word(line.index, i));
    }
    return *line.words;
}

std::vector<Conflict> LaunchShadow::add(std::uint64_t cluster, GlobalTrace trace) {
    std::vector<Conflict> out;
    std::set<std::pair<std::uint32_t, std::uint32_t>> steps;
    const auto self = static_cast<std::uint32_t>(cluster);
    steps_.add_steps(trace);
    if (trace.learned) learned_[self] = trace.learned;
    // What a cluster did before its release comes before what another does that has learned of it.
    const auto judge = [&](std::uint64_t address, const Side& by,
                           const Side& other) -> std::optional<Conflict> {
        const std::uint32_t pc = by.by.pc(), others = other.by.pc();
        if (steps_.constant.contains(pc) || steps_.constant.contains(others))
            return Conflict{Wrong::stale, address, by, other};
        if (steps_.both_combine(pc, others)) return std::nullopt;
        const auto learned = learned_.find(other.cluster);
        if (after(trace.learned, other, by) ||
            (learned != learned_.end() && after(learned->second, by, other)))
            return std::nullopt;
        // Whichever cluster came first, a read is reported as the one that should have waited.
        return other.writes ? Conflict{Wrong::unordered, address, by, other}
                            : Conflict{Wrong::unordered, address, other, by};
    };
    std::multimap<std::uint64_t, Shadow::Past> replaced;
    for (const GlobalTrace::Replaced& one : trace.replaced) replaced.emplace(one.address, one.by);
    for (std::uint32_t index = 0; index < trace.lines(); ++index) {
        const auto [line, first] = lines_.try_emplace(trace.address(index), Line{self, index, nullptr});
        if (first) continue;
        Words& words = words_of(line->second);
        for (std::uint32_t i = 0; i < GlobalTrace::line_words; ++i) {
            const GlobalWord word = trace.word(index, i);
            const Shadow::Last& last = word.last;
            Word& known = words[i];
            const auto compare = [&](unsigned bytes, Epoch by, const Access& other, bool writes,
                                     bool other_writes) {
                if ((bytes & other.bytes) == 0) return;
                const auto byte = static_cast<std::uint64_t>(std::countr_zero(bytes & other.bytes));
                const auto conflict =
                    judge(word.address + byte, {self, writes, by}, {other.cluster, other_writes, other.by});
                if (conflict && steps.emplace(by.pc(), other.by.pc()).second) out.push_back(*conflict);
            };
            if (const std::uint32_t both = bits_of(last.written & known.write.bytes);
                (word.value & both) != (known.value & both) ||
                !(trace.alike || steps_.both_fixed(last.write.pc(), known.write.by.pc())))
                compare(last.written, last.write, known.write, true, true);
            compare(last.written, last.write, known.read, true, false);
            compare(last.read, last.reader, known.write, false, true);
            for (auto [it, end] = replaced_.equal_range(word.address); it != end; ++it) {
                compare(last.written, last.write, it->second, true, it->second.writes);
                if (it->second.writes) compare(last.read, last.reader, it->second, false, true);
            }
            for (auto [it, end] = replaced.equal_range(word.address); it != end; ++it) {
                const Shadow::Past& past = it->second;
                compare(past.bytes, past.by, known.write, past.writes, true);
                if (past.writes) compare(past.bytes, past.by, known.read, true, false);
            }
            take(known, self, word);
        }
    }
    for (const auto& [address, past] : replaced)
        replaced_.emplace(address, Access{self, past.bytes, past.by, past.writes});
    traces_.emplace(self, std::move(trace));
    return out;
}

}  // namespace wgrun::sim
