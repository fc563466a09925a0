#include "sass/kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sass/inclusion.hpp"
#include "sass/report.hpp"

namespace wgrun::sass {
namespace {

/// The rule that a lost or moved event breaks.
const Rule& rule_of(Does does) { return does == Does::product ? rules::WG_SASS_02 : rules::WG_SASS_05; }

std::string_view argument_of(Does does, std::size_t argument) {
    switch (does) {
        case Does::barrier:
        case Does::barrier_arrive: return argument == 0 ? "number" : "count of threads";
        case Does::bulk_load:
        case Does::bulk_store: return "count of dimensions";
        case Does::set_registers: return "count of registers";
        default: break;
    }
    return "count of groups";
}

/// The order of what matters, and that nothing of it is missing.
class Order {
  public:
    Order(const Function& function, const Graph& graph, const Asked& asked, Report& report)
        : function_(function),
          graph_(graph),
          asked_(asked),
          report_(report),
          done_(done_by(function, graph, asked)),
          machine_(done_.graph) {
        found_ = compare(machine_, asked.graph);
    }

    std::size_t events() const { return machine_.events.size() - 2; }

    /// By instruction: the line of the PTX of a product; others have their own.
    std::vector<int> lines() const {
        std::vector<int> out;
        for (const Instruction& one : function_.instructions) out.push_back(one.line);
        for (EventId id = 2; id < machine_.events.size(); ++id) {
            const Event& event = machine_.events[id];
            if (event.does == Does::product && !found_.matched[id].empty())
                out[event.number] = asked_.graph.events[found_.matched[id].front()].line;
        }
        return out;
    }

    void check() {
        if (asked_.shared_line > 0)
            return report_.open(asked_.shared_line,
                                fmt::format("several statements stand on line {}: the lines of machine code "
                                            "do not tell them apart",
                                            asked_.shared_line),
                                "a line for each statement");
        if (machine_.gave_up || found_.gave_up)
            return report_.open(0, "there are too many paths to compare the orders of events");
        for (const Differs& one : found_.differs) differs(one);
        if (found_.departure) return departs(*found_.departure);
        if (done_.endless && !asked_.endless)
            return report_.add(rules::WG_SASS_05, function_.instructions[*done_.endless].line, *done_.endless,
                               fmt::format("behind {} a path never ends", report_.name(*done_.endless)));
        check_covered();
        check_waits(function_, graph_, asked_, done_, found_, report_);
        check_bytes();
        check_fences(function_, graph_, asked_, report_);
        check_accesses(function_, asked_, done_, found_, report_);
    }

  private:
    const Event& machine(EventId id) const { return machine_.events[id]; }
    const Event& program(EventId id) const { return asked_.graph.events[id]; }

    std::string text(EventId id) const {
        if (id == EventGraph::entry) return "the beginning";
        if (id == EventGraph::exit) return "the end";
        return report_.name(machine(id).number);
    }
    std::string list(const std::vector<EventId>& events) const {
        std::set<std::string> names;
        for (const EventId id : events)
            names.insert(id == EventGraph::exit
                             ? "its end"
                             : fmt::format("{} of line {}", name_of(program(id).does), program(id).line));
        std::string out;
        std::size_t count = 0;
        for (const std::string& name : names) {
            if (++count > 3) return out + fmt::format(" or {} others", names.size() - 3);
            out += (out.empty() ? "" : " or ") + name;
        }
        return out;
    }

    void differs(const Differs& one) {
        const Event &is = machine(one.machine), &asked = program(one.program);
        report_.add(rules::WG_SASS_06, asked.line, is.number,
                    fmt::format("{} has the {} {}, the program {}", report_.name(is.number),
                                argument_of(is.does, one.argument), is.arguments[one.argument],
                                asked.arguments[one.argument]));
    }

