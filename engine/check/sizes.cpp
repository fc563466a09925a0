// A rehearsal needs sizes, and a program that is checked has none yet: it is rehearsed with several, and what
// is found has to come with each of them.
#include <algorithm>

#include "check/rehearsal.hpp"

namespace wgrun::check {

namespace {

constexpr std::int64_t usual = 1024, large = 1 << 18;
constexpr std::uint32_t usual_clusters = 16;

/// Sizes to try after the first, which found something. Some are equal, from small to large; in others one is
/// a fraction of the rest, or the rest of it: a kernel may take an extent, and how many blocks it has.
std::vector<Sizes> other_sizes(const Program& program, const std::vector<int>& integers) {
    const auto all = [&](std::int64_t value, std::uint32_t clusters) {
        return Sizes{std::vector<std::int64_t>(program.params().size(), value), clusters};
    };
    std::vector<Sizes> out{all(usual, 1), all(usual, 132)};
    if (integers.empty()) return out;
    for (std::int64_t value = 1; value <= large; value *= 2) out.push_back(all(value, 1));
    out.push_back(all(768, usual_clusters));
    if (integers.size() < 2) return out;
    for (const int index : integers)
        for (std::int64_t part = 2; part <= 512; part *= 2) {
            const auto i = static_cast<std::size_t>(index);
            out.push_back(all(large, usual_clusters));
            out.back().params[i] = large / part;
            out.push_back(all(large / part, usual_clusters));
            out.back().params[i] = large;
        }
    return out;
}

}  // namespace

void rehearse(const Program& program, Findings& findings) {
    const Skeleton skeleton(program);
    if (skeleton.ops.empty()) return;
    Rehearsal first(program, skeleton,
                    {std::vector<std::int64_t>(program.params().size(), usual), usual_clusters});
    first.run();
    std::vector<Diagnostic> found = std::move(first.findings());
    if (found.empty()) return;
    for (const Sizes& sizes : other_sizes(program, skeleton.integers)) {
        Rehearsal again(program, skeleton, sizes);
        again.run();
        // Where a size is so small that no warp comes to the place, it says nothing.
        std::erase_if(found, [&](const Diagnostic& finding) {
            return again.came_to(finding.where) &&
                   std::ranges::none_of(again.findings(), [&](const Diagnostic& other) {
                       return other.rule == finding.rule && other.where == finding.where;
                   });
        });
        if (found.empty()) return;
    }
    for (Diagnostic& finding : found)
        findings.add(finding.rule, finding.where, std::move(finding.message), std::move(finding.fix),
                     std::move(finding.notes));
}

}  // namespace wgrun::check
