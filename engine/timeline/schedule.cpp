#include "timeline/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>

namespace wgrun::timeline {
namespace {

using Kind = Timeline::Kind;

/// An engine that serves one request after the other.
struct Engine {
    double free = 0, busy = 0;
    /// Requests a service of `cycles` at time `at`; returns when it begins.
    double take(double at, double cycles) {
        const double begin = std::max(at, free);
        free = begin + cycles;
        busy += cycles;
        return begin;
    }
};

struct Part {
    double issue = 0;
    std::array<double, isa::pipes> pipe{};
};

/// One SM.
struct Multiprocessor {
    std::array<Part, sm_90a.sm_parts> parts;
    Engine tensor, shared, issue, in, out, dram;
    double memory_busy = 0;
};

/// A phase of a barrier, in one CTA or cluster.
struct Phase {
    std::uint32_t missing = 0;
    double time = 0;                   ///< of the last arrival
    std::vector<std::size_t> waiting;  ///< warps
};

/// The state of one warp.
struct Actor {
    const WarpTrace* trace = nullptr;
    int instance = 0, slot = 0, row = -1;
    std::size_t item = 0;
    std::uint16_t event = 0;
    bool issued = false;
    double since = 0;           ///< begin of the wait in which it is parked
    std::vector<double> ready;  ///< by register
    double loaded = 0;          ///< when its last load arrives
    double product = 0;         ///< end of its last wgmma
    std::vector<double> products;
    double copied = 0;  ///< end of its last cp.async
    std::vector<double> copy_groups;
    struct Bulk {
        double read = 0, done = 0;
    } bulk;
    std::vector<Bulk> bulk_groups;
};

/// The warps that have arrived at a wgmma; it needs four.
struct Meeting {
    int arrived = 0;
    std::vector<std::size_t> parked;
};

class Scheduler {
  public:
    Scheduler(const sim::Code& code, const Costs& costs, const Trace& trace, const Occupancy& occupancy,
              const Roles& roles, std::size_t registers)
        : code_(code),
          costs_(costs),
          trace_(trace),
          occupancy_(occupancy),
          roles_(roles),
          registers_(registers) {
        int ranks = 1;
        for (const WarpTrace& warp : trace.warps) ranks = std::max(ranks, warp.rank + 1);
        sms_.resize(static_cast<std::size_t>(ranks));
    }

    Schedule run() {
        for (int slot = 0; slot < std::min(occupancy_.resident, occupancy_.ctas); ++slot) begin(slot, 0);
        while (!queue_.empty()) {
            const Turn turn = queue_.top();
            queue_.pop();
            advance(turn.actor, turn.time);
        }
        out_.tensor_busy = sms_[0].tensor.busy;
        out_.memory_busy = sms_[0].memory_busy;
        return std::move(out_);
    }

  private:
    struct Turn {
        double time;
        std::uint64_t number;
        std::size_t actor;
        bool operator<(const Turn& other) const {  // the earliest turn is the greatest
            return time != other.time ? time > other.time : number > other.number;
        }
    };

    void push(std::size_t actor, double time) { queue_.push({time, pushed_++, actor}); }

    void begin(int slot, double time) {
        const int instance = begun_++;
        running_.push_back(static_cast<int>(trace_.warps.size()));
        std::vector<std::vector<Phase>> phases(trace_.barriers.size());
        for (std::size_t b = 0; b < phases.size(); ++b)
            for (std::uint32_t counted : trace_.barriers[b].counted) phases[b].push_back({counted, 0, {}});
        phases_.push_back(std::move(phases));
        meetings_.emplace_back((trace_.warps.size() + 3) / 4);
        started_.push_back(time);
        for (std::size_t w = 0; w < trace_.warps.size(); ++w) {
            Actor actor;
            actor.trace = &trace_.warps[w];
            actor.instance = instance;
            actor.slot = slot;
            actor.ready.resize(registers_);
            const int role = roles_.of_warp[w];
            // Rows belong to the first CTA of the SM and to those that follow in its place.
            if (slot == 0 && role >= 0 && actor.trace->rank == 0 &&
                roles_.list[static_cast<std::size_t>(role)].warp == actor.trace->warp)
                actor.row = role;
            actors_.push_back(std::move(actor));
            push(actors_.size() - 1, time);
        }
    }

    Multiprocessor& sm(const Actor& actor) { return sms_[static_cast<std::size_t>(actor.trace->rank)]; }

    int engine_row(int which) const { return static_cast<int>(roles_.list.size()) + which; }

    void add(int row, Kind kind, double begin, double end, std::uint32_t pc, std::string what = {},
             int barrier = -1) {
        out_.spans.push_back({row, kind, begin, end, std::move(what), code_.where(pc)});
        out_.barriers.push_back(barrier);
    }

