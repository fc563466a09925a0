#include "program/wait_words.hpp"

#include <fmt/format.h>

#include <bit>

namespace wgrun::wait_words {

Law law(isa::Awaits wait) {
    using enum isa::Awaits;
    switch (wait) {
        case registers:
            return {"WG-REG-02",
                    "the sum over the warpgroups may not exceed what the CTA entered with: setmaxnreg.dec in "
                    "those that need less"};
        case mbarrier:
            return {"WG-MBAR-05",
                    "compare the arrivals and bytes that the barrier expects with those that come, and the "
                    "parity with the number of the phase"};
        case memory:
            return {"WG-SYNC-06",
                    "let a thread write the value that is waited for, on every way through the kernel"};
        case cluster: return {"WG-SYNC-04", "let every warp of the cluster arrive, or end"};
        case lanes: return {"", "let every lane that the mask names execute it together"};
        case barrier:
            return {"WG-SYNC-02",
                    "let every warp that a barrier counts reach it, or give its count with threads ="};
        default: return {};
    }
}

std::string names(std::uint32_t warps) {
    constexpr int worth_a_range = 4;
    std::string out = std::has_single_bit(warps) ? "warp" : "warps";
    for (const char* comma = " "; warps != 0; comma = ", ") {
        const int first = std::countr_zero(warps), run = std::countr_one(warps >> first);
        const int taken = run >= worth_a_range ? run : 1;
        out += fmt::format("{}{}", comma, first);
        if (taken > 1) out += fmt::format("-{}", first + taken - 1);
        for (int w = first; w < first + taken; ++w) warps &= ~(1U << w);
    }
    return out;
}

std::string what_has_come(std::int64_t arrivals, std::int64_t expected, std::int64_t bytes) {
    return fmt::format("{} of {} arrivals have come, {} bytes are outstanding", arrivals, expected, bytes);
}

std::string place(const Program& program, std::uint32_t offset) {
    for (const SharedBuffer& buffer : program.shared()) {
        if (offset < buffer.offset || offset >= buffer.offset + buffer.bytes) continue;
        const std::int64_t inside = offset - buffer.offset;
        return inside == 0 ? fmt::format("`{}`", buffer.name) : fmt::format("`{}` + {}", buffer.name, inside);
    }
    return fmt::format("byte {} of shared memory", offset);
}

}  // namespace wgrun::wait_words
