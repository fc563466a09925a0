#include "sim/overlap.hpp"

#include <algorithm>

namespace wgrun::sim {

namespace {

/// Calls f(word, mask) for the words of 64 bits that hold the bits [first, first + count).
template <class F>
void for_each_word(std::uintptr_t first, std::uint64_t count, F f) {
    constexpr std::uintptr_t width = 64;
    for (std::uint64_t part = 0; count > 0; first += part, count -= part) {
        const std::uintptr_t in_word = first % width;
        part = std::min<std::uint64_t>(count, width - in_word);
        f(first / width, ~std::uint64_t{0} >> (width - part) << in_word);
    }
}

}  // namespace

void Touched::Bytes::set(std::uintptr_t first, std::uint64_t count) {
    for_each_word(first, count, [&](std::uintptr_t word, std::uint64_t mask) { words_[word] |= mask; });
}

bool Touched::Bytes::any(std::uintptr_t first, std::uint64_t count) const {
    std::uint64_t found = 0;
    for_each_word(first, count,
                  [&](std::uintptr_t word, std::uint64_t mask) { found |= words_[word] & mask; });
    return found != 0;
}

/// Calls f(number of the page, first byte in it, bytes).
template <class F>
void Touched::for_each_part(const std::byte* place, std::uint64_t bytes, F f) {
    auto address = reinterpret_cast<std::uintptr_t>(place);
    while (bytes > 0) {
        const std::uintptr_t in_page = address % page_bytes;
        const std::uint64_t part = std::min<std::uint64_t>(bytes, page_bytes - in_page);
        f(address / page_bytes, in_page, part);
        address += part;
        bytes -= part;
    }
}

void Touched::add(bool write, const std::byte* place, std::uint64_t bytes, Where where) {
    const std::lock_guard lock(mutex_);
    for_each_part(place, bytes, [&](std::uintptr_t page, std::uintptr_t first, std::uint64_t part) {
        Bytes& touched = pages_[page][{where.file, where.line, write}];
        touched.set(first, part);
    });
}

std::optional<Touched::Step> Touched::meets(bool write, const std::byte* place, std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    std::optional<Step> found;
    for_each_part(place, bytes, [&](std::uintptr_t number, std::uintptr_t first, std::uint64_t part) {
        const auto page = pages_.find(number);
        if (page == pages_.end()) return;
        for (const auto& [by, touched] : page->second) {
            const auto& [file, line, writes] = by;
            if (!write && !writes) continue;
            if (found && found->where.line <= line) continue;
            if (touched.any(first, part)) found = {writes, {file, line}};
        }
    });
    return found;
}

}  // namespace wgrun::sim
