// The events of machine code.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "sass/events.hpp"
#include "sass/predicates.hpp"
#include "sass/registers.hpp"

namespace wgrun::sass {
namespace {

/// The number that an operand is, "0x80"; any: it is none.
std::int64_t immediate(const Instruction& one, std::size_t at) {
    if (at >= one.operands.size() || !one.operands[at].starts_with("0x")) return Event::any;
    const std::string_view digits = one.operands[at].substr(2);
    std::int64_t value = Event::any;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
}

/// The dimensions of "UTMALDG.2D"; 0: it copies bytes.
std::int64_t dimensions(const Instruction& one) {
    for (const char digit : {'1', '2', '3', '4', '5'})
        if (one.has(std::string{digit, 'D'})) return digit - '0';
    return 0;
}

Event event_of(const Instruction& one, Place at) {
    Event out;
    out.does = one.record->does;
    out.line = one.line;
    out.number = at;
    out.guarded = one.guarded();
    switch (out.does) {
        case Does::product: {
            const Product product = product_of(one);
            out.arguments = {product.n, product.k,
                             (product.sparse ? 1 : 0) + (product.fragment.count > 0 ? 2 : 0)};
            break;
        }
        case Does::barrier:
        case Does::barrier_arrive: out.arguments = {immediate(one, 0), immediate(one, 1), Event::any}; break;
        case Does::bulk_load:
        case Does::bulk_store: out.arguments[0] = dimensions(one); break;
        case Does::wait_scoreboard: out.arguments[0] = immediate(one, 1); break;
        case Does::set_registers:
            out.arguments[0] = immediate(one, one.operands.empty() ? 0 : one.operands.size() - 1);
            break;
        default: break;
    }
    return out;
}

/// Such instructions also come from other ones, and from the assembler itself.
bool has_other_reasons(Does does) {
    return does == Does::wait_scoreboard || does == Does::proxy_fence || does == Does::fence ||
           does == Does::copy_commit || does == Does::bulk_commit;
}

/// Machine code does not show which memory is meant: a fence of all looks like that of shared memory.
Memory ordered_memory(const Instruction& one, const Asked& asked) {
    const auto image = std::ranges::find_if(asked.graph.events, [&](const Event& event) {
        return event.does == one.record->does && event.line == one.line;
    });
    return image == asked.graph.events.end() ? Memory::generic : image->orders;
}

bool is_event(const Instruction& one, const Asked& asked) {
    const Does does = one.record->does;
    switch (does) {
        case Does::other:
        case Does::order_registers:
        case Does::wait_products:
        case Does::load:
        case Does::store:
        case Does::atomic:
        case Does::branch:
        case Does::indirect:
        case Does::call:
        case Does::ret:
        case Does::exit: return false;
        case Does::product: return !one.never() && !only_commits(one, asked);
        default: break;
    }
    if (one.never()) return false;
    return !has_other_reasons(does) || std::ranges::any_of(asked.graph.events, [&](const Event& event) {
        return event.does == does && event.line == one.line;
    });
}

bool is_access(const Instruction& one) {
    const Does does = one.record->does;
    return (does == Does::load || does == Does::store || does == Does::atomic) &&
           one.record->memory != Memory::local && !one.has("CONSTANT") && !one.never();
}

Access access_of(const Instruction& one, Place at) {
    Access out;
    out.does = one.record->does;
    out.memory = one.record->memory;
    out.bytes = access_bytes(one);
    out.line = one.line;
    out.number = at;
    return out;
}

class MachineEvents {
  public:
    MachineEvents(const Function& function, const Graph& graph, const Asked& asked)
        : code_(function.instructions),
          graph_(graph),
          deciding_(code_.size()),
          event_(code_.size(), Fine::none) {
        out_.graph.events.resize(2);
        out_.graph.events[EventGraph::exit].does = Does::exit;
        for (Place at = 0; at < code_.size(); ++at) {
            if (!graph.reachable(at)) continue;
            const Does does = code_[at].record->does;
            if (is_event(code_[at], asked)) {
                event_[at] = static_cast<EventId>(out_.graph.events.size());
                Event& event = out_.graph.events.emplace_back(event_of(code_[at], at));
                if (does == Does::mbarrier_arrive || does == Does::mbarrier_expect)
                    event.bytes = bytes_told(at);
                event.orders = ordered_memory(code_[at], asked);
                if (asked.waits_by_barrier(code_[at]))
                    event.does = Does::cluster_wait, event.arguments = {Event::any, Event::any, Event::any};
            }
            if (is_access(code_[at])) {
                access_.emplace(at, out_.accesses.size());
                out_.accesses.push_back(access_of(code_[at], at));
            }
            deciding_[at] = event_[at] != Fine::none || access_.contains(at) || does == Does::branch ||
                            does == Does::exit;
        }
        find_turns();
        find_implied_guards(asked);
        flow_.emplace(function, graph, deciding_, guard_);
    }

