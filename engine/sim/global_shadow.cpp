#include "sim/global_shadow.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wgrun::sim {
namespace {

constexpr std::uint32_t word_bytes = 4;

bool overlap(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
    return std::ranges::any_of(a, [&](std::uint64_t x) { return b.contains(x); });
}

}  // namespace

GlobalShadow::GlobalShadow(const Program& program, const Launch& launch, int warps, Sink& sink)
    : sink_(sink), shadow_({warps, 0, warps}, 0, *this) {
    if (!launch.detect_races) return;
    const auto holds = [](const GlobalBuffer& buffer, std::uint64_t address) {
        return address >= buffer.address &&
               address - buffer.address < static_cast<std::uint64_t>(buffer.bytes);
    };
    std::set<const std::byte*> written;
    const auto write = [&](std::uint64_t address) {
        for (const GlobalBuffer& buffer : launch.buffers)
            if (holds(buffer, address)) written.insert(buffer.data);
    };
    for (std::size_t i = 0; i < launch.params.size(); ++i) {
        const Param& param = program.params()[i];
        if (param.constant) continue;
        if (param.pointee) write(launch.params[i]);
        for (const TensorMap& map : launch.tensor_maps)
            if (param.box && map.handle == launch.params[i]) write(map.address);
    }
    for (const GlobalBuffer& buffer : launch.buffers) {
        if (!written.contains(buffer.data)) continue;
        const auto first = std::ranges::find(launch.buffers, buffer.data, &GlobalBuffer::data);
        watched_.push_back(
            {buffer.address, buffer.address + static_cast<std::uint64_t>(buffer.bytes), first->address});
    }
}

void GlobalShadow::reset() {
    shadow_.reset();
    pages_.clear();
    addresses_.clear();
    values_.clear();
    last_page_ = UINT64_MAX;
    meetings_.clear();
    combining_.clear();
}

std::uint64_t GlobalShadow::watched(std::uint64_t address) const {
    for (const Range& range : watched_)
        if (address >= range.begin && address < range.end) return range.first + (address - range.begin);
    return 0;
}

// Where the shadow keeps the address.
std::uint32_t GlobalShadow::offset(std::uint64_t address) {
    const std::uint64_t page = address / page_bytes;
    if (page != last_page_) {
        const auto [found, made] = pages_.try_emplace(page, static_cast<std::uint32_t>(addresses_.size()));
        if (made) {
            addresses_.push_back(page * page_bytes);
            values_.resize(addresses_.size() * page_bytes);
            shadow_.grow(static_cast<std::int64_t>(values_.size()));
        }
        last_page_ = page;
        last_place_ = found->second;
    }
    return static_cast<std::uint32_t>(last_place_ * page_bytes + address % page_bytes);
}

/// Calls f(address, offset in the shadow, bytes) for the parts of each page.
template <class F>
void GlobalShadow::for_each_part(std::uint64_t address, std::uint64_t bytes, F f) {
    while (bytes > 0) {
        const std::uint64_t part = std::min(bytes, page_bytes - address % page_bytes);
        f(address, offset(address), static_cast<std::uint32_t>(part));
        address += part;
        bytes -= part;
    }
}

void GlobalShadow::load(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    pc_ = actor.pc;
    shadow_.load(actor, lane, offset(address), bytes);
}

bool GlobalShadow::store(const Actor& actor, int lane, std::uint64_t address, int bytes,
                         const std::byte* data) {
    pc_ = actor.pc;
    const std::uint32_t at = offset(address);
    const auto size = static_cast<std::size_t>(bytes);
    same_value_ = std::memcmp(values_.data() + at, data, size) == 0;
    const bool overlaps = shadow_.store(actor, lane, at, bytes);
    same_value_ = false;
    std::memcpy(values_.data() + at, data, size);
    return overlaps;
}

void GlobalShadow::update(const Actor& actor, int lane, std::uint64_t address, int bytes) {
    pc_ = actor.pc;
    combining_.insert(pc_);
    const std::uint32_t at = offset(address);
    shadow_.load(actor, lane, at, bytes);
    shadow_.store(actor, lane, at, bytes);
}

void GlobalShadow::copy_from(const Actor& issuer, int lane, std::uint64_t address, std::uint64_t bytes) {
    pc_ = issuer.pc;
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        for (std::uint32_t i = 0, size = 0; i < part; i += size) {
            size = word_bytes;
            while (size > part - i || (at + i) % size != 0) size /= 2;
            shadow_.load(issuer, lane, at + i, static_cast<int>(size));
        }
    });
}

