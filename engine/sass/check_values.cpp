// WG-SASS-11: addresses, descriptors, numbers of barriers, and under which conditions: of single threads,
// which are executed with arguments and memory that are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sass/report.hpp"
#include "sass/thread.hpp"

namespace wgrun::sass {
namespace {

/// What of a kind's values is compared, in words.
std::string_view name_of_value(Does does, std::size_t which) {
    switch (does) {
        case Does::product: return which == 0 ? "A's descriptor" : which == 1 ? "B's descriptor" : "scale-d";
        case Does::barrier:
        case Does::barrier_arrive: return which == 0 ? "the number" : "the count of threads";
        case Does::copy: return which == 0 ? "the address in shared memory" : "the address in global memory";
        default: return "the address";
    }
}

/// Of what an assembler may make more or fewer than the program, count alone says nothing: tests are
/// repeated, sums of bytes merged, and the copy engine gets one copy of a warp.
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

class Values {
  public:
    Values(const Function& function, const Asked& asked, const std::vector<int>& line_of, Report& report)
        : function_(function), asked_(asked), line_of_(line_of), report_(report) {}

    void compare(const Drawn& drawn, const Behaviour& program, const Behaviour& machine) {
        thread_ =
            fmt::format("thread {} of CTA ({}, {}, {})", drawn.thread, drawn.cta.x, drawn.cta.y, drawn.cta.z);
        compare(program, machine, &Behaviour::shared, "shared");
        compare(program, machine, &Behaviour::global, "global");
        if (program.complete && !program.loads_anywhere) {
            compare(program.loads_of_shared, machine.loads_of_shared, "shared");
            compare(program.loads_of_global, machine.loads_of_global, "global");
        }
        compare_deeds(program, machine);
    }

  private:
    void add(int line, Place at, const std::string& what) {
        if (!told_.insert(line).second) return;
        report_.add(rules::WG_SASS_11, line, at, fmt::format("{}, for {}", what, thread_));
    }

    /// What both have stored. What ended early has stored less.
    void compare(const Behaviour& program, const Behaviour& machine, Contents Behaviour::*space,
                 std::string_view name) {
        const Contents &asked = program.*space, &is = machine.*space;
        if (program.complete && !asked.forgotten())
            for (const auto& [address, byte] : is.stored())
                if (!asked.stored().contains(address))
                    add(byte.line, byte.number,
                        fmt::format("{} writes to 0x{:x} in {} memory, the program does not",
                                    report_.name(byte.number), address, name));
        if (machine.complete && !is.forgotten())
            for (const auto& [address, byte] : asked.stored())
                if (!is.stored().contains(address))
                    add(byte.line, at_line(byte.line),
                        fmt::format("the program writes to 0x{:x} in {} memory, the machine code does not",
                                    address, name));
        if (!program.complete || !machine.complete || asked.forgotten() || is.forgotten()) return;
        for (const auto& [address, byte] : is.stored()) {
            const auto found = asked.stored().find(address);
            if (found == asked.stored().end() || !byte.known || !found->second.known ||
                byte.bits == found->second.bits)
                continue;
            add(byte.line, byte.number,
                fmt::format("{} leaves 0x{:02x} at 0x{:x} in {} memory, the program 0x{:02x}",
                            report_.name(byte.number), byte.bits, address, name, found->second.bits));
        }
    }

    void compare(const std::vector<Loaded>& asked, const std::vector<Loaded>& is, std::string_view name) {
        std::unordered_set<std::uint64_t> bytes;
        for (const Loaded& one : asked)
            for (int i = 0; i < one.bytes; ++i) bytes.insert(one.address + static_cast<std::uint64_t>(i));
        for (const Loaded& one : is)
            for (int i = 0; i < one.bytes; ++i)
                if (!bytes.contains(one.address + static_cast<std::uint64_t>(i)))
                    add(one.line, one.number,
                        fmt::format("{} reads 0x{:x} in {} memory, the program does not",
                                    report_.name(one.number), one.address, name));
    }

    using Sequences = std::map<std::pair<Does, int>, std::vector<const Deed*>>;
    Sequences sequences(const Behaviour& of, bool machine) const {
        Sequences out;
        for (const Deed& deed : of.deeds) {
            const bool product = deed.does == Does::product;
            if (product && machine && only_commits(function_.instructions[deed.number], asked_)) continue;
            out[{deed.does, product ? 0 : deed.line}].push_back(&deed);
        }
        return out;
    }

    void compare_deeds(const Behaviour& program, const Behaviour& machine) {
        const Sequences asked = sequences(program, false), is = sequences(machine, true);
        for (const auto& [key, deeds] : is) {
            const auto found = asked.find(key);
            if (found == asked.end()) continue;
            const std::vector<const Deed*>& others = found->second;
            const bool complete = program.complete && machine.complete;
            if (complete && counts(key.first) && deeds.size() != others.size())
                add(key.second, deeds.back()->number,
                    fmt::format("{} is executed {} times, the {} of the program {} times",
                                report_.name(deeds.back()->number), deeds.size(), sass::name_of(key.first),
                                others.size()));
            if (complete && deeds.size() != others.size()) continue;
            for (std::size_t i = 0; i < std::min(deeds.size(), others.size()); ++i)
                if (differ(*deeds[i], *others[i])) break;
        }
    }

    bool differ(const Deed& is, const Deed& asked) {
        for (std::size_t i = 0; i < std::min(is.values.size(), asked.values.size()); ++i) {
            const Known64 one = is.values[i], other = asked.values[i];
            if (!one.known || !other.known || one.bits == other.bits) continue;
            add(asked.line, is.number,
                fmt::format("of {} {} is 0x{:x}, in the program 0x{:x}", report_.name(is.number),
                            name_of_value(is.does, i), one.bits, other.bits));
            return true;
        }
        return false;
    }

    Place at_line(int line) const {
        const auto found = std::ranges::find(function_.instructions, line, &Instruction::line);
        return found == function_.instructions.end()
                   ? 0
                   : static_cast<Place>(found - function_.instructions.begin());
    }

    const Function& function_;
    const Asked& asked_;
    const std::vector<int>& line_of_;
    Report& report_;
    std::string thread_;
    std::set<int> told_;
};

}  // namespace

void check_values(const Function& function, const Graph& graph, const Program& program, const Asked& asked,
                  const std::vector<int>& line_of, Report& report) {
    constexpr std::uint64_t launches = 2;
    const auto threads = static_cast<std::uint32_t>(program.threads());
    std::set<std::uint32_t> some{
        0, threads - 1, threads / 2, threads / 2 / 32 * 32, (threads - 1) / 32 * 32, 5 % threads};
    Values values(function, asked, line_of, report);
    for (std::uint64_t seed = 1; seed <= launches; ++seed)
        for (const std::uint32_t thread : some) {
            const Drawn drawn = draw(program, seed, thread);
            values.compare(drawn, behaviour_of(program, drawn), behaviour_of(function, graph, drawn));
        }
}

}  // namespace wgrun::sass
