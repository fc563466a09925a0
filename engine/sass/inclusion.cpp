#include "sass/inclusion.hpp"

#include <algorithm>
#include <bit>
#include <deque>

namespace wgrun::sass {
namespace {

constexpr std::size_t most_states = 200'000;

/// What may be repeated without harm: it asks for something until it gets it.
bool repeats(Does does) { return does == Does::mbarrier_test || does == Does::set_registers; }

/// The line tables of ptxas have no entry for a product, and the first test of a loop has that of an
/// instruction before it.
bool has_own_line(Does does) { return does != Does::product && does != Does::mbarrier_test; }

std::optional<std::size_t> different_argument(const Event& machine, const Event& program) {
    for (std::size_t i = 0; i < machine.arguments.size(); ++i)
        if (machine.arguments[i] != Event::any && program.arguments[i] != Event::any &&
            machine.arguments[i] != program.arguments[i])
            return i;
    return std::nullopt;
}

class Sets {
  public:
    explicit Sets(std::size_t size) : words_((size + 63) / 64) {}
    EventSet empty() const { return EventSet(words_); }
    static void add(EventSet& set, EventId id) { set[id / 64] |= std::uint64_t{1} << (id % 64); }
    static bool has(const EventSet& set, EventId id) { return ((set[id / 64] >> (id % 64)) & 1) != 0; }
    static bool within(const EventSet& small, const EventSet& large) {
        for (std::size_t i = 0; i < small.size(); ++i)
            if ((small[i] & ~large[i]) != 0) return false;
        return true;
    }
    template <class Visit>
    static void each(const EventSet& set, Visit visit) {
        for (std::size_t i = 0; i < set.size(); ++i)
            for (std::uint64_t word = set[i]; word != 0; word &= word - 1)
                visit(static_cast<EventId>(64 * i + static_cast<std::size_t>(std::countr_zero(word))));
    }
    static bool any(const EventSet& set) {
        return std::ranges::any_of(set, [](std::uint64_t word) { return word != 0; });
    }

  private:
    std::size_t words_;
};

class Comparison {
  public:
    Comparison(const EventGraph& machine, const EventGraph& program)
        : machine_(machine), program_(program), sets_(program.events.size()) {
        find_images();
        for (const std::vector<EventId>& next : program.next) {
            next_.push_back(sets_.empty());
            for (const EventId to : next) Sets::add(next_.back(), to);
        }
    }

    Inclusion run() {
        seen_.resize(machine_.events.size());
        matched_.assign(machine_.events.size(), sets_.empty());
        EventSet start = sets_.empty();
        Sets::add(start, EventGraph::entry);
        reach(EventGraph::entry, std::move(start));
        while (!left_.empty() && !out_.departure && !out_.gave_up) {
            const auto [at, set] = std::move(left_.front());
            left_.pop_front();
            for (const EventId to : machine_.next[at]) step(at, set, to);
        }
        collect();
        return std::move(out_);
    }

  private:
    void find_images() {
        images_.push_back(sets_.empty());
        Sets::add(images_[0], EventGraph::entry);
        for (EventId id = 1; id < machine_.events.size(); ++id) {
            const Event& event = machine_.events[id];
            EventSet all = sets_.empty(), here = sets_.empty(), differs = sets_.empty();
            for (EventId other = 1; other < program_.events.size(); ++other) {
                const Event& asked = program_.events[other];
                if (asked.does != event.does) continue;
                const bool same_line = has_own_line(event.does) && event.line > 0 && asked.line == event.line;
                if (fits(event, asked)) {
                    Sets::add(all, other);
                    if (same_line) Sets::add(here, other);
                } else if (same_line) {
                    Sets::add(differs, other);
                    out_.differs.push_back({id, other, *different_argument(event, asked)});
                }
            }
            // With another argument it counts as the image, so that what follows is compared.
            images_.push_back(Sets::any(here) ? here : Sets::any(differs) ? differs : all);
            if (Sets::any(here))
                std::erase_if(out_.differs, [&](const Differs& one) { return one.machine == id; });
        }
    }

    void reach(EventId at, EventSet set) {
        std::vector<EventSet>& before = seen_[at];
        // Fewer places in the program are harder to follow: a set with more is covered by them.
        for (const EventSet& other : before)
            if (Sets::within(other, set)) return;
        for (std::size_t i = 0; i < set.size(); ++i) matched_[at][i] |= set[i];
        std::erase_if(before, [&](const EventSet& other) { return Sets::within(set, other); });
        before.push_back(set);
        if (++states_ > most_states) out_.gave_up = true;
        left_.emplace_back(at, std::move(set));
    }

    void step(EventId at, const EventSet& set, EventId to) {
        EventSet after = sets_.empty(), expected = sets_.empty();
        Sets::each(set, [&](EventId one) {
            for (std::size_t i = 0; i < after.size(); ++i) {
                expected[i] |= next_[one][i];
                after[i] |= next_[one][i] & images_[to][i];
            }
            if (repeats(program_.events[one].does) && Sets::has(images_[to], one)) Sets::add(after, one);
        });
        if (Sets::any(after)) return reach(to, std::move(after));
        if (out_.departure) return;
        out_.departure = Departure{to, at, {}, {}};
        Sets::each(set, [&](EventId one) { out_.departure->at.push_back(one); });
        Sets::each(expected, [&](EventId one) { out_.departure->expected.push_back(one); });
    }

    void collect() {
        out_.matched.resize(machine_.events.size());
        out_.covered.assign(program_.events.size(), false);
        for (EventId id = 0; id < matched_.size(); ++id) {
            Sets::each(matched_[id], [&](EventId one) {
                out_.matched[id].push_back(one);
                out_.covered[one] = true;
            });
        }
    }

    const EventGraph& machine_;
    const EventGraph& program_;
    Sets sets_;
    std::vector<EventSet> images_, next_;
    std::vector<std::vector<EventSet>> seen_;  ///< by event of machine code; none is within another
    std::vector<EventSet> matched_;
    std::deque<std::pair<EventId, EventSet>> left_;
    std::size_t states_ = 0;
    Inclusion out_;
};

}  // namespace

bool fits(const Event& machine, const Event& program) {
    return machine.does == program.does && !different_argument(machine, program);
}

Inclusion compare(const EventGraph& machine, const EventGraph& program) {
    return Comparison(machine, program).run();
}

}  // namespace wgrun::sass
