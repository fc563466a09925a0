// The sizes at which a kernel that is right elsewhere goes wrong: one, none, one more than a tile holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wgrun/program.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// The legal values of a size: the multiples of `multiple_of` in least..most, both of which are multiples.
struct SizeRange {
    std::string name;
    std::int64_t least = 1, most = 1;
    std::int64_t multiple_of = 1;
    bool operator==(const SizeRange&) const = default;
};

/// Throws ArgumentError, with words for kernel:sizes, if no value is in the range or a limit of it is not
/// legal. Limits are 0 or more.
void check_size(const SizeRange& range);

/// Returns the values of all sizes of some launches to try, each in the order of `ranges` and different from
/// the others: each size at its limits and beside the extents that the program has (tiles, boxes, threads,
/// the numbers that it computes with), the other sizes small in some and beside a tile's extent in others.
/// `grids` are CTAs that launches of the kernel had: one tile more than these is an edge, too. At most `most`
/// launches.
std::vector<std::vector<std::int64_t>> edge_sizes(const Program& program, std::span<const SizeRange> ranges,
                                                  std::span<const std::uint64_t> grids, std::size_t most);

/// The number of launches that are legal and different; UINT64_MAX stands for more than that.
std::uint64_t count_sizes(std::span<const SizeRange> ranges);
/// The values of all of these, the last size changing fastest.
std::vector<std::vector<std::int64_t>> all_sizes(std::span<const SizeRange> ranges);

/// "n = 65, k = 64": of one launch.
std::string text_of(std::span<const SizeRange> ranges, std::span<const std::int64_t> values);

}  // namespace wgrun

#pragma GCC visibility pop
