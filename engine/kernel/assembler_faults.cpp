#include "kernel/assembler_faults.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

#include "kernel/assembler_shapes.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

/// The PTX that came with each release of CUDA (PTX ISA, "Release Notes").
struct Release {
    std::array<int, 2> cuda;
    isa::PtxVersion ptx;
};
constexpr std::array releases{Release{{11, 8}, {7, 8}}, Release{{12, 0}, {8, 0}}, Release{{12, 1}, {8, 1}},
                              Release{{12, 2}, {8, 2}}, Release{{12, 3}, {8, 3}}, Release{{12, 4}, {8, 4}},
                              Release{{12, 5}, {8, 5}}, Release{{12, 7}, {8, 6}}, Release{{12, 8}, {8, 7}},
                              Release{{12, 9}, {8, 8}}, Release{{13, 0}, {9, 0}}, Release{{13, 1}, {9, 1}},
                              Release{{13, 2}, {9, 2}}, Release{{13, 3}, {9, 3}}, Release{{13, 4}, {9, 4}}};

constexpr std::array faults{
    AssemblerFault{
        .reports = "triton#11781, triton#9433",
        .until = {13, 3, 0},
        .what = "it may give the registers of A to other values before a wgmma that is still in "
                "flight has read them: wrong sums",
        .shape = "wgmma with A in registers, and a wgmma.wait_group that leaves groups in flight",
        .hits = keeps_fragments_in_flight,
        .remedy = "ptxas 13.3 or later, or wgmma.wait_group 0 before the fragments get new values"},
    AssemblerFault{.reports = "triton#11581",
                   .first = {12, 9, 0},
                   .until = {12, 10, 0},
                   .what = "it drops the constant of the second of two sums of 16-bit pairs: wrong values",
                   .shape = "two add.s16x2 or add.u16x2 with one register that holds a constant",
                   .hits = adds_a_pair_twice,
                   .remedy = "ptxas 13.3 has been seen to be right"},
    AssemblerFault{.reports = "fla#1262",
                   .until = {13, 1, 80},
                   .what =
                       "a kernel of the backward pass of linear attention writes to shared memory beyond its "
                       "end (12.8.93 and 13.0.88), and another one gives wrong values (12.8.93)",
                   .shape = {},
                   .hits = nullptr,
                   .remedy = "ptxas 13.1.80 has been seen to be right"},
    AssemblerFault{.reports = "wgrun, 2026-11-30",
                   .until = {13, 6, 0},
                   .what = "from -O1 on it may make one product of the two: the sum grows by A * B once",
                   .shape = "two equal wgmma of one group: the same accumulators, A and B, with scale-d 1",
                   .hits = repeats_a_product,
                   .remedy = "wgmma.commit_group between the two"},
    AssemblerFault{.reports = "wgrun, shifts, 2026-11-30",
                   .until = {13, 6, 0},
                   .what = "from -O1 on it may leave the value as it is, in place of 0",
                   .shape = "shl.b64 by a constant of 64 or more",
                   .hits = shifts_everything_out,
                   .remedy = "a register of 0, which is what the shift gives"},
    AssemblerFault{.reports = "wgrun, layouts, 2026-11-30",
                   .first = {12, 4, 0},
                   .until = {12, 9, 0},
                   .what = "it may compute a descriptor from registers that hold something else, or nothing: "
                           "products of other matrices, accesses beyond shared memory",
                   .shape = "descriptors of two layouts, whose constants are added to one address",
                   .hits = describes_in_two_layouts,
                   .remedy = "the descriptors of later steps made from the first one of their layout"},
    AssemblerFault{.reports = "wgrun, upper half, 2026-11-30",
                   .first = {12, 4, 0},
                   .until = {12, 8, 0},
                   .what = "it may add the upper half of the constant to the lower half of the address",
                   .shape = "a descriptor that is an add.s64 or add.u64 of a constant whose lower half is 0",
                   .hits = adds_an_upper_half,
                   .remedy = "or.b64 in place of the add"},
};

}  // namespace

std::optional<AssemblerVersion> assembler_version_of(std::string_view text) {
    AssemblerVersion out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out[i]);
        if (error != std::errc()) return i > 0 ? std::optional(out) : std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.starts_with('.')) return out;
        text.remove_prefix(1);
    }
    return out;
}

std::optional<isa::PtxVersion> newest_ptx(AssemblerVersion version) {
    std::optional<isa::PtxVersion> out;
    for (const auto& [cuda, ptx] : releases)
        if (cuda <= std::array{version[0], version[1]}) out = ptx;
    return out;
}

std::span<const AssemblerFault> assembler_faults() { return faults; }

std::vector<Diagnostic> faults_hitting(const Program& program, AssemblerVersion version) {
    std::vector<Diagnostic> out;
    for (const AssemblerFault& fault : faults) {
        if (fault.hits == nullptr || !fault.in(version)) continue;
        const std::optional<Where> where = fault.hits(program);
        if (!where) continue;
        out.push_back(
            rules::finding(rules::WG_ASM_03, *where,
                           fmt::format("ptxas {}.{}.{} has a known fault with {}: {} ({})", version[0],
                                       version[1], version[2], fault.shape, fault.what, fault.reports),
                           std::string(fault.remedy)));
    }
    return out;
}

}  // namespace wgrun
