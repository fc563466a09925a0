// WG-SASS-11: addresses, descriptors, numbers of barriers, and under which conditions: of single threads,
// which are executed with arguments and memory that are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sass/report.hpp"
#include "sass/thread.hpp"

namespace wgrun::sass {
namespace {

/// What is compared of a kind, in words.
std::string_view name_of_value(Does does, std::size_t which) {
    switch (does) {
        case Does::product: return which == 0 ? "A's descriptor" : which == 1 ? "B's descriptor" : "scale-d";
        case Does::barrier:
        case Does::barrier_arrive: return which == 0 ? "the number" : "the count of threads";
        case Does::copy: return which == 0 ? "the address in shared memory" : "the address in global memory";
        default: return "the address";
    }
}

/// Whether there are as many as in the program. Tests are repeated, sums of bytes merged, and the copy engine
/// gets one copy of a warp.
bool counts(Does does) {
    switch (does) {
        case Does::product:
        case Does::mbarrier_test:
        case Does::mbarrier_expect:
        case Does::bulk_load:
        case Does::bulk_store: return false;
        default: return true;
    }
}

struct Difference {
    int line;
    Place at;
    std::string what;
    bool of_shared = false;  ///< it depends on where buffers of shared memory are
};

/// Compares what threads do. One difference a line.
class Values {
  public:
    Values(const Function& function, const Asked& asked) : function_(function), asked_(asked) {}

    void compare(const Drawn& drawn, const Behaviour& program, const Behaviour& machine) {
        thread_ =
            fmt::format("thread {} of CTA ({}, {}, {})", drawn.thread, drawn.cta.x, drawn.cta.y, drawn.cta.z);
        compare(program, machine, &Behaviour::shared);
        compare(program, machine, &Behaviour::global);
        if (program.complete && !program.loads_anywhere) {
            compare(program.loads_of_shared, machine.loads_of_shared, true);
            compare(program.loads_of_global, machine.loads_of_global, false);
        }
        compare_deeds(program, machine);
    }

    std::vector<Difference> differences;
    std::size_t compared = 0;  ///< addresses and numbers

  private:
    void add(int line, Place at, bool of_shared, const std::string& what) {
        if (told_.insert(line).second)
            differences.push_back({line, at, fmt::format("{}, for {}", what, thread_), of_shared});
    }
    std::string name(Place at) const {
        return fmt::format("0x{:x} `{}`", function_.get().instructions[at].address,
                           function_.get().instructions[at].text);
    }

    /// What both have stored. What ended early has stored less.
    void compare(const Behaviour& program, const Behaviour& machine, Contents Behaviour::*space) {
        const Contents &asked = program.*space, &is = machine.*space;
        const bool shared = space == &Behaviour::shared;
        const std::string_view memory = shared ? "shared" : "global";
        if (program.complete && !asked.forgotten())
            for (const auto& [address, byte] : is.stored())
                if (!asked.stored().contains(address))
                    add(byte.line, byte.number, shared,
                        fmt::format("{} writes to 0x{:x} in {} memory, the program does not",
                                    name(byte.number), address, memory));
        if (machine.complete && !is.forgotten())
            for (const auto& [address, byte] : asked.stored())
                if (!is.stored().contains(address))
                    add(byte.line, at_line(byte.line), shared,
                        fmt::format("the program writes to 0x{:x} in {} memory, the machine code does not",
                                    address, memory));
        if (!program.complete || !machine.complete || asked.forgotten() || is.forgotten()) return;
        for (const auto& [address, byte] : is.stored()) {
            const auto found = asked.stored().find(address);
            if (found == asked.stored().end()) continue;
            ++compared;
            if (!byte.known || !found->second.known || byte.bits == found->second.bits) continue;
            add(byte.line, byte.number, shared,
                fmt::format("{} leaves 0x{:02x} at 0x{:x} in {} memory, the program 0x{:02x}",
                            name(byte.number), byte.bits, address, memory, found->second.bits));
        }
    }

    void compare(const std::vector<Loaded>& asked, const std::vector<Loaded>& is, bool shared) {
        std::unordered_set<std::uint64_t> bytes;
        for (const Loaded& one : asked)
            for (int i = 0; i < one.bytes; ++i) bytes.insert(one.address + static_cast<std::uint64_t>(i));
        for (const Loaded& one : is) {
            ++compared;
            for (int i = 0; i < one.bytes; ++i)
                if (!bytes.contains(one.address + static_cast<std::uint64_t>(i)))
                    add(one.line, one.number, shared,
                        fmt::format("{} reads 0x{:x} in {} memory, the program does not", name(one.number),
                                    one.address, shared ? "shared" : "global"));
        }
    }

