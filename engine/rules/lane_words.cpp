#include "rules/lane_words.hpp"

#include <fmt/format.h>

#include <bit>

namespace wgrun::rules {

std::optional<RuleMessage> wrong_membermask(std::string_view op, std::uint32_t active, std::uint32_t existing,
                                            std::span<const std::uint32_t, 32> masks) {
    const std::string fix = fmt::format("membermask = 0x{:X}, the lanes that execute it", active);
    for (std::uint32_t left = active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint32_t own = masks[static_cast<std::size_t>(lane)];
        if ((own >> lane & 1U) == 0)
            return RuleMessage{
                WG_SYNC_08,
                fmt::format("{}: lane {} executes it, and its membermask 0x{:X} does not name it", op, lane,
                            own),
                fix};
        if (const std::uint32_t missing = own & existing & ~active; missing != 0)
            return RuleMessage{WG_SYNC_08,
                               fmt::format("{}: membermask 0x{:X} names lane {}, which does not execute it",
                                           op, own, std::countr_zero(missing)),
                               fix};
        for (std::uint32_t others = own & active; others != 0; others &= others - 1) {
            const int other = std::countr_zero(others);
            if (const std::uint32_t theirs = masks[static_cast<std::size_t>(other)]; theirs != own)
                return RuleMessage{WG_SYNC_08,
                                   fmt::format("{}: lane {} executes it with membermask 0x{:X}, lane {} with "
                                               "0x{:X}: it must be the same in all lanes that it names",
                                               op, lane, own, other, theirs),
                                   fix};
        }
    }
    return std::nullopt;
}

RuleMessage source_takes_no_part(std::string_view op, int lane, int source, std::uint32_t membermask) {
    return {
        WG_SYNC_08,
        fmt::format("{}: lane {} reads lane {}, which takes no part (membermask 0x{:X}): what it gets is "
                    "undefined",
                    op, lane, source, membermask),
        fmt::format("bounds in c that keep lane {} within its segment, such as 0x101F for halves of a warp "
                    "(down), or a membermask that names lane {}",
                    lane, source)};
}

}  // namespace wgrun::rules