    /// What is lost is what stands between: where the program comes to the event behind one step that it
    /// expects, that is it.
    EventId lost(const Departure& one) const {
        for (const EventId expected : one.expected)
            for (const EventId then : asked_.graph.next[expected])
                if (one.machine == EventGraph::exit ? then == EventGraph::exit
                                                    : fits(machine(one.machine), program(then)))
                    return expected;
        return EventGraph::entry;
    }

    void departs(const Departure& one) {
        const EventId missing = lost(one);
        const bool ends = one.machine == EventGraph::exit;
        const Place at = ends ? (one.before == EventGraph::entry ? 0 : machine(one.before).number)
                              : machine(one.machine).number;
        if (missing != EventGraph::entry && missing != EventGraph::exit) {
            const Event& asked = program(missing);
            return report_.add(
                rule_of(asked.does), asked.line, at,
                fmt::format("the {} of line {} is missing: behind {} the machine code goes on "
                            "with {}",
                            name_of(asked.does), asked.line, text(one.before), text(one.machine)));
        }
        const Does does = ends ? (one.expected.empty() ? Does::other : program(one.expected.front()).does)
                               : machine(one.machine).does;
        const int line =
            ends ? (one.at.empty() ? 0 : program(one.at.front()).line) : machine(one.machine).line;
        report_.add(rule_of(does), line, at,
                    fmt::format("behind {} the machine code goes on with {}, the program with {}",
                                text(one.before), text(one.machine), list(one.expected)));
    }

    /// Blocks of the program of which machine code has something: the assembler has not found that nobody
    /// comes there.
    std::set<int> living_blocks() const {
        std::set<int> out;
        for (Place at = 0; at < function_.instructions.size(); ++at) {
            const auto line = static_cast<std::size_t>(function_.instructions[at].line);
            if (graph_.reachable(at) && line > 0 && line < asked_.line_block.size())
                out.insert(asked_.line_block[line]);
        }
        return out;
    }

    void check_covered() {
        const std::set<int> living = living_blocks();
        const std::vector<bool> reached = reached_of_program();
        for (EventId id = 2; id < asked_.graph.events.size(); ++id) {
            const Event& event = program(id);
            if (found_.covered[id] || !reached[id] || event.never) continue;
            if (event.does == Does::mbarrier_expect && expected_later(id)) continue;
            if (event.unread)
                report_.open(event.line,
                             fmt::format("the machine code has no {} of line {}, whose accumulators "
                                         "nothing reads",
                                         name_of(event.does), event.line));
            else if ((event.guard_may_fail || event.guard_decides_branches) &&
                     !holds_somewhere(asked_, done_, found_, event.guard))
                report_.open(event.line,
                             fmt::format("the machine code has no {} of line {}: whether its guard "
                                         "ever holds is not known",
                                         name_of(event.does), event.line));
            else if (living.contains(static_cast<int>(event.block)))
                report_.add(rule_of(event.does), event.line, 0,
                            fmt::format("the {} of line {} is missing", name_of(event.does), event.line));
            else
                report_.open(event.line,
                             fmt::format("the machine code has no {} of line {}: whether its threads come "
                                         "there at all is not known",
                                         name_of(event.does), event.line));
        }
    }

    std::vector<bool> reached_of_program() const {
        std::vector<bool> out(asked_.graph.events.size());
        std::vector<EventId> left{EventGraph::entry};
        out[EventGraph::entry] = true;
        while (!left.empty()) {
            const EventId at = left.back();
            left.pop_back();
            for (const EventId to : asked_.graph.next[at])
                if (!out[to]) out[to] = true, left.push_back(to);
        }
        return out;
    }

    /// Whether an arrival of the same block expects the bytes of this one as well.
    bool expected_later(EventId expect) const {
        for (EventId id = expect + 1; id < asked_.graph.events.size(); ++id)
            if (program(id).block == program(expect).block && program(id).does == Does::mbarrier_arrive &&
                program(id).bytes != Event::any)
                return true;
        return false;
    }

