#include "check/abstract/contents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace wgrun::check::abstract {

std::string describe(const TensorBox& box) {
    return fmt::format("{{{}}} of {}", fmt::join(box.extents, ", "), to_string(box.dtype));
}

void Contents::Cta::bring(std::uint32_t lo, std::uint32_t hi) {
    const auto apart = [&](const auto& other) { return other.second < lo || hi < other.first; };
    for (const auto& other : brought) {
        if (apart(other)) continue;
        lo = std::min(lo, other.first);
        hi = std::max(hi, other.second);
    }
    std::erase_if(brought, [&](const auto& other) { return !apart(other); });
    brought.emplace_back(lo, hi);
}

void Contents::write(int rank, Written written) {
    Cta& cta = ctas_[static_cast<std::size_t>(rank)];
    if (maybe_stored(written.lo - sm_90a.shared_base)) {
        // Nobody asks what brought bytes that threads may have written, too, but for when it has landed. A
        // copy of more stands for one of fewer.
        written.box = nullptr;
        std::uint32_t& widest = widest_[{rank, written.lo}];
        written.hi = widest = std::max(widest, written.hi);
    }
    auto other = cta.written.lower_bound(written.lo);
    if (other != cta.written.begin() && std::prev(other)->second.hi > written.lo) --other;
    while (other != cta.written.end() && other->second.lo < written.hi) other = cta.written.erase(other);
    cta.written.emplace_hint(other, written.lo, written);
    if (maybe_stored(written.lo - sm_90a.shared_base)) return;
    if (written.box == nullptr)
        cta.bring(written.lo, written.hi);
    else
        written.box->for_each_run(written.lo,
                                  [&](std::uint32_t at, std::uint32_t size) { cta.bring(at, at + size); });
}

void Contents::bring_anything(int cta) {
    constexpr auto end = static_cast<std::uint32_t>(sm_90a.shared_base + sm_90a.cta_shared());
    ctas_[static_cast<std::size_t>(cta)].bring(sm_90a.shared_base, end);
}

void Contents::settle() {
    for (Cta& cta : ctas_)
        for (auto& [lo, written] : cta.written)
            if (std::ranges::all_of(execution_.warps, [&, &its = written](const Warp& warp) {
                    return warp.state == Warp::State::ended ||
                           warp.known.of(its.mbarrier->actor()) >= its.clock;
                }))
                written.clock = 0;
}

const Written* Contents::at(int cta, std::uint32_t address) const {
    const auto& all = ctas_[static_cast<std::size_t>(cta)].written;
    const auto after = all.upper_bound(address);
    if (after == all.begin()) return nullptr;
    const Written& before = std::prev(after)->second;
    return before.has(address) ? &before : nullptr;
}

bool Contents::brought(int cta, std::uint32_t address) const {
    return std::ranges::any_of(ctas_[static_cast<std::size_t>(cta)].brought, [&](const auto& part) {
        return address >= part.first && address < part.second;
    });
}

bool Contents::maybe_stored(std::uint32_t offset) const {
    const std::vector<bool>& stored = execution_.skeleton.stored;
    for (std::size_t b = 0; b < stored.size(); ++b) {
        const SharedBuffer& buffer = execution_.program.shared()[b];
        if (offset >= buffer.offset && offset < buffer.offset + buffer.bytes) return stored[b];
    }
    return true;
}

}  // namespace wgrun::check::abstract