    /// In a loop that lanes take one after the other, a guard says whose turn it is: each lane gets one.
    void find_turns() {
        turn_.resize(code_.size());
        for (Place at = 0; at < code_.size(); ++at) {
            if (!graph_.repeats_for_lanes(at)) continue;
            for (const Place to : graph_.next(at))
                if (to <= at) std::fill(turn_.begin() + to, turn_.begin() + at, true);
        }
        for (Place at = 0; at < code_.size(); ++at)
            if (turn_[at] && event_[at] != Fine::none) out_.graph.events[event_[at]].guarded = false;
    }

    /// The copy engine gets one copy of a warp: where the program has one lane make it, machine code may
    /// leave its guard out. Such a copy has the guard of what the same block of the program does beside it.
    void find_implied_guards(const Asked& asked) {
        guard_.resize(code_.size());
        const auto block_of = [&](Place at) {
            const auto line = static_cast<std::size_t>(code_[at].line);
            return code_[at].line > 0 && line < asked.line_block.size() ? asked.line_block[line] : -1;
        };
        const auto has_guard = [&](Place at) {  // in the program
            return std::ranges::any_of(asked.graph.events, [&](const Event& event) {
                return event.line == code_[at].line && event.does == code_[at].record->does && event.guarded;
            });
        };
        for (Place at = 0; at < code_.size(); ++at) {
            guard_[at] = at;
            const Does does = code_[at].record->does;
            const bool by_engine =
                does == Does::bulk_load || does == Does::bulk_store || does == Does::bulk_commit;
            if (!by_engine || code_[at].guarded() || event_[at] == Fine::none || block_of(at) < 0) continue;
            PredicateSet written = 0;  // between the two
            const auto look = [&](Place other) {
                const bool ends = graph_.next(other).size() != 1;
                if (event_[other] != Fine::none && code_[other].guarded() && !has_guard(other) &&
                    block_of(other) == block_of(at) && (written & bit_of(code_[other].guard)) == 0)
                    guard_[at] = other;
                written |= written_predicates(code_[other]);
                return guard_[at] == at && !ends;
            };
            for (Place other = at; other-- > 0 && look(other);) {
            }
            written = written_predicates(code_[at]);
            for (Place other = at + 1; guard_[at] == at && other < code_.size() && look(other); ++other) {
            }
        }
    }

    Done make() {
        access_nodes_.resize(out_.accesses.size());
        const std::uint32_t entry = fine_.add(EventGraph::entry);
        exit_ = fine_.add(EventGraph::exit);
        if (!code_.empty()) fine_.next[entry] = {node(0, {})};
        constexpr std::size_t most = 2'000'000;
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (fine_.event.size() > most) {
                out_.graph.gave_up = true;
                break;
            }
            expand(left_[i]);
        }
        fine_.condense(out_.graph);
        if (const std::uint32_t lost = fine_.without_way_to(EventGraph::exit); lost != Fine::none)
            for (const State& state : left_)
                if (state.node == lost) out_.endless = state.at;
        fine_.find_neighbours(out_.graph, access_nodes_, out_.accesses);
        return std::move(out_);
    }