void GlobalShadow::copy_to(const Actor& issuer, Epoch copy, std::uint64_t address, std::uint64_t bytes,
                           bool combines) {
    pc_ = issuer.pc;
    if (combines) combining_.insert(pc_);
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        // Whole words: a row of a box begins and ends with one, but for the edges of a tensor.
        const std::uint32_t begin = (at + word_bytes - 1) / word_bytes * word_bytes;
        const std::uint32_t end = (at + part) / word_bytes * word_bytes;
        if (begin < end) shadow_.copy_in(issuer, copy, begin, end - begin);
    });
}

void GlobalShadow::landed(std::uint64_t address, const std::byte* data, std::uint64_t bytes) {
    for_each_part(address, bytes, [&](std::uint64_t, std::uint32_t at, std::uint32_t part) {
        std::memcpy(values_.data() + at, data, part);
        data += part;
    });
}

// Of the proxies nothing is said here, nor of what was there before the launch.
void GlobalShadow::hazard(Hazard hazard, std::uint32_t offset, Epoch other) {
    if (combining_.contains(pc_) && combining_.contains(other.pc())) return;
    const std::uint64_t address = addresses_[offset / page_bytes] + offset % page_bytes;
    switch (hazard) {
        case Hazard::write_after_write:
            if (!same_value_) sink_.global_race({false, false, address, other});
            return;
        case Hazard::write_after_read: return sink_.global_race({false, true, address, other});
        case Hazard::read_after_write: return sink_.global_race({true, false, address, other});
        default: return;
    }
}

GlobalTrace GlobalShadow::trace() const {
    GlobalTrace out{{}, meetings_, combining_};
    std::vector<std::uint32_t> order(addresses_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t place) { return addresses_[place]; });
    constexpr auto words = static_cast<std::uint32_t>(page_bytes) / word_bytes;
    for (const std::uint32_t place : order)
        for (std::uint32_t w = 0; w < words; ++w) {
            const std::uint32_t index = place * words + w;
            GlobalWord word{addresses_[place] + std::uint64_t{w} * word_bytes, shadow_.last(index), 0};
            if (word.last.written == 0 && word.last.read == 0) continue;
            std::memcpy(&word.value, values_.data() + std::size_t{index} * word_bytes, word_bytes);
            out.words.push_back(word);
        }
    return out;
}

std::vector<LaunchShadow::Conflict> LaunchShadow::add(std::uint64_t cluster, const GlobalTrace& trace) {
    std::vector<Conflict> out;
    std::set<std::pair<std::uint32_t, std::uint32_t>> steps;
    const auto self = static_cast<std::uint32_t>(cluster);
    combining_.insert(trace.combining_steps.begin(), trace.combining_steps.end());
    if (!trace.meetings.empty()) meetings_[self] = trace.meetings;
    // Clusters that met at an atomic are taken to be in order.
    const auto met = [&](std::uint32_t other) {
        const auto found = meetings_.find(other);
        return found != meetings_.end() && overlap(trace.meetings, found->second);
    };
    std::uint64_t number = UINT64_MAX;
    Page* page = nullptr;
    for (const GlobalWord& word : trace.words) {
        const std::uint64_t index = word.address / word_bytes;
        if (index / page_words != number) {
            number = index / page_words;
            page = &pages_[number];
            page->resize(page_words);
        }
        Word& known = (*page)[index % page_words];
        const auto compare = [&](unsigned bytes, Epoch by, const Access& other, bool writes,
                                 bool other_writes) {
            if ((bytes & other.bytes) == 0) return;
            if (combining_.contains(by.pc()) && combining_.contains(other.by.pc())) return;
            if (met(other.cluster) || !steps.emplace(by.pc(), other.by.pc()).second) return;
            const auto first = static_cast<std::uint64_t>(std::countr_zero(bytes & other.bytes));
            out.push_back({writes, other_writes, word.address + first, other.cluster, by, other.by});
        };
        const Shadow::Last& last = word.last;
        std::uint32_t both = 0;  // bits of the bytes that both write
        for (unsigned b = 0; b < word_bytes; ++b)
            if (last.written & known.write.bytes & 1U << b) both |= 0xFFU << 8 * b;
        if ((word.value & both) != (known.value & both))
            compare(last.written, last.write, known.write, true, true);
        compare(last.written, last.write, known.read, true, false);
        compare(last.read, last.reader, known.write, false, true);
        if (last.written != 0) {
            std::uint32_t mine = 0;
            for (unsigned b = 0; b < word_bytes; ++b)
                if (last.written & 1U << b) mine |= 0xFFU << 8 * b;
            known.value = (known.value & ~mine) | (word.value & mine);
            known.write = {self, known.write.bytes | last.written, last.write};
        }
        if (last.read != 0) known.read = {self, known.read.bytes | last.read, last.reader};
    }
    return out;
}

}  // namespace wgrun::sim