    void waited(const Actor& actor, Kind kind, double from, double to, std::string what = {},
                int barrier = -1) {
        if (actor.row < 0 || to <= from) return;
        const std::uint32_t pc = actor.trace->items[actor.item].pc;
        add(actor.row, kind, from, to, pc, std::move(what), barrier);
    }

    void end(Actor& actor, double time) {
        out_.cycles = std::max(out_.cycles, time);
        if (actor.row >= 0)
            add(actor.row, Kind::work, started_[static_cast<std::size_t>(actor.instance)], time,
                actor.trace->items.empty() ? 0 : actor.trace->items.front().pc);
        actor.ready = {};
        const int slot = actor.slot;
        if (--running_[static_cast<std::size_t>(actor.instance)] == 0 && begun_ < occupancy_.ctas)
            begin(slot, time);
    }

    // --- steps -----------------------------------------------------------------------------------------

    void advance(std::size_t index, double time) {
        for (;;) {
            if (actors_[index].item == actors_[index].trace->items.size()) return end(actors_[index], time);
            Actor& actor = actors_[index];
            const Item& item = actor.trace->items[actor.item];
            const StepCost& cost = costs_.of(item.pc);
            if (!actor.issued) {
                if (const double at = earliest(actor, cost, time); at > time) return push(index, at);
                actor.issued = true;
                actor.event = 0;
                if (!issue(index, actor, item, cost, time)) return;
            }
            while (actor.event < item.events)
                if (!take(index, actor, actor.trace->events[item.event + actor.event++], time)) return;
            actor.issued = false;
            ++actor.item;
            if (cost.kind != StepCost::Kind::free)
                time += cost.kind == StepCost::Kind::jump ? chip::branch_cycles : 1;
            if (!queue_.empty() && queue_.top().time <= time) return push(index, time);
        }
    }

    /// When the step may issue: its registers are ready, its part of the SM has a slot, its pipe is free.
    double earliest(Actor& actor, const StepCost& cost, double time) {
        if (cost.kind == StepCost::Kind::free) return time;
        double at = time;
        for (std::uint32_t reg : costs_.reads(cost)) at = std::max(at, actor.ready[reg]);
        for (std::uint32_t reg : costs_.writes(cost)) at = std::max(at, actor.ready[reg]);
        constexpr double noticed = 32;
        if (at > time) {
            if (at - time > noticed && at <= actor.loaded) waited(actor, Kind::loads, time, at);
            return at;
        }
        const Part& part = part_of(actor);
        return std::max({at, part.issue, part.pipe[static_cast<std::size_t>(cost.throughput.pipe)]});
    }

    Part& part_of(const Actor& actor) {
        return sm(actor).parts[static_cast<std::size_t>(actor.trace->warp % sm_90a.sm_parts)];
    }

    /// False: the warp is parked.
    bool issue(std::size_t index, Actor& actor, const Item& item, const StepCost& cost, double time) {
        if (cost.kind == StepCost::Kind::free) {  // the same value in another register
            double known = 0;
            for (std::uint32_t reg : costs_.reads(cost)) known = std::max(known, actor.ready[reg]);
            for (std::uint32_t reg : costs_.writes(cost)) actor.ready[reg] = known;
            return true;
        }
        Part& part = part_of(actor);
        part.issue = time + 1;
        if (cost.throughput.pipe != isa::Pipe::none)
            part.pipe[static_cast<std::size_t>(cost.throughput.pipe)] = time + cost.throughput.cycles;
        if (item.lanes == 0) return true;
        const double bytes = bytes_of(item, cost);
        double ready =
            time + (cost.throughput.pipe == isa::Pipe::special ? chip::special_latency : chip::fixed_latency);
        Multiprocessor& sm = this->sm(actor);
        using enum StepCost::Kind;
        switch (cost.kind) {
            case product: return multiply(index, actor, item, cost, time);
            case commit: actor.products.push_back(actor.product); break;
            case wait: return wait_groups(index, actor, actor.products, cost.pending, time, Kind::products);
            case shared:
                ready = sm.shared.take(time, bytes / roofline.shared_bytes) + bytes / roofline.shared_bytes +
                        chip::shared_latency;
                break;
            case load:
                ready = incoming(actor, bytes, time, true) + latency();
                actor.loaded = std::max(actor.loaded, ready);
                break;
            case store: outgoing(actor, bytes, time); break;
            case atomic:
                outgoing(actor, bytes, time);
                ready = time + chip::atomic_latency;
                actor.loaded = std::max(actor.loaded, ready);
                break;
            case copy:
                actor.copied = std::max(actor.copied, incoming(actor, bytes, time, true) + latency());
                break;
            case commit_copy: actor.copy_groups.push_back(actor.copied); break;
            case wait_copies:
                if (cost.pending < 0) actor.copy_groups.push_back(actor.copied);
                return wait_groups(index, actor, actor.copy_groups, std::max(cost.pending, 0), time,
                                   Kind::loads);
            default: break;
        }
        for (std::uint32_t reg : costs_.writes(cost)) actor.ready[reg] = ready;
        return true;
    }