    /// The bytes that arrivals expect, with those of operations before that were merged with them.
    void check_bytes() {
        for (EventId id = 2; id < machine_.events.size(); ++id) {
            const Event& is = machine(id);
            if (is.does != Does::mbarrier_arrive && is.does != Does::mbarrier_expect) continue;
            if (found_.matched[id].size() != 1) continue;
            const EventId image = found_.matched[id].front();
            std::int64_t asked = program(image).bytes;
            bool merged = false;
            for (EventId before = 2; before < image; ++before) {
                const Event& other = program(before);
                if (other.does != Does::mbarrier_expect || found_.covered[before] ||
                    other.block != program(image).block)
                    continue;
                asked += other.bytes;
                merged = true;
            }
            if (merged && (is.bytes == Event::any || program(image).bytes == Event::any))
                report_.open(program(image).line, "how many bytes an arrival expects is not known");
            else if (is.bytes != Event::any && program(image).bytes != Event::any && is.bytes != asked)
                report_.add(rules::WG_SASS_06, program(image).line, is.number,
                            fmt::format("{} expects {} bytes, the program {}", report_.name(is.number),
                                        is.bytes, asked));
        }
    }

    const Function& function_;
    const Graph& graph_;
    const Asked& asked_;
    Report& report_;
    Done done_;
    const EventGraph& machine_;
    Inclusion found_;
};

}  // namespace

Kept compare_with_program(const Function& function, const Program& program, const Context& known) {
    Kept out;
    Report report(out, function, program.where(), known);
    const Graph graph(function);
    Peculiarities of;
    of.ignores_setmaxnreg = known.ignores_setmaxnreg;
    of.merged = {};
    Asked asked = asked_of(program, of);
    const Peculiarities shown = peculiarities(function, asked);
    if (shown.ignores_setmaxnreg && !of.ignores_setmaxnreg)
        report.open(shown.setmaxnreg_line,
                    "the machine code has no setmaxnreg: ptxas ignores it where it does not know how many "
                    "registers a thread begins with",
                    ".minnctapersm or .maxnreg");
    if (shown.ignores_setmaxnreg || shown.without_cluster || !shown.merged.empty() || !shown.lost.empty()) {
        of.ignores_setmaxnreg = of.ignores_setmaxnreg || shown.ignores_setmaxnreg;
        of.without_cluster = shown.without_cluster;
        of.merged = shown.merged;
        of.lost = shown.lost;
        asked = asked_of(program, of);
    }
    if (graph.open() != graph.size())
        report.open(function.instructions[graph.open()].line,
                    fmt::format("where {} goes on is not known", report.name(graph.open())));
    if (asked.opaque > 0)
        report.open(asked.first_opaque, fmt::format("{} that wgrun does not know may order others",
                                                    asked.opaque == 1 ? "an instruction" : "instructions"));
    for (Place at = 0; at < function.instructions.size(); ++at)
        out.products += graph.reachable(at) && function.instructions[at].record->does == Does::product;
    Order order(function, graph, asked, report);
    out.events = order.events();
    const std::vector<int> lines = order.lines();
    for (Place at = 0; at < function.instructions.size(); ++at)
        if (function.instructions[at].record->does == Does::product) out.product_lines.push_back(lines[at]);
    check_registers(function, graph, &asked, lines, report);
    order.check();
    // What is lost or moved makes other values, too.
    if (out.findings.empty() && asked.shared_line == 0)
        out.values = check_values(function, graph, program, asked, report);
    check_serialised(function, graph, asked, lines, report);
    check_spills(function, graph, asked, report);
    if (known.performance) check_scoreboards(function, graph, lines, report);
    return out;
}

Kept check_alone(const Function& function, Where where) {
    Kept out;
    const Context known;
    Report report(out, function, where, known);
    const Graph graph(function);
    std::vector<int> lines;
    for (Place at = 0; at < function.instructions.size(); ++at) {
        lines.push_back(0);
        out.products += graph.reachable(at) && function.instructions[at].record->does == Does::product;
    }
    check_registers(function, graph, nullptr, lines, report);
    return out;
}

}  // namespace wgrun::sass