  private:
    /// The bytes that an arrival expects, where the block moves a number to the register.
    std::int64_t bytes_told(Place at) const {
        const Instruction& one = code_[at];
        if (!(one.mnemonic == "SYNCS.ARRIVE.TRANS64" || one.has("A0TR")) || one.operands.size() < 3)
            return Event::any;
        const std::string_view reg = one.operands[2].substr(0, one.operands[2].find('.'));
        for (Place before = at; before-- > 0;) {
            const Instruction& other = code_[before];
            const Does does = other.record->does;
            if (does == Does::branch || does == Does::exit || does == Does::call ||
                graph_.next(before).size() != 1)
                break;
            if (other.operands.empty() || other.operands[0] != reg) continue;
            const bool moves = other.mnemonic == "MOV" || other.mnemonic.starts_with("IMAD.MOV");
            return moves && !other.guarded() ? immediate(other, other.operands.size() - 1) : Event::any;
        }
        return Event::any;
    }

    struct State {
        Place at;
        Known known;
        std::uint32_t node;
    };

    /// The node of an instruction with what is known before it.
    std::uint32_t node(Place at, Known known) {
        for (;;) {  // what nobody asks for is passed over
            known = known.within(flow_->live(at));
            if (deciding_[at] || graph_.next(at).size() != 1) break;
            known = flow_->after(known, at);
            if (graph_.next(at)[0] <= at) break;
            at = graph_.next(at)[0];
        }
        const std::uint64_t key =
            (std::uint64_t{at} << 32) | (std::uint64_t{known.known} << 16) | known.value;
        const auto [found, added] = nodes_.try_emplace(key, 0);
        if (!added) return found->second;
        found->second = fine_.add();
        left_.push_back({at, known, found->second});
        return found->second;
    }

    void expand(State state) {
        const Instruction& one = code_[state.at];
        const Does does = one.record->does;
        if (const auto access = access_.find(state.at); access != access_.end()) {
            // Whether it is executed decides nothing that follows.
            if (state.known.allows(one, true)) access_nodes_[access->second].push_back(state.node);
            for (const Place to : graph_.next(state.at)) {
                const std::uint32_t then = node(to, flow_->after(state.known, state.at));
                fine_.next[state.node].push_back(then);
            }
            return;
        }
        for (const bool holds : {true, false}) {
            const bool turn = turn_[state.at] && event_[state.at] != Fine::none;
            if (turn ? !holds : !state.known.allows(code_[guard_[state.at]], holds)) continue;
            Known known = turn ? state.known : flow_->learn(state.known, state.at, holds);
            std::uint32_t from = state.node;
            if (holds && event_[state.at] != Fine::none) {
                from = fine_.add(event_[state.at]);
                fine_.next[state.node].push_back(from);
            }
            if (holds) known = flow_->after(known, state.at);
            const auto link = [&](std::uint32_t to) { fine_.next[from].push_back(to); };
            if (does == Does::exit && holds) {
                link(exit_);
                continue;
            }
            for (const Place to : graph_.next(state.at)) {
                const bool falls = to == state.at + 1;
                if (does == Does::branch && !one.never()) {
                    if (!falls && (!holds || (graph_.repeats_for_lanes(state.at) && to <= state.at)))
                        continue;
                    // A branch that only its guard decides is taken where that holds.
                    if (falls && holds && one.guarded() && one.operands.size() == 1 &&
                        !one.mnemonic.starts_with("BRA."))
                        continue;
                }
                link(node(to, known));
            }
        }
    }

    const std::vector<Instruction>& code_;
    const Graph& graph_;
    std::vector<bool> deciding_, turn_;
    std::vector<Place> guard_;  ///< by instruction: the one whose guard it has
    std::vector<EventId> event_;
    std::optional<PredicateFlow> flow_;
    Done out_;
    Fine fine_;
    std::unordered_map<Place, std::size_t> access_;  ///< its place in the list
    std::vector<std::vector<std::uint32_t>> access_nodes_;
    std::uint32_t exit_ = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> nodes_;
    std::vector<State> left_;
};

}  // namespace

bool only_commits(const Instruction& one, const Asked& asked) {
    const Product product = product_of(one);
    return product.n == 8 && product.ends_group && !product.reads_accumulators &&
           (product.accumulators.count == 0 ||
            std::ranges::find(asked.commits, one.line) != asked.commits.end());
}

Done done_by(const Function& function, const Graph& graph, const Asked& asked) {
    return MachineEvents(function, graph, asked).make();
}

}  // namespace wgrun::sass
