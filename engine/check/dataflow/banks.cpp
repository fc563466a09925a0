#include "check/dataflow/banks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "isa/warp.hpp"
#include "wgrun/bank.hpp"

namespace wgrun::check::dataflow {

namespace {

using isa::lanes;
constexpr int row_lanes = 8;  // ldmatrix and stmatrix may take the addresses of these lanes only

using Place = std::function<std::int64_t(std::int64_t)>;

/// The addresses of an access in all warps, from the start of dynamic shared memory.
struct Accessed {
    const Exact& address;
    std::int64_t offset;  ///< added to each
    int bytes, threads, lanes_of_warp;

    /// Returns the worst phase of each warp, with the addresses that `place` makes of these.
    std::vector<BankPhase> worst_phases(const Place& place) const {
        std::vector<BankPhase> out;
        for (int first = 0; first < threads; first += lanes) {
            std::vector<std::uint32_t> addresses;
            for (int lane = 0; lane < std::min(lanes_of_warp, threads - first); ++lane)
                addresses.push_back(static_cast<std::uint32_t>(place(address.of(first + lane) + offset)));
            const std::vector<BankPhase> phases = bank_phases(addresses, bytes);
            out.push_back(*std::ranges::max_element(phases, {}, &BankPhase::degree));
        }
        return out;
    }
    int worst_degree(const Place& place) const {
        return std::ranges::max(worst_phases(place), {}, &BankPhase::degree).degree;
    }

    /// Returns the bytes from each lane to the next, if these are the same throughout; else 0.
    std::int64_t stride() const {
        const int count = std::min(lanes_of_warp, threads);
        std::int64_t out = 0;
        for (int lane = 1; lane < count; ++lane) {
            const std::int64_t more = address.of(lane) - address.of(lane - 1);
            if (more <= 0 || (out != 0 && more != out)) return 0;
            out = more;
        }
        return out;
    }
};

std::string in_words(int degree) {
    return degree == 1 ? "no conflict" : fmt::format("a {}-way conflict", degree);
}

/// What makes the conflict milder: lines of another length, another swizzle than the buffer's.
std::string remedy(const Accessed& accessed, const SharedBuffer& buffer, int degree) {
    std::vector<std::string> out;
    if (const std::int64_t line = accessed.stride(); line > 0) {
        const int padded = accessed.worst_degree(
            [&](std::int64_t at) { return at + (at - buffer.offset) / line * accessed.bytes; });
        if (padded < degree)
            out.push_back(fmt::format("lines of {} bytes instead of {}: {}", line + accessed.bytes, line,
                                      in_words(padded)));
    }
    const SwizzleMode own = buffer.tile ? buffer.tile->swizzle() : SwizzleMode::none;
    std::optional<SwizzleMode> best;
    for (const SwizzleMode mode :
         {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
        const int with = accessed.worst_degree([&](std::int64_t at) -> std::int64_t {
            return swizzled(mode, swizzled(own, static_cast<std::uint32_t>(at)));
        });
        if (with >= degree) continue;
        best = mode;
        degree = with;
    }
    if (best)
        out.push_back(
            fmt::format("the swizzle {} in all accesses of `{}`, address ~ (address >> 3 & {:#x}): {}",
                        to_string(*best), buffer.name, swizzled(*best, 0x380) ^ 0x380, in_words(degree)));
    if (out.empty())
        return "a swizzled tile, or lines of another length: tile:bank_conflicts() tells them apart";
    return fmt::format("{}", fmt::join(out, "; or "));
}

}  // namespace

void bank_conflicts(const Analysis& analysis, const isa::MemoryAccess& access) {
    const Operand& operand = *access.address;
    if (!isa::is_shared(access.space) || !operand.reg) return;
    const Known& base = analysis.state.values[operand.reg.id];
    if (base.origin < 0 || !base.exact.known() || base.exact.uniform()) return;
    const bool parted = std::any_of(analysis.scopes.begin(), analysis.scopes.end(),
                                    [](const Scope& scope) { return scope.uniform() < isa::Uniform::warp; });
    if (parted) return;
    const SharedBuffer& buffer = analysis.program.shared()[static_cast<std::size_t>(base.origin)];
    const std::int64_t offset = buffer.offset + operand.offset;
    const auto [least, greatest] = base.exact.range();
    const bool aligned =
        base.exact.map([&](std::int64_t v) { return (v + offset) % access.bytes; }) == Exact(0);
    if (least + offset < 0 || greatest + offset >= max_shared_bytes || !aligned || access.bytes > 16) return;

    const int count = analysis.step->op->taken_by == isa::Participants::warp ? row_lanes : lanes;
    const Accessed accessed{base.exact, offset, access.bytes, analysis.program.threads(), count};
    // A branch may exclude warps: the conflict is certain only if each of them has it.
    const BankPhase mildest =
        std::ranges::min(accessed.worst_phases([](std::int64_t at) { return at; }), {}, &BankPhase::degree);
    if (mildest.degree < 2) return;
    analysis.remarks->add(
        rules::WG_PERF_05, analysis.step->where,
        fmt::format(
            "{}-way bank conflict: the lanes {} of a warp access different words of bank {} of "
            "`{}`{}",
            mildest.degree, fmt::join(mildest.guilty, " "), mildest.bank, buffer.name,
            buffer.tile ? fmt::format(", whose swizzle is {}", to_string(buffer.tile->swizzle())) : ""),
        remedy(accessed, buffer, mildest.degree),
        {{buffer.where, fmt::format("`{}` is declared here", buffer.name)}});
}

}  // namespace wgrun::check::dataflow
