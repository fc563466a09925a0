#include "timeline/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace wgrun::timeline {
namespace {

struct Doing {
    bool copies = false, multiplies = false;
    std::size_t items = 0;
};

Doing doing(const WarpTrace& warp, const Costs& costs) {
    Doing out;
    out.items = warp.items.size();
    out.copies = std::ranges::any_of(
        warp.events, [](const Event& event) { return event.kind == Event::Kind::copy && event.outside; });
    out.multiplies = std::ranges::any_of(
        warp.items, [&](const Item& item) { return costs.of(item.pc).kind == StepCost::Kind::product; });
    return out;
}

}  // namespace

Roles roles_of(const Trace& trace, const Costs& costs) {
    constexpr int group = 4;          // warps
    constexpr std::size_t idle = 10;  // times fewer steps than the busiest warp
    Roles roles;
    std::vector<Doing> all;
    std::size_t most = 0;
    for (const WarpTrace& warp : trace.warps) {
        all.push_back(doing(warp, costs));
        most = std::max(most, all.back().items);
    }
    std::map<std::tuple<int, bool, bool>, int> known;
    for (std::size_t w = 0; w < trace.warps.size(); ++w) {
        const Doing& what = all[w];
        const int number = trace.warps[w].warp;
        const bool idles = !what.copies && !what.multiplies && what.items * idle < most;
        if (idles) {
            roles.of_warp.push_back(-1);
            continue;
        }
        const auto [found, added] = known.try_emplace({number / group, what.copies, what.multiplies},
                                                      static_cast<int>(roles.list.size()));
        if (added) roles.list.push_back({{}, number, what.copies, what.multiplies});
        roles.of_warp.push_back(found->second);
    }
    const auto producers =
        std::ranges::count_if(roles.list, [](const Role& r) { return r.copies && !r.multiplies; });
    const auto consumers =
        std::ranges::count_if(roles.list, [](const Role& r) { return !r.copies && r.multiplies; });
    int producer = 0, consumer = 0;
    for (std::size_t i = 0; i < roles.list.size(); ++i) {
        Role& role = roles.list[i];
        if (producers > 0 && role.copies && !role.multiplies) {
            role.name = producers == 1 ? "producer" : fmt::format("producer {}", ++producer);
        } else if (producers > 0 && role.multiplies && !role.copies) {
            role.name = consumers == 1 ? "consumer" : fmt::format("consumer {}", ++consumer);
        } else {
            int last = role.warp;
            for (std::size_t w = 0; w < trace.warps.size(); ++w)
                if (roles.of_warp[w] == static_cast<int>(i) && trace.warps[w].rank == 0)
                    last = std::max(last, trace.warps[w].warp);
            role.name = last == role.warp ? fmt::format("warp {}", role.warp)
                                          : fmt::format("warps {} to {}", role.warp, last);
        }
    }
    return roles;
}

}  // namespace wgrun::timeline
