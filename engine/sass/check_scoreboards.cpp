// WG-SASS-10: what waits for what in the main loops.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "sass/report.hpp"
#include "sass/scoreboards.hpp"

namespace wgrun::sass {

void check_scoreboards(const Function& function, const Graph& graph, const std::vector<int>& line_of,
                       Report& report) {
    constexpr std::size_t most = 8;  // in each loop, those with the fewest cycles between
    const std::vector<Awaited> all = scoreboard_waits(function, graph);
    for (const Place loop : main_loops(function, graph)) {
        std::vector<Awaited> inside;
        std::ranges::copy_if(all, std::back_inserter(inside), [&](const Awaited& one) {
            return graph.loop(one.by) == loop && graph.loop(one.of) == loop;
        });
        std::ranges::stable_sort(inside, {}, &Awaited::cycles);
        std::set<std::pair<int, int>> told;  // lines: a vector's parts wait for one load
        for (const Awaited& one : inside) {
            if (!told.emplace(line_of[one.by], line_of[one.of]).second) continue;
            if (told.size() > most) break;
            report.add(rules::WG_SASS_10, line_of[one.by], one.by,
                       fmt::format("{} waits for {} (scoreboard {}), from which on at least {} cycles are "
                                   "issued",
                                   report.name(one.by), report.name(one.of), one.scoreboard, one.cycles),
                       {{report.where(line_of[one.of]), "what it waits for"}});
        }
    }
}

}  // namespace wgrun::sass
