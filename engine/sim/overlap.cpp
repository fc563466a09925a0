#include "sim/overlap.hpp"

#include <algorithm>

namespace wgrun::sim {

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
        for (std::uint64_t i = 0; i < part; ++i) touched.set(first + i);
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
            for (std::uint64_t i = 0; i < part; ++i)
                if (touched.test(first + i)) {
                    found = {writes, {file, line}};
                    break;
                }
        }
    });
    return found;
}

}  // namespace wgrun::sim