    /// Waits until at most `pending` groups are pending. False: the warp is resumed later.
    bool wait_groups(std::size_t index, Actor& actor, std::vector<double>& groups, int pending, double time,
                     Kind kind) {
        if (groups.size() <= static_cast<std::size_t>(pending)) return true;
        const auto end = groups.end() - pending;
        const double done = *std::max_element(groups.begin(), end);
        groups.erase(groups.begin(), end);
        if (done <= time) return true;
        waited(actor, kind, time, done);
        push(index, done);
        return false;
    }

    bool multiply(std::size_t index, Actor& actor, const Item& item, const StepCost& cost, double time) {
        const auto warp = static_cast<std::size_t>(actor.trace - trace_.warps.data());
        Meeting& meeting = meetings_[static_cast<std::size_t>(actor.instance)][warp / isa::warps_of_group];
        if (++meeting.arrived < isa::warps_of_group) {
            meeting.parked.push_back(index);
            return false;
        }
        Engine& tensor = sm(actor).tensor;
        const double begin = tensor.take(time, cost.cycles);
        if (actor.trace->rank == 0) multiplied(actor, item, begin, tensor.free);
        actor.product = tensor.free + chip::product_latency;
        for (std::size_t other : meeting.parked) {
            actors_[other].product = actor.product;
            push(other, time);
        }
        meeting.arrived = 0;
        meeting.parked.clear();
        return true;
    }

    // Consecutive products of one warpgroup are one span.
    void multiplied(const Actor& actor, const Item& item, double begin, double end) {
        const int role = roles_.of_warp[static_cast<std::size_t>(actor.trace - trace_.warps.data())];
        const std::string& by = roles_.list[static_cast<std::size_t>(role)].name;
        if (last_product_ < out_.spans.size()) {
            Timeline::Span& last = out_.spans[last_product_];
            if (last.end == begin && last.what == by) {
                last.end = end;
                return;
            }
        }
        last_product_ = out_.spans.size();
        add(engine_row(0), Kind::product, begin, end, item.pc, by);
    }

    // --- memory ----------------------------------------------------------------------------------------

    double latency() const {
        return chip::l2_latency + occupancy_.missed * (chip::dram_latency - chip::l2_latency);
    }

    /// When the bytes have arrived at the SM, without latency.
    double incoming(const Actor& actor, double bytes, double time, bool outside) {
        return pass(sms_[static_cast<std::size_t>(actor.trace->rank)], true, bytes, time, outside,
                    actor.trace->items[actor.item].pc, actor.trace->rank == 0);
    }
    double outgoing(const Actor& actor, double bytes, double time) {
        return pass(sm(actor), false, bytes, time, true, actor.trace->items[actor.item].pc,
                    actor.trace->rank == 0);
    }

    double pass(Multiprocessor& sm, bool in, double bytes, double time, bool outside, std::uint32_t pc,
                bool shown) {
        Engine& way = in ? sm.in : sm.out;
        const double missed = outside ? bytes * occupancy_.missed / chip::dram_rate : 0;
        double begin = time;
        if (missed > 0) begin = std::max(begin, sm.dram.free);
        const double cycles = std::max(bytes / roofline.l2_bytes, missed);
        begin = way.take(begin, cycles);
        if (missed > 0) sm.dram.take(begin, missed);
        sm.memory_busy = std::max({sm.in.busy, sm.out.busy, sm.dram.busy});
        if (shown && in) transferred(begin, way.free, pc);
        return way.free;
    }

    void transferred(double begin, double end, std::uint32_t pc) {
        if (last_transfer_ < out_.spans.size() && out_.spans[last_transfer_].end == begin) {
            out_.spans[last_transfer_].end = end;
            return;
        }
        last_transfer_ = out_.spans.size();
        add(engine_row(1), Kind::transfer, begin, end, pc);
    }

    // --- events ----------------------------------------------------------------------------------------

