#include "rules/lane_words.hpp"

#include <fmt/format.h>

#include <bit>

namespace wgrun::rules {

std::optional<Saying> wrong_membermask(std::string_view op, std::uint32_t active, std::uint32_t existing,
                                       std::span<const std::uint32_t, 32> masks) {
    const int first = std::countr_zero(active);
    const std::uint32_t named = masks[static_cast<std::size_t>(first)];
    const std::string fix = fmt::format("membermask = 0x{:X}, the lanes that execute it", active);
    for (std::uint32_t left = active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint32_t own = masks[static_cast<std::size_t>(lane)];
        if ((own >> lane & 1U) == 0)
            return Saying{WG_SYNC_08,
                          fmt::format("{}: lane {} executes it, and its membermask 0x{:X} does not name it",
                                      op, lane, own),
                          fix};
        if (own != named)
            return Saying{
                WG_SYNC_08,
                fmt::format("{}: lane {} executes it with membermask 0x{:X}, lane {} with 0x{:X}: it "
                            "must be the same in all that execute it",
                            op, first, named, lane, own),
                fix};
    }
    if (const std::uint32_t missing = named & existing & ~active; missing != 0)
        return Saying{WG_SYNC_08,
                      fmt::format("{}: membermask 0x{:X} names lane {}, which does not execute it", op, named,
                                  std::countr_zero(missing)),
                      fix};
    return std::nullopt;
}

}  // namespace wgrun::rules