    using Sequences = std::map<std::pair<Does, int>, std::vector<const Deed*>>;
    Sequences sequences(const Behaviour& of, bool machine) const {
        Sequences out;
        for (const Deed& deed : of.deeds) {
            const bool product = deed.does == Does::product;
            if (product && machine && only_commits(function_.get().instructions[deed.number], asked_.get()))
                continue;
            out[{deed.does, product ? 0 : deed.line}].push_back(&deed);
        }
        return out;
    }

    void compare_deeds(const Behaviour& program, const Behaviour& machine) {
        const Sequences asked = sequences(program, false), is = sequences(machine, true);
        if (program.complete && machine.complete)
            for (const auto& [key, deeds] : asked)
                if (counts(key.first) && !is.contains(key))
                    add(key.second, at_line(key.second), false,
                        fmt::format("the machine code does not come to the {} of the program",
                                    name_of(key.first)));
        for (const auto& [key, deeds] : is) {
            const auto found = asked.find(key);
            if (found == asked.end()) continue;
            const std::vector<const Deed*>& others = found->second;
            if (program.complete && machine.complete && deeds.size() != others.size()) {
                if (counts(key.first))
                    add(key.second, deeds.back()->number, false,
                        fmt::format("{} is executed {} times, the {} of the program {} times",
                                    name(deeds.back()->number), deeds.size(), name_of(key.first),
                                    others.size()));
                continue;
            }
            for (std::size_t i = 0; i < std::min(deeds.size(), others.size()); ++i)
                if (differ(*deeds[i], *others[i])) break;
        }
    }

    bool differ(const Deed& is, const Deed& asked) {
        for (std::size_t i = 0; i < std::min(is.values.size(), asked.values.size()); ++i) {
            const Known64 one = is.values[i], other = asked.values[i];
            if (!one.known || !other.known) continue;
            ++compared;
            if (one.bits == other.bits) continue;
            add(asked.line, is.number, is.does != Does::barrier && is.does != Does::barrier_arrive,
                fmt::format("of {} {} is 0x{:x}, in the program 0x{:x}", name(is.number),
                            name_of_value(is.does, i), one.bits, other.bits));
            return true;
        }
        return false;
    }

    Place at_line(int line) const {
        const auto found = std::ranges::find(function_.get().instructions, line, &Instruction::line);
        return found == function_.get().instructions.end()
                   ? 0
                   : static_cast<Place>(found - function_.get().instructions.begin());
    }

    std::reference_wrapper<const Function> function_;
    std::reference_wrapper<const Asked> asked_;
    std::string thread_;
    std::set<int> told_;
};

/// Threads that are often alone: the first of a warp, of a warpgroup, the last one.
std::set<std::uint32_t> some_threads(const Program& program) {
    const auto count = static_cast<std::uint32_t>(program.threads());
    return {0, count - 1, count / 2, count / 2 / 32 * 32, (count - 1) / 32 * 32, 5 % count};
}

}  // namespace

std::size_t check_values(const Function& function, const Graph& graph, const Program& program,
                         const Asked& asked, Report& report) {
    constexpr std::uint64_t launches = 3;
    constexpr std::size_t most_permuted = 4;  // buffers
    const auto with = [&](const std::vector<std::size_t>& order) {
        Values values(function, asked);
        for (std::uint64_t seed = 1; seed <= launches; ++seed)
            for (const std::uint32_t thread : some_threads(program)) {
                const Drawn drawn = draw(program, seed, thread, order);
                values.compare(drawn, behaviour_of(program, drawn), behaviour_of(function, graph, drawn));
            }
        return values;
    };
    Values best = with({});
    const bool placed = report.known().one_shared_variable || program.shared().size() < 2;
    std::vector<std::size_t> order(program.shared().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!placed && order.size() <= most_permuted) do {
            if (best.differences.empty()) break;
            Values values = with(order);
            if (values.differences.size() < best.differences.size()) best = std::move(values);
        } while (std::next_permutation(order.begin(), order.end()));
    for (const Difference& one : best.differences)
        if (one.of_shared && !placed)
            report.open(one.line, "where ptxas places the variables of shared memory is not known");
        else
            report.add(rules::WG_SASS_11, one.line, one.at, one.what);
    return best.compared;
}

}  // namespace wgrun::sass