    /// False: the warp is parked, or resumed later.
    bool take(std::size_t index, Actor& actor, const Event& event, double time) {
        switch (event.kind) {
            case Event::Kind::arrive: come(actor.instance, event, time); return true;
            case Event::Kind::wait: return wait(index, actor, event, time);
            case Event::Kind::copy: copy(actor, event, time); return true;
            case Event::Kind::store: {
                const double begin = sm(actor).issue.take(time, chip::copy_issue);
                const double end = outgoing(actor, event.bytes, begin);
                actor.bulk.read = std::max(actor.bulk.read, end + chip::shared_latency);
                actor.bulk.done = std::max(actor.bulk.done, end + latency() + chip::copy_latency);
                return true;
            }
            case Event::Kind::commit: actor.bulk_groups.push_back(actor.bulk); return true;
            case Event::Kind::drained: break;
        }
        double done = time;
        for (std::size_t i = 0; i + event.phase < actor.bulk_groups.size(); ++i)
            done = std::max(done, event.read ? actor.bulk_groups[i].read : actor.bulk_groups[i].done);
        if (!event.read && actor.bulk_groups.size() > event.phase)
            actor.bulk_groups.erase(actor.bulk_groups.begin(), actor.bulk_groups.end() - event.phase);
        if (done <= time) return true;
        waited(actor, Kind::stores, time, done);
        push(index, done);
        return false;
    }

    void copy(const Actor& actor, const Event& event, double time) {
        const double fetched = started_[static_cast<std::size_t>(actor.instance)] + chip::descriptor_latency;
        const double begin = sm(actor).issue.take(std::max(time, fetched), chip::copy_issue);
        const std::uint32_t pc = actor.trace->items[actor.item].pc;
        const double there = pass(sms_[static_cast<std::size_t>(event.rank)], true, event.bytes, begin,
                                  event.outside, pc, event.rank == 0) +
                             latency() + chip::copy_latency;
        if (event.rank == 0 && actor.slot == 0)
            add(engine_row(2), Kind::flight, time, there, pc, phase_name(event),
                static_cast<int>(event.barrier));
        come(actor.instance, event, there);
    }

    std::string phase_name(const Event& event) const {
        return fmt::format("{}, phase {}", trace_.barriers[event.barrier].name, event.phase);
    }

    void come(int instance, const Event& event, double time) {
        Phase& phase = phases_[static_cast<std::size_t>(instance)][event.barrier][event.phase];
        phase.time = std::max(phase.time, time);
        if (--phase.missing != 0) return;
        for (std::size_t other : phase.waiting) {
            Actor& actor = actors_[other];
            const double done = std::max(phase.time + chip::barrier_latency, actor.since);
            waited(actor, kind_of(event.barrier), actor.since, done, phase_name(event),
                   static_cast<int>(event.barrier));
            push(other, done);
        }
        phase.waiting.clear();
    }

    Kind kind_of(std::uint32_t barrier) const {
        const Barrier& what = trace_.barriers[barrier];
        if (what.kind != Barrier::Kind::mbarrier) return Kind::barrier;
        return what.counts_bytes ? Kind::copies : Kind::arrivals;
    }

    bool wait(std::size_t index, Actor& actor, const Event& event, double time) {
        auto& phases = phases_[static_cast<std::size_t>(actor.instance)][event.barrier];
        if (event.phase >= phases.size()) return true;  // the phase before the first
        Phase& phase = phases[event.phase];
        if (phase.missing != 0) {
            actor.since = time;
            phase.waiting.push_back(index);
            return false;
        }
        const double done = phase.time + chip::barrier_latency;
        if (done <= time) return true;
        waited(actor, kind_of(event.barrier), time, done, phase_name(event), static_cast<int>(event.barrier));
        push(index, done);
        return false;
    }

    const sim::Code& code_;
    const Costs& costs_;
    const Trace& trace_;
    const Occupancy occupancy_;
    const Roles& roles_;
    const std::size_t registers_;
    std::vector<Multiprocessor> sms_;  ///< by rank
    std::vector<Actor> actors_;
    std::priority_queue<Turn> queue_;
    std::uint64_t pushed_ = 0;
    // Indexed by started CTA (or cluster).
    int begun_ = 0;
    std::vector<int> running_;  ///< warps
    std::vector<double> started_;
    std::vector<std::vector<std::vector<Phase>>> phases_;
    std::vector<std::vector<Meeting>> meetings_;
    std::size_t last_product_ = SIZE_MAX, last_transfer_ = SIZE_MAX;  ///< spans that may be extended
    Schedule out_;
};

}  // namespace

Schedule schedule(const sim::Code& code, const Costs& costs, const Trace& trace, const Occupancy& occupancy,
                  const Roles& roles, std::size_t registers) {
    return Scheduler(code, costs, trace, occupancy, roles, registers).run();
}

}  // namespace wgrun::timeline
