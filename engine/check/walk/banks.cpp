#include "check/walk/banks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "isa/warp.hpp"
#include "wgrun/bank.hpp"

namespace wgrun::check::walk {

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
void bank_conflicts(const Scene& scene, const isa::MemoryAccess& access) {
    const Operand& operand = *access.address;
    if (!isa::is_shared(access.space) || !operand.reg) return;
    const Known& base = scene.state.values[operand.reg.id];
    if (base.origin < 0 || !base.exact.known() || base.exact.uniform()) return;
    const bool parted = std::any_of(scene.scopes.begin(), scene.scopes.end(),
                                    [](const Scope& scope) { return scope.uniform() < isa::Uniform::warp; });
    if (parted) return;
    const SharedBuffer& buffer = scene.program.shared()[static_cast<std::size_t>(base.origin)];
    const std::int64_t offset = buffer.offset + operand.offset;
    const auto [least, greatest] = base.exact.range();
    const bool aligned =
        base.exact.map([&](std::int64_t v) { return (v + offset) % access.bytes; }) == Exact(0);
    if (least + offset < 0 || greatest + offset >= max_shared_bytes || !aligned || access.bytes > 16) return;

    BankPhase mildest;
    const int threads = scene.program.threads();
    for (int warp = 0; warp * lanes < threads; ++warp) {
        const int count = scene.step->op->taken_by == isa::Participants::warp ? row_lanes : lanes;
        BankPhase phase =
            worst_phase(base.exact, offset, access.bytes, warp, std::min(count, threads - warp * lanes));
        if (phase.degree < 2) return;
        if (warp == 0 || phase.degree < mildest.degree) mildest = std::move(phase);
    }
    scene.remarks->add(
        rules::WG_PERF_05, scene.step->where,
        fmt::format("{}-way bank conflict: the lanes {} of a warp access different words of bank {} of "
                    "`{}`",
                    mildest.degree, fmt::join(mildest.guilty, " "), mildest.bank, buffer.name),
        "a swizzled tile, or lines of another length: tile:bank_conflicts() tells them apart",
        {{buffer.where, fmt::format("`{}` is declared here", buffer.name)}});
}

}  // namespace wgrun::check::walk
