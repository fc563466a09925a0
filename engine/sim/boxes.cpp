#include "sim/boxes.hpp"

#include <algorithm>
#include <iterator>

#include "isa/bulk_copy.hpp"

namespace wgrun::sim {

void Boxes::measure(std::span<const Cta> ctas, BoxSizes& sizes) const {
    constexpr std::uint32_t unit = isa::BulkCopy::unit;
    for (auto store = stores_.begin(); store != stores_.end(); ++store) {
        const auto& [cta, begin] = store->first;
        auto end = static_cast<std::uint32_t>(ctas[cta].shared.bytes());
        if (const auto next = std::next(store); next != stores_.end() && next->first.first == cta)
            end = next->first.second;
        const std::uint32_t bytes = ctas[cta].shadow.unread(begin, end) / unit * unit;
        if (bytes == 0) continue;
        std::uint32_t& size = sizes.try_emplace(store->second, bytes).first->second;
        size = std::min(size, bytes);
    }
}

}  // namespace wgrun::sim
