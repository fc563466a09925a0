#include "sass/scoreboards.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sass/record.hpp"

namespace wgrun::sass {
namespace {

constexpr std::size_t scoreboards = 6;
constexpr int longest = 1 << 14;  // what is older has arrived in any case

/// By scoreboard: the instructions that it may count, and the fewest cycles since each was issued.
using Counted = std::array<std::map<Place, int>, scoreboards>;

/// Of "DEPBAR.LE SB0, 0x1": the scoreboard, and whether nothing remains that it counts.
struct Awaits {
    std::size_t scoreboard = scoreboards;
    bool all = false;
};
Awaits named_by(const Instruction& one) {
    if (one.record->does != Does::wait_scoreboard || one.operands.size() < 2) return {};
    const std::string_view name = one.operands[0];
    if (name.size() != 3 || !name.starts_with("SB") || name[2] < '0' || name[2] > '5') return {};
    return {static_cast<std::size_t>(name[2] - '0'), one.operands[1] == "0x0"};
}

/// What is counted behind the instruction.
Counted behind(Counted counted, const Instruction& one, Place at) {
    for (std::size_t i = 0; i < scoreboards; ++i)
        if (((one.control.waits >> i) & 1) != 0) counted[i].clear();
    if (const Awaits named = named_by(one); named.scoreboard < scoreboards && named.all)
        counted[named.scoreboard].clear();
    for (auto& each : counted)
        for (auto& [of, cycles] : each) cycles = std::min(cycles + one.control.stall, longest);
    for (const std::uint8_t set : {one.control.write, one.control.read})
        if (set < scoreboards) counted[set].insert_or_assign(at, one.control.stall);
    return counted;
}

/// Whether the one gets more by the other.
bool join(Counted& into, const Counted& from) {
    bool changed = false;
    for (std::size_t i = 0; i < scoreboards; ++i)
        for (const auto& [of, cycles] : from[i]) {
            const auto [found, added] = into[i].try_emplace(of, cycles);
            changed = changed || added || cycles < found->second;
            found->second = std::min(found->second, cycles);
        }
    return changed;
}

}  // namespace

std::vector<Awaited> scoreboard_waits(const Function& function, const Graph& graph) {
    const auto& code = function.instructions;
    std::vector<Counted> before(code.size());
    std::vector<bool> seen(code.size());
    std::vector<Place> left;
    if (!code.empty()) left.push_back(0), seen[0] = true;
    while (!left.empty()) {
        const Place at = left.back();
        left.pop_back();
        const Counted then = behind(before[at], code[at], at);
        for (const Place to : graph.next(at))
            if (join(before[to], then) || !seen[to]) seen[to] = true, left.push_back(to);
    }
    std::vector<Awaited> out;
    for (Place at = 0; at < code.size(); ++at)
        for (std::size_t i = 0; i < scoreboards; ++i)
            if (((code[at].control.waits >> i) & 1) != 0 || named_by(code[at]).scoreboard == i)
                for (const auto& [of, cycles] : before[at][i])
                    out.push_back({at, of, static_cast<int>(i), cycles});
    return out;
}

std::vector<Place> main_loops(const Function& function, const Graph& graph) {
    std::vector<Place> products, others;
    int deepest = 1;
    for (Place at = 0; at < graph.size(); ++at) deepest = std::max(deepest, graph.depth(at));
    for (Place at = 0; at < graph.size(); ++at) {
        const Place head = graph.loop(at);
        if (head == graph.size()) continue;
        const bool product = function.instructions[at].record->does == Does::product;
        if (product) products.push_back(head);
        if (graph.depth(at) == deepest) others.push_back(head);
    }
    std::vector<Place>& out = products.empty() ? others : products;
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace wgrun::sass
