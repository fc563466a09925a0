// WG-SASS-01, WG-SASS-08: the registers of products.
#include <fmt/format.h>

#include <set>

#include "sass/in_flight.hpp"
#include "sass/registers.hpp"
#include "sass/report.hpp"

namespace wgrun::sass {
namespace {

std::string_view name_of(Touched::What what) {
    switch (what) {
        case Touched::What::fragment: return "writes to A's register";
        case Touched::What::metadata: return "writes to the metadata register";
        case Touched::What::accumulator: return "writes to the accumulator";
        case Touched::What::early_read: break;
    }
    return "reads the accumulator";
}

}  // namespace

void check_registers(const Function& function, const Graph& graph, const Asked* asked,
                     const std::vector<int>& line_of, Report& report) {
    // Nobody reads what a product of no use writes.
    const auto of_no_use = [&](Place product) {
        return asked != nullptr && only_commits(function.instructions[product], *asked);
    };
    // One finding for each product and each kind: what follows from the same fault is no other one.
    std::set<std::pair<Place, Touched::What>> told, touching;
    for (const Touched& touched : touched_in_flight(function, graph)) {
        if (of_no_use(touched.product) || told.contains({touched.product, touched.what}) ||
            touching.contains({touched.at, touched.what}))
            continue;
        told.emplace(touched.product, touched.what);
        touching.emplace(touched.at, touched.what);
        const int line = line_of[touched.product];
        report.add(rules::WG_SASS_01, line, touched.at,
                   fmt::format("{} {} R{} of the product at {}, which may be in flight there: no "
                               "WARPGROUP.DEPBAR on the way covers its group",
                               report.name(touched.at), name_of(touched.what), touched.reg,
                               report.name(touched.product)),
                   {{report.where(function.instructions[touched.at].line), "the instruction's line"}});
    }
    std::set<Place> products, writes;  // one finding for each
    for (const Unordered& one : written_without_order(function, graph)) {
        if (of_no_use(one.product) || products.contains(one.product) || writes.contains(one.write)) continue;
        products.insert(one.product);
        writes.insert(one.write);
        report.add(rules::WG_SASS_08, line_of[one.product], one.product,
                   fmt::format("{} writes to R{} of the product at {}, and no WARPGROUP.ARRIVE comes between",
                               report.name(one.write), one.reg, report.name(one.product)),
                   {{report.where(function.instructions[one.write].line), "the instruction's line"}});
    }
}

void check_serialised(const Function& function, const Graph& graph, const Asked& asked,
                      const std::vector<int>& line_of, Report& report) {
    std::set<int> waits;
    for (const Event& wait : asked.waits) waits.insert(wait.line);
    std::size_t count = 0;
    Place first = 0;
    int line = 0, last_product_line = 0;
    for (Place at = 0; at < function.instructions.size(); ++at) {
        const Instruction& one = function.instructions[at];
        if (!graph.reachable(at)) continue;
        if (one.record->does == Does::product) last_product_line = line_of[at];
        if (one.record->does != Does::wait_products || waits.contains(one.line)) continue;
        if (count++ > 0) continue;
        first = at;
        line = last_product_line > 0 ? last_product_line : one.line;
    }
    if (count == 0) return;
    report.add(rules::WG_SASS_04, line, first,
               fmt::format("{} waits for products where the program does not{}", report.name(first),
                           count == 1 ? "" : fmt::format(", the first of {} such places", count)));
}

}  // namespace wgrun::sass
