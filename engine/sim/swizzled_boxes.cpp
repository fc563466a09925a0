#include "sim/swizzled_boxes.hpp"

#include <algorithm>
#include <bit>

#include "machine/lanes.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint32_t unit = 16, line = 128;
constexpr int enough = 8;  // lanes that do not look regular by chance

/// How irregular the columns are that the lanes read: of lanes that are so far apart, in how many ways these
/// differ. start: where the pattern of the swizzle is taken to begin.
int irregular(const std::array<std::uint32_t, isa::lanes>& at, isa::Mask lanes, const SwizzledBoxes::Box& box,
              std::uint32_t start, int apart) {
    std::array<std::uint32_t, isa::lanes> seen{};  // by lane modulo `apart`, a bit for each column
    int out = 0;
    machine::for_each_lane(lanes, [&](int lane) {
        const std::uint32_t offset = at[static_cast<std::size_t>(lane)] - start;
        const std::uint32_t column = (offset / unit ^ offset / line) & (box.width / unit - 1);
        std::uint32_t& of_lane = seen[static_cast<std::size_t>(lane % apart)];
        out += (of_lane >> column & 1U) == 0 ? 1 : 0;
        of_lane |= 1U << column;
    });
    return out;
}

}  // namespace

void SwizzledBoxes::copied(std::uint32_t begin, std::uint32_t end, SwizzleMode swizzle, std::uint32_t pc) {
    std::erase_if(boxes_, [&](const Box& box) { return box.begin < end && begin < box.end; });
    if (swizzle == SwizzleMode::none) return;
    const auto width = static_cast<std::uint32_t>(wgrun::width(swizzle));
    if (begin % (width * (line / unit)) != 0) boxes_.push_back({begin, end, width, pc});
}

std::optional<SwizzledBoxes::Box> SwizzledBoxes::misread(const std::array<std::uint32_t, isa::lanes>& at,
                                                         isa::Mask lanes) {
    for (auto box = boxes_.begin(); box != boxes_.end(); ++box) {
        isa::Mask inside = 0;
        machine::for_each_lane(lanes, [&](int lane) {
            const std::uint32_t offset = at[static_cast<std::size_t>(lane)];
            if (offset >= box->begin && offset < box->end) inside |= isa::Mask{1} << lane;
        });
        if (std::popcount(inside) < enough) continue;
        bool by_box = false, by_address = false;
        for (const int apart : {1, 2, 4, 8}) {
            const int of_box = irregular(at, inside, *box, box->begin, apart),
                      of_address = irregular(at, inside, *box, 0, apart);
            by_box = by_box || of_box < of_address;
            by_address = by_address || of_address < of_box;
        }
        if (!by_box || by_address) continue;
        const Box found = *box;
        boxes_.erase(box);
        return found;
    }
    return std::nullopt;
}

}  // namespace wgrun::sim
