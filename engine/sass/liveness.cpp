#include "sass/liveness.hpp"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "sass/in_flight.hpp"
#include "sass/record.hpp"
#include "sass/registers.hpp"

namespace wgrun::sass {
namespace {

using Set = std::bitset<register_count + 1>;

void add(Set& set, Registers some) {
    for (int i = 0; i < some.count; ++i)
        if (const int reg = some.first + i; reg >= 0 && reg < register_count)
            set.set(static_cast<std::size_t>(reg));
}

/// The registers that each instruction reads, and those that it writes in any case.
struct Uses {
    Uses(const Function& function, const Graph& graph)
        : read(function.instructions.size()), written(read.size()) {
        const auto waits = waits_of_products(function, graph);
        std::size_t number = 0;  // of a product
        for (Place at = 0; at < read.size(); ++at) {
            const Instruction& one = function.instructions[at];
            for_each_read(one, [&](Registers some) { add(read[at], some); });
            for (const Place inside : graph.called(at))
                for_each_read(function.instructions[inside], [&](Registers some) { add(read[at], some); });
            if (!one.guarded()) add(written[at], sass::written(one));
            if (one.record->does == Does::product && !one.never() && graph.reachable(at))
                product(function, at, waits[number]);
            number += one.record->does == Does::product;
        }
    }
    std::vector<Set> read, written;

  private:
    void product(const Function& function, Place at, const std::vector<Place>& waits) {
        const Product shape = product_of(function.instructions[at]);
        add(read[at], shape.fragment);
        add(read[at], shape.metadata);
        add(shape.reads_accumulators ? read[at] : written[at], shape.accumulators);
        for (const Place wait : waits) {
            add(read[wait], shape.fragment);
            add(read[wait], shape.accumulators);
        }
    }
};

}  // namespace

std::vector<int> live_registers(const Function& function, const Graph& graph) {
    const Uses uses(function, graph);
    std::vector<Set> live(graph.size());
    for (bool changes = true; changes;) {
        changes = false;
        for (auto at = static_cast<Place>(graph.size()); at-- > 0;) {
            Set before;
            for (const Place to : graph.next(at)) before |= live[to];
            before = (before & ~uses.written[at]) | uses.read[at];
            changes = changes || before != live[at];
            live[at] = before;
        }
    }
    std::vector<int> out;
    for (const Set& one : live) out.push_back(static_cast<int>(one.count()));
    return out;
}

int stack_bytes(const Function& function) {
    for (const Instruction& one : function.instructions) {
        if (one.operands.size() < 3 || one.operands[0] != "R1" || one.operands[1] != "R1") continue;
        std::string_view number = one.operands[2];
        const bool negative = number.starts_with("-");
        if (negative) number.remove_prefix(1);
        if (!number.starts_with("0x")) continue;
        std::uint32_t value = 0;
        std::from_chars(number.data() + 2, number.data() + number.size(), value, 16);
        const auto down = static_cast<std::int32_t>(negative ? value : 0 - value);
        if (down > 0) return down;
    }
    return 0;
}

}  // namespace wgrun::sass
