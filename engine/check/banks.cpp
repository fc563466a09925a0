// WG-PERF-05: bank conflicts of accesses to shared memory whose addresses depend on the thread alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "check/walker.hpp"
#include "isa/warp.hpp"
#include "wgrun/bank.hpp"

namespace wgrun::check {

namespace {

using isa::lanes;
constexpr int row_lanes = 8;  // ldmatrix and stmatrix may take the addresses of these lanes only

/// Returns the phase with the most passes in the access of warp `warp`.
BankPhase worst_phase(const Exact& address, std::int64_t offset, int bytes, int warp, int count) {
    std::vector<std::uint32_t> addresses;
    addresses.reserve(lanes);
    for (int lane = 0; lane < count; ++lane)
        addresses.push_back(static_cast<std::uint32_t>(address.of(warp * lanes + lane) + offset));
    const std::vector<BankPhase> phases = bank_phases(addresses, bytes);
    return *std::ranges::max_element(phases, {}, &BankPhase::degree);
}

}  // namespace

/// Reports a conflict only if every warp has it: a branch may exclude some of them.
void Walker::bank_conflicts(const isa::MemoryAccess& access) {
    const Operand& operand = *access.address;
    if (!isa::is_shared(access.space) || !operand.reg) return;
    const Known& base = state_.values[operand.reg.id];
    if (base.origin < 0 || !base.exact.known() || base.exact.uniform()) return;
    const bool parted = std::any_of(scopes_.begin(), scopes_.end(),
                                    [](const Scope& scope) { return scope.uniform() < isa::Uniform::warp; });
    if (parted) return;
    const SharedBuffer& buffer = program_.shared()[static_cast<std::size_t>(base.origin)];
    const std::int64_t offset = buffer.offset + operand.offset;
    const auto [least, greatest] = base.exact.range();
    const bool aligned =
        base.exact.map([&](std::int64_t v) { return (v + offset) % access.bytes; }) == Exact(0);
    if (least + offset < 0 || greatest + offset >= max_shared_bytes || !aligned || access.bytes > 16) return;

    BankPhase mildest;
    const int threads = program_.threads();
    for (int warp = 0; warp * lanes < threads; ++warp) {
        const int count = step_->op->taken_by == isa::Participants::warp ? row_lanes : lanes;
        BankPhase phase =
            worst_phase(base.exact, offset, access.bytes, warp, std::min(count, threads - warp * lanes));
        if (phase.degree < 2) return;
        if (warp == 0 || phase.degree < mildest.degree) mildest = std::move(phase);
    }
    remarks_->add(
        rules::WG_PERF_05, step_->where,
        fmt::format("{}-way bank conflict: the lanes {} of a warp access different words of bank {} of "
                    "`{}`",
                    mildest.degree, fmt::join(mildest.guilty, " "), mildest.bank, buffer.name),
        "a swizzled tile, or lines of another length: tile:bank_conflicts() tells them apart",
        {{buffer.where, fmt::format("`{}` is declared here", buffer.name)}});
}

}  // namespace wgrun::check
