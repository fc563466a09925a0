// What a kernel does whose order matters, as a graph: of its PTX and of its machine code, so that the two can
// be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sass/graph.hpp"
#include "sass/program_values.hpp"
#include "sass/record.hpp"
#include "wgrun/program.hpp"

namespace wgrun::sass {

/// An operation, and what of its operands is known.
struct Event {
    static constexpr std::int64_t any = -1;  ///< of an argument: not known, or none
    Does does = Does::other;
    /// Of a product n, k, and whether A is sparse (1) and in registers (2); of a barrier its number and how
    /// many threads; of a copy the dimensions; of a wait the groups that may remain; of an agreement about
    /// registers how many.
    std::array<std::int64_t, 3> arguments{any, any, any};
    Memory orders = Memory::generic;  ///< a fence.proxy.async, a wait for copies: the memory that it is about
    bool never = false;               ///< of a program: its guard is a constant, and does not hold
    bool unread = false;       ///< of a product of a program: nothing but products reads its accumulators
    std::int64_t bytes = any;  ///< that an operation of an mbarrier expects
    int line = 0;              ///< of the PTX; 0: unknown
    std::uint32_t number = 0;  ///< of machine code: the instruction; of a program: the step, in text order
    std::uint32_t block = 0;   ///< of a program
    bool guarded = false;
    std::uint64_t guard = 0;  ///< of a program: the register, how often it was written, whether it is negated
    bool guard_may_fail = false;          ///< of a program: for all threads, as an assembler may find
    bool guard_decides_branches = false;  ///< of a program: it compares what branches compare, too
};

/// "bar.sync", "a wgmma": what messages call it.
std::string_view name_of(Does does);

using EventId = std::uint32_t;

/// Paths between events: next[e] has those that may follow e without another one between.
struct EventGraph {
    static constexpr EventId entry = 0, exit = 1;
    std::vector<Event> events;  ///< of the first two, the kernel's begin and end, only `does` counts
    std::vector<std::vector<EventId>> next;
    bool gave_up = false;  ///< there were too many paths

    bool is_end(EventId id) const { return id == exit; }
};

/// A memory access, of a program or of machine code.
struct Access {
    Does does = Does::load;
    Memory memory = Memory::none;
    int bytes = 0;
    int line = 0;                         ///< of the PTX
    std::uint32_t number = 0;             ///< of machine code: the instruction
    std::uint32_t block = 0;              ///< of a program
    std::uint64_t guard = 0;              ///< of a program: as of an event; 0: none
    bool guard_may_fail = false;          ///< of a program: for all threads, as an assembler may find
    bool guard_decides_branches = false;  ///< of a program: it compares what branches compare, too
    Base base{};                          ///< of a program: its address
    bool used = true;                     ///< of a load of a program: each register of the result is needed
    bool scalar = false;  ///< of a load of a program: to one register, not all of whose bits may be needed
    /// The events that order accesses, and may come next before it or behind it.
    std::vector<EventId> before{}, after{};
};

/// Whether the access stays on its side of the event.
bool orders(const Event& event, const Access& access);

/// What a program asks of machine code.
struct Asked {
    EventGraph graph;
    std::vector<Access> accesses;  ///< in the order of the text
    std::vector<bool> ends_group;  ///< by event: a product that is the last one of its group, on some path
    std::vector<Event> waits;      ///< wgmma.wait_group
    std::vector<Event> orders;     ///< wgmma.fence
    std::vector<int> commits;      ///< the lines of wgmma.commit_group
    /// By event: the products that may be in flight before it, each with the groups that are committed after
    /// it, its own among them: at most so many.
    std::vector<std::vector<std::pair<EventId, int>>> in_flight;
    std::vector<int> line_block;  ///< by line: the block of its steps; -1: none
    bool endless = false;         ///< some path never comes to the end
    std::size_t opaque = 0;       ///< steps that no record reads, which may order anything
    int first_opaque = 0;         ///< the line of the first of them
    int shared_line = 0;          ///< the first line with several steps that are compared; 0: none

    bool has(Does does, int line) const;
    /// Where the launch decides whether there are clusters, a barrier takes the place of a wait for the
    /// cluster in CTAs that have none.
    bool waits_by_barrier(const Instruction& instruction) const {
        return instruction.record->does == Does::barrier && has(Does::cluster_wait, instruction.line) &&
               !has(Does::barrier, instruction.line);
    }
};

/// What ptxas makes of a kernel besides what its text says.
struct Peculiarities {
    bool ignores_setmaxnreg = false;  ///< nothing says how many registers a thread begins with (C7508)
    int setmaxnreg_line = 0;          ///< where it is ignored
    bool without_cluster = false;     ///< there is a path for CTAs without a cluster
    /// Lines of mbarrier.expect_tx of which the machine code has nothing: an arrival behind expects the
    /// bytes.
    std::vector<int> merged{};
    std::set<int> lost{};  ///< lines of guarded stores of which it has nothing: their guards may never hold
};
Asked asked_of(const Program& program, const Peculiarities& of = {});
/// What the machine code shows of them.
Peculiarities peculiarities(const Function& function, const Asked& asked);

/// What machine code does.
struct Done {
    EventGraph graph;
    std::vector<Access> accesses;  ///< to shared and global memory, in the order of the text
    std::optional<Place> endless;  ///< an instruction behind which some path never comes to the end
};

/// The events of machine code. Waits, fences and the like count where the program asks for one at the same
/// line: others are there for other reasons, and do no harm.
Done done_by(const Function& function, const Graph& graph, const Asked& asked);

/// Whether a product only commits a group: one without products is committed by a product of its own that
/// writes no register; without optimisation each group is, by one of no use.
bool only_commits(const Instruction& product, const Asked& asked);

/// Nodes of a finer graph, of which some are events, made a graph of these alone.
struct Fine {
    static constexpr std::uint32_t none = UINT32_MAX;
    std::vector<EventId> event;  ///< by node; none: it is no event
    std::vector<std::vector<std::uint32_t>> next;

    std::uint32_t add(EventId id = none) {
        event.push_back(id);
        next.emplace_back();
        return static_cast<std::uint32_t>(event.size() - 1);
    }
    /// Fills `next` of the graph, whose events the nodes name.
    void condense(EventGraph& graph) const;
    /// A node from which no path leads to the event; none: there is no such node.
    std::uint32_t without_way_to(EventId id) const;
    /// Fills the neighbours of accesses: nodes[i] are the nodes of accesses[i], which are no events.
    void find_neighbours(const EventGraph& graph, const std::vector<std::vector<std::uint32_t>>& nodes,
                         std::vector<Access>& accesses) const;
};

}  // namespace wgrun::sass
