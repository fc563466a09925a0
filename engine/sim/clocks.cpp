#include "sim/clocks.hpp"

#include <algorithm>
#include <bit>

namespace wgrun::sim {
namespace {

void raise_to(std::uint32_t* row, const std::uint32_t* other, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) row[i] = std::max(row[i], other[i]);
}

}  // namespace

Clocks::Clocks(int warps)
    : warps_(warps),
      stride_(static_cast<std::size_t>(warps + warps * isa::lanes + warps)),
      rows_(static_cast<std::size_t>(warps) * stride_),
      joined_(stride_),
      group_rows_(static_cast<std::size_t>((warps + 3) / 4) * static_cast<std::size_t>(warps * isa::lanes)) {
    reset();
}

void Clocks::reset() {
    std::fill(rows_.begin(), rows_.end(), 0U);
    for (int w = 0; w < warps_; ++w) row(w)[w] = 1;
    stale_groups_ = UINT32_MAX;
}

const std::uint32_t* Clocks::published_to_group(int group) {
    const auto size = static_cast<std::size_t>(warps_ * isa::lanes);
    std::uint32_t* out = group_rows_.data() + static_cast<std::size_t>(group) * size;
    if (stale_groups_ >> group & 1U) {
        stale_groups_ &= ~(1U << group);
        std::copy_n(published(4 * group), size, out);
        for (int w = 4 * group + 1; w < 4 * group + 4; ++w) {
            const std::uint32_t* other = published(w);
            for (std::size_t i = 0; i < size; ++i) out[i] = std::min(out[i], other[i]);
        }
    }
    return out;
}

void Clocks::proxy_fence(int warp, isa::Mask lanes, bool whole_warp) {
    std::uint32_t* published = row(warp) + warps_;
    const std::uint32_t* known = seen(warp);
    const int first = whole_warp ? 0 : warp, last = whole_warp ? warps_ : warp + 1;
    const isa::Mask published_lanes = whole_warp ? UINT32_MAX : lanes;
    for (int u = first; u < last; ++u)
        for (int l = 0; l < isa::lanes; ++l) {
            if (published_lanes >> l & 1U) published[u * isa::lanes + l] = known[u];
        }
    ++row(warp)[warp];
    stale_groups_ |= 1U << (warp / 4);
}

void Clocks::join(std::uint32_t warps) {
    std::fill(joined_.begin(), joined_.end(), 0U);
    for (std::uint32_t left = warps; left != 0; left &= left - 1)
        raise_to(joined_.data(), row(std::countr_zero(left)), stride_);
    for (std::uint32_t left = warps; left != 0; left &= left - 1) {
        const int w = std::countr_zero(left);
        std::copy(joined_.begin(), joined_.end(), row(w));
        ++row(w)[w];
        stale_groups_ |= 1U << (w / 4);
    }
}

void Clocks::finish(int warp, std::uint32_t serial) {
    row(warp)[warps_ + warps_ * isa::lanes + warp] = serial;
}

}  // namespace wgrun::sim
