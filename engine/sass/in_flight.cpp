#include "sass/in_flight.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sass/record.hpp"
#include "sass/registers.hpp"

namespace wgrun::sass {
namespace {

constexpr int most_groups = 7;  // what is in flight with more commits behind it counts as with so many

/// Of WARPGROUP.DEPBAR.LE gsb0, 0x1: the groups that may remain.
int remaining(const Instruction& wait) {
    if (wait.operands.size() < 2) return 0;
    const std::string_view text = wait.operands[1];
    int value = 0;
    std::from_chars(text.data() + std::min<std::size_t>(2, text.size()), text.data() + text.size(), value,
                    16);
    return value;
}

/// What happens to groups at each instruction, and the registers that matter, read once.
struct Outline {
    Outline(const Function& function, const Graph& graph) : of(function.instructions.size()) {
        for (Place at = 0; at < of.size(); ++at) {
            const Instruction& one = function.instructions[at];
            of[at].written = written(one);
            for (const Place inside : graph.called(at)) {
                const Registers more = written(function.instructions[inside]);
                if (more.count > 0) of[at].called.push_back(more);
            }
            if (one.never()) continue;
            if (one.record->does == Does::product) {
                products.push_back(at);
                of[at].product = static_cast<int>(shapes.size());
                shapes.push_back(product_of(one));
            }
            if (one.record->does == Does::wait_products && !one.guarded()) of[at].leaves = remaining(one);
        }
    }
    struct One {
        Registers written;
        std::vector<Registers> called;  ///< that a function writes that it calls
        int product = -1;               ///< in `shapes`
        int leaves = -1;                ///< groups that may remain; -1: it does not wait
    };
    const Product* product(Place at) const {
        return of[at].product < 0 ? nullptr : &shapes[static_cast<std::size_t>(of[at].product)];
    }
    std::vector<One> of;
    std::vector<Place> products;
    std::vector<Product> shapes;
};

/// Follows all paths behind a product while it may be in flight; visit(place, committed, age) says whether to
/// go on behind the place. committed: the groups that are committed after it, its own among them; age: those
/// of them that the program commits, too, as `counts` tells by instruction. covered(place): a wait there
/// covers it.
template <class Visit, class Covered>
void follow(const Outline& outline, const Graph& graph, Place product, const std::vector<bool>& counts,
            std::vector<std::uint64_t>& seen, Visit visit, Covered covered) {
    struct State {
        Place at;
        int committed, age;
    };
    std::vector<State> left;
    std::vector<Place> marked;
    const auto reach = [&](Place at, int committed, int age) {
        const std::uint64_t bit = std::uint64_t{1} << (committed * (most_groups + 1) + age);
        if ((seen[at] & bit) != 0) return;
        if (seen[at] == 0) marked.push_back(at);
        seen[at] |= bit;
        left.push_back({at, committed, age});
    };
    const int own = outline.product(product)->ends_group ? 1 : 0;
    for (const Place to : graph.next(product)) reach(to, own, own != 0 && counts[product] ? 1 : 0);
    while (!left.empty()) {
        auto [at, committed, age] = left.back();
        left.pop_back();
        const Outline::One& one = outline.of[at];
        if (one.leaves >= 0 && committed > one.leaves) {
            covered(at);
            continue;
        }
        if (!visit(at, committed, age)) continue;
        if (const Product* other = outline.product(at); other != nullptr && other->ends_group) {
            committed = std::min(committed + 1, most_groups);
            if (counts[at]) age = std::min(age + 1, most_groups);
        }
        for (const Place to : graph.next(at)) reach(to, committed, age);
    }
    for (const Place at : marked) seen[at] = 0;
}

}  // namespace

std::vector<Touched> touched_in_flight(const Function& function, const Graph& graph) {
    const Outline outline(function, graph);
    std::vector<Touched> out;
    std::vector<std::uint64_t> seen(function.instructions.size());
    const std::vector<bool> all(function.instructions.size(), true);
    for (const Place product : outline.products) {
        if (!graph.reachable(product)) continue;
        const Product& shape = *outline.product(product);
        follow(
            outline, graph, product, all, seen,
            [&](Place at, int committed, int) {
                const Instruction& one = function.instructions[at];
                std::optional<Touched> found;
                const auto note = [&](Touched::What what, Registers kept, Registers touches) {
                    if (found || !kept.meets(touches)) return;
                    found = Touched{what, product, at, std::max(kept.first, touches.first), committed};
                };
                const auto writes = [&](Registers touches) {
                    note(Touched::What::fragment, shape.fragment, touches);
                    note(Touched::What::metadata, shape.metadata, touches);
                    note(Touched::What::accumulator, shape.accumulators, touches);
                };
                if (const Product* other = outline.product(at)) {
                    // Of the same accumulators the products keep their order; A's registers are read by both.
                    if (other->accumulators != shape.accumulators) writes(other->accumulators);
                    note(Touched::What::early_read, shape.accumulators, other->fragment);
                } else {
                    writes(outline.of[at].written);
                    for (const Registers& more : outline.of[at].called) writes(more);
                    for_each_read(one, [&](Registers read) {
                        note(Touched::What::early_read, shape.accumulators, read);
                    });
                }
                if (found) out.push_back(*found);
                return !found;
            },
            [](Place) {});
    }
    return out;
}

std::vector<Unordered> written_without_order(const Function& function, const Graph& graph) {
    const Outline outline(function, graph);
    std::vector<std::vector<Place>> before(function.instructions.size());
    for (Place at = 0; at < before.size(); ++at)
        for (const Place to : graph.next(at)) before[to].push_back(at);
    std::vector<Unordered> out;
    std::vector<bool> seen(function.instructions.size());
    for (const Place product : outline.products) {
        if (!graph.reachable(product)) continue;
        const Product& shape = *outline.product(product);
        std::vector<Place> left = before[product], marked;
        while (!left.empty()) {
            const Place at = left.back();
            left.pop_back();
            if (seen[at]) continue;
            seen[at] = true;
            marked.push_back(at);
            const Instruction& one = function.instructions[at];
            if (one.record->does == Does::order_registers && !one.never()) continue;
            const Registers& touches = outline.of[at].written;
            const bool sums = shape.reads_accumulators && shape.accumulators.meets(touches);
            if (sums || shape.fragment.meets(touches)) {
                const Registers& kept = sums ? shape.accumulators : shape.fragment;
                out.push_back({at, product, std::max(kept.first, touches.first)});
                continue;
            }
            left.insert(left.end(), before[at].begin(), before[at].end());
        }
        for (const Place at : marked) seen[at] = false;
    }
    return out;
}

std::vector<std::vector<InFlight>> in_flight_at(const Function& function, const Graph& graph,
                                                const std::vector<Place>& asked,
                                                const std::vector<bool>& counts) {
    const Outline outline(function, graph);
    std::vector<std::vector<InFlight>> out(asked.size());
    std::vector<int> place_of(function.instructions.size(), -1);
    for (std::size_t i = 0; i < asked.size(); ++i) place_of[asked[i]] = static_cast<int>(i);
    std::vector<std::uint64_t> seen(function.instructions.size());
    for (const Place product : outline.products) {
        if (!graph.reachable(product)) continue;
        const auto note = [&](Place at, int, int committed) {
            if (const int place = place_of[at]; place >= 0) {
                std::vector<InFlight>& list = out[static_cast<std::size_t>(place)];
                if (list.empty() || list.back().product != product) list.push_back({product, committed});
                list.back().committed = std::max(list.back().committed, committed);
            }
            return true;
        };
        follow(outline, graph, product, counts, seen, note, [](Place) {});
    }
    return out;
}

std::vector<std::vector<Place>> waits_of_products(const Function& function, const Graph& graph) {
    const Outline outline(function, graph);
    std::vector<std::uint64_t> seen(function.instructions.size());
    const std::vector<bool> all(function.instructions.size(), true);
    std::vector<std::vector<Place>> out;
    for (Place at = 0; at < function.instructions.size(); ++at) {
        if (function.instructions[at].record->does != Does::product) continue;
        std::vector<Place>& waits = out.emplace_back();
        if (outline.product(at) == nullptr) continue;  // it is never executed
        follow(
            outline, graph, at, all, seen, [](Place, int, int) { return true; },
            [&](Place wait) { waits.push_back(wait); });
        std::ranges::sort(waits);
        waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
    return out;
}

}  // namespace wgrun::sass
