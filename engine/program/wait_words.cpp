#include "program/wait_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace wgrun::wait_words {

Law law(isa::Awaits wait) {
    using enum isa::Awaits;
    switch (wait) {
        case registers:
            return {&rules::WG_REG_02,
                    "the sum over the warpgroups may not exceed what the CTA entered with: setmaxnreg.dec in "
                    "those that need less"};
        case mbarrier:
            return {&rules::WG_MBAR_05,
                    "compare the arrivals and bytes that the barrier expects with those that come, and the "
                    "parity with the number of the phase"};
        case memory:
            return {&rules::WG_SYNC_06,
                    "let a thread write the value that is waited for, on every way through the kernel"};
        case cluster: return {&rules::WG_SYNC_04, "let every warp of the cluster arrive, or end"};
        case lanes: return {&rules::WG_SYNC_08, "let every lane that the mask names execute it together"};
        case barrier:
            return {&rules::WG_SYNC_02,
                    "let every warp that a barrier counts reach it, or give its count with threads ="};
        default: return {&rules::WG_SYNC_07, "let the body change what the condition looks at"};
    }
}

bool is_law(std::string_view rule) {
    using enum isa::Awaits;
    constexpr std::array all{nothing, mbarrier, memory, barrier, cluster, registers, lanes, grids};
    return std::ranges::any_of(all, [&](isa::Awaits wait) { return law(wait).rule->id == rule; });
}

const SharedBuffer* buffer_at(const Program& program, std::uint32_t offset) {
    for (const SharedBuffer& buffer : program.shared())
        if (offset >= buffer.offset && offset < buffer.offset + buffer.bytes) return &buffer;
    return nullptr;
}

std::string place(const Program& program, std::uint32_t offset) {
    const SharedBuffer* buffer = buffer_at(program, offset);
    if (buffer == nullptr) return fmt::format("byte {} of shared memory", offset);
    const std::int64_t inside = offset - buffer->offset;
    return inside == 0 ? fmt::format("`{}`", buffer->name) : fmt::format("`{}` + {}", buffer->name, inside);
}

rules::RuleMessage mbarrier_misaligned(const Program& program, const std::string& place,
                                       std::uint32_t offset) {
    const SharedBuffer* buffer = buffer_at(program, offset);
    return buffer == nullptr ? rules::mbarrier_misaligned(place)
                             : rules::mbarrier_misaligned(place, buffer->where, buffer->align);
}

}  // namespace wgrun::wait_words
