// WG-SASS-03: products in flight where the program has waited for them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sass/in_flight.hpp"
#include "sass/report.hpp"

namespace wgrun::sass {

void check_waits(const Function& function, const Graph& graph, const Asked& program, const Done& done,
                 const Inclusion& found, Report& report) {
    std::vector<Place> asked;
    std::vector<EventId> ids;
    for (EventId id = 2; id < done.graph.events.size(); ++id)
        if (!found.matched[id].empty()) asked.push_back(done.graph.events[id].number), ids.push_back(id);
    std::vector<std::vector<EventId>> image(function.instructions.size());
    std::vector<bool> counts(function.instructions.size());
    for (EventId id = 2; id < done.graph.events.size(); ++id) {
        if (done.graph.events[id].does != Does::product) continue;
        image[done.graph.events[id].number] = found.matched[id];
        counts[done.graph.events[id].number] =
            std::ranges::any_of(found.matched[id], [&](EventId of) { return program.ends_group[of]; });
    }
    const auto in_flight = in_flight_at(function, graph, asked, counts);
    std::set<EventId> told;
    std::set<Place> places;
    for (std::size_t i = 0; i < ids.size(); ++i)
        for (const InFlight& flying : in_flight[i]) {
            const Place product = flying.product;
            const int committed = flying.committed;
            const auto& images = image[product];
            const bool allowed = std::ranges::any_of(found.matched[ids[i]], [&](EventId at) {
                return std::ranges::any_of(program.in_flight[at], [&](const auto& flies) {
                    return flies.second >= committed &&
                           std::ranges::find(images, flies.first) != images.end();
                });
            });
            if (allowed || images.empty() || told.contains(images.front()) || places.contains(asked[i]))
                continue;
            told.insert(images.front());
            places.insert(asked[i]);
            const Event& of = program.graph.events[images.front()];
            report.add(rules::WG_SASS_03, of.line, asked[i],
                       fmt::format("the product at {} may be in flight at {}, where the program has "
                                   "waited for it",
                                   report.name(product), report.name(asked[i])));
        }
}

}  // namespace wgrun::sass
