#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {
namespace {

/// A leaf mode and the index at which it first advances: the product of the extents before it.
struct Placed {
    Layout::Mode mode;
    std::int64_t index;
    bool last;  // goes on beyond the domain
};

std::vector<Placed> by_stride(const Layout& a) {
    const Modes modes = coalesced(a.leaves());
    std::vector<Placed> out;
    out.reserve(modes.size());
    // A trailing mode of extent 1 takes the indices beyond the domain, and no other mode.
    const bool open = !a.leaves().empty() && a.leaves().back().shape != 1;
    std::int64_t index = 1;
    for (const Layout::Mode& mode : modes) {
        out.push_back({mode, index, open && &mode == &modes.back()});
        index = checked_mul(index, mode.shape);
    }
    std::ranges::stable_sort(out, {}, [](const Placed& p) { return p.mode.stride; });
    return out;
}

}  // namespace

Layout right_inverse(const Layout& a) {
    refuse_swizzle(a, "right inverse");
    Modes out;
    std::int64_t next = 1;  // the offset that must come next
    for (const Placed& p : by_stride(a)) {
        if (p.mode.stride != next) continue;
        out.push_back({p.mode.shape, p.index});
        next = checked_mul(next, p.mode.shape);
    }
    return from_modes(coalesced(out));
}

Layout left_inverse(const Layout& a) {
    refuse_swizzle(a, "left inverse");
    const auto refuse = [&](const std::string& why) {
        throw ArgumentError(fmt::format("left inverse of {}: {}", a.to_string(), why));
    };
    std::vector<Placed> modes = by_stride(a);
    if (!modes.empty() && modes.front().mode.stride < 0)
        refuse(fmt::format("stride {} is negative", modes.front().mode.stride));
    // Broadcast modes give no offset of their own.
    const std::int64_t broadcast = modes.empty() ? 1 : modes.front().mode.shape;
    std::erase_if(modes, [](const Placed& p) { return p.mode.stride == 0; });
    if (modes.empty()) return {broadcast, 0};

    // Offsets as mixed-radix digits: digit i counts multiples of stride i up to stride i+1.
    Modes out;
    std::int64_t below = 1;
    std::int64_t step = 0;
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < modes.size(); ++i) {
        const auto& [mode, index, last] = modes[i];
        if (mode.stride % below != 0)
            refuse(fmt::format("stride {} is not a multiple of stride {} below it", mode.stride, below));
        out.push_back({mode.stride / below, step});
        const bool top = i + 1 == modes.size();
        const std::int64_t radix = top ? INT64_MAX : modes[i + 1].mode.stride / mode.stride;
        const std::int64_t digit = checked_add(mode.shape - 1, carry);
        if (!last && std::min(digit, radix - 1) >= mode.shape)
            refuse(fmt::format("mode {}:{} overlaps the modes below it", mode.shape, mode.stride));
        carry = radix == 0 ? 0 : digit / radix;
        below = mode.stride;
        step = index;
    }
    out.push_back({modes.back().mode.shape, step});
    return from_modes(coalesced(out));
}

}  // namespace wgrun
