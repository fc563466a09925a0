// Bank conflicts: the worst access lane by lane, and maps of the conflicts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "picture/picture.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

constexpr int bank_count = sm_90a.banks, bytes_of_word = sm_90a.bank_bytes;

// Colours 0..7 of the heat scale stand for 1, 2, ... 8 and more passes.
int heat_of(int degree) { return std::min(degree, 8) - 1; }

Grid map_of(const ConflictBlocks& blocks, int element_bits) {
    const std::string access(to_string(blocks.total.access));
    Grid grid = blank_grid(
        blocks.total.degree == 1
            ? access + ": no conflicts"
            : fmt::format("{}: {}-way, {} instead of {}", access, blocks.total.degree,
                          count_of(blocks.total.passes, "pass", "passes"), blocks.total.phases),
        blocks.along_rows ? blocks.units : blocks.groups, blocks.along_rows ? blocks.groups : blocks.units);
    grid.heat = true;
    name_axes(grid, "mn", "k");
    const int unit = 128 / element_bits;
    const auto name = [](std::vector<std::string>& names, int step) {
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(static_cast<int>(i) * step);
    };
    name(grid.row_names, blocks.along_rows ? unit : 8);
    name(grid.column_names, blocks.along_rows ? 8 : unit);
    for (int group = 0; group < blocks.groups; ++group)
        for (int u = 0; u < blocks.units; ++u) {
            const BankPhase& phase = blocks.worst[static_cast<std::size_t>(group * blocks.units + u)];
            Grid::Cell& c = blocks.along_rows ? grid.at(u, group) : grid.at(group, u);
            c.tip = fmt::format("lines {} to {}, unit {}: ", 8 * group, 8 * group + 7, u);
            if (phase.addresses.empty()) {
                c.colour = -1;
                c.tip += "not accessed";
                continue;
            }
            c.text = std::to_string(phase.degree);
            c.colour = heat_of(phase.degree);
            c.tip += phase.degree == 1
                         ? "1 pass"
                         : fmt::format("{}, lanes {} on bank {}", count_of(phase.degree, "pass", "passes"),
                                       fmt::join(phase.guilty, " "), phase.bank);
        }
    grid.legend = heat_legend();
    return grid;
}

}  // namespace

Grid::Legend heat_legend() {
    Grid::Legend legend{.title = "passes", .keys = {}, .heat = true};
    for (int degree = 1; degree <= 8; ++degree)
        legend.keys.push_back({heat_of(degree), degree == 8 ? "8 or more" : std::to_string(degree)});
    return legend;
}

Grid grid_of(const BankConflicts& conflicts) {
    std::size_t lanes = 0;
    for (const BankPhase& phase : conflicts.worst) lanes += phase.addresses.size();
    Grid grid = blank_grid(conflicts.to_string(), static_cast<std::int64_t>(lanes), bank_count);
    name_axes(grid, "lane", "bank");
    grid.heat = true;
    for (Grid::Cell& c : grid.cells) c.colour = -1;
    const int words = std::max(1, conflicts.bytes / bytes_of_word);  // of each lane
    for (const BankPhase& phase : conflicts.worst) {
        std::array<std::vector<int>, bank_count> distinct;
        for (const std::uint32_t address : phase.addresses)
            for (int word = static_cast<int>(address / bytes_of_word), left = words; left > 0;
                 --left, ++word) {
                auto& seen = distinct[static_cast<std::size_t>(word % bank_count)];
                if (std::ranges::find(seen, word) == seen.end()) seen.push_back(word);
            }
        for (std::size_t i = 0; i < phase.addresses.size(); ++i)
            for (int word = static_cast<int>(phase.addresses[i] / bytes_of_word), left = words; left > 0;
                 --left, ++word) {
                const int lane = phase.first_lane + static_cast<int>(i);
                const auto degree =
                    static_cast<int>(distinct[static_cast<std::size_t>(word % bank_count)].size());
                grid.at(lane, word % bank_count) = {
                    std::to_string(degree),
                    fmt::format("lane {} byte {}: {} of bank {} in this phase", lane, bytes_of_word * word,
                                count_of(degree, "word"), word % bank_count),
                    heat_of(degree), fmt::format("b{}", word % bank_count)};
            }
        const auto size = static_cast<int>(phase.addresses.size());
        for (int bank = 0; bank < bank_count; bank += 4)
            grid.frames.push_back({phase.first_lane, bank, size, 4, false, {}});
    }
    for (int lane = 0; lane < grid.rows; ++lane)
        for (int bank = 0; bank < bank_count; ++bank)
            if (Grid::Cell& c = grid.at(lane, bank); c.tip.empty())
                c.tip = fmt::format("lane {} does not access bank {}", lane, bank);
    grid.legend = heat_legend();
    return grid;
}

Grid conflict_map(const Tile& tile, SharedAccess access) {
    return map_of(conflict_blocks(tile, access), bits(tile.dtype()));
}

Grid conflict_map(const Layout& layout, int element_bits, SharedAccess access) {
    return map_of(conflict_blocks(layout, element_bits, access), element_bits);
}

Picture conflict_maps(const Tile& tile) {
    Picture out;
    for (const BankConflicts& conflicts : bank_conflicts(tile))
        out.push_back(conflict_map(tile, conflicts.access));
    return out;
}

Picture conflict_maps(const Layout& layout, int element_bits) {
    Picture out;
    for (const BankConflicts& conflicts : bank_conflicts(layout, element_bits))
        out.push_back(conflict_map(layout, element_bits, conflicts.access));
    return out;
}

}  // namespace wgrun
