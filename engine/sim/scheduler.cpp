// The scheduler of a CTA: interleaves its warps as the seed says, and notices when none can go on.
#include <fmt/format.h>

#include <bit>
#include <map>

#include "sim/cta.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint32_t longest_burst = 128;

/// "warp 3", "warps 0, 1, 2"
std::string names(std::uint32_t warps) {
    std::string out = std::has_single_bit(warps) ? "warp" : "warps";
    const char* comma = " ";
    for (; warps != 0; warps &= warps - 1, comma = ", ")
        out += comma + std::to_string(std::countr_zero(warps));
    return out;
}

}  // namespace

void Cta::run(std::uint64_t index) {
    const Dim3 grid = launch_.grid;
    position_ = {static_cast<std::uint32_t>(index % grid.x),
                 static_cast<std::uint32_t>(index / grid.x % grid.y),
                 static_cast<std::uint32_t>(index / grid.x / grid.y)};
    random_ = launch_.seed + index * 0x9E3779B97F4A7C15U;
    steps_ = mmas_ = 0;
    report_.reset(position_);
    clocks_.reset();
    shadow_.reset();
    shared_.poison();
    barriers_.fill({});
    int threads = program_.threads();
    for (Warp& warp : warps_) {
        warp.pc = 0;
        warp.all = threads >= isa::lanes ? UINT32_MAX : (1U << threads) - 1;
        warp.running = warp.all;
        warp.state = Warp::State::ready;
        warp.frames.clear();
        warp.registers.reset();
        threads -= isa::lanes;
    }
    for (;;) {
        std::uint32_t ready = 0;
        bool waiting = false;
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            if (warps_[w].state == Warp::State::ready)
                ready |= 1U << w;
            else
                waiting |= warps_[w].state != Warp::State::ended;
        }
        if (ready == 0) {
            if (waiting) report_deadlock();
            return;
        }
        if (launch_.stop != nullptr && launch_.stop->load(std::memory_order_relaxed)) return;
        for (std::uint32_t skip = draw(static_cast<std::uint32_t>(std::popcount(ready))); skip > 0; --skip)
            ready &= ready - 1;
        current_ = std::countr_zero(ready);
        burst(1 + draw(longest_burst));
    }
}

// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint32_t Cta::draw(std::uint32_t below) {
    random_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = random_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>(z >> 32) % below;
}

void Cta::burst(std::uint32_t steps) {
    Warp& warp = this->warp();
    for (; steps > 0 && warp.state == Warp::State::ready; --steps) {
        const Op& op = code_.ops[warp.pc];
        pc_ = warp.pc;
        if (op.kind == Op::Kind::step || op.kind == Op::Kind::collective)
            step(warp, op);
        else if (op.kind == Op::Kind::end)
            end(warp);
        else
            jump(warp, op);
    }
}

isa::Mask Cta::condition(const Op& op) {
    const auto* values = static_cast<const std::uint32_t*>(read({op.reg}));
    isa::Mask mask = 0;
    for (int l = 0; l < isa::lanes; ++l) mask |= (values[l] & 1U) << l;
    return (op.negated ? ~mask : mask) & active_;
}

void Cta::jump(Warp& warp, const Op& op) {
    ++warp.pc;
    switch (op.kind) {
        case Op::Kind::enter: warp.frames.push_back({warp.running, 0}); return;
        case Op::Kind::repeat: warp.pc = op.target; return;
        case Op::Kind::otherwise: warp.running = warp.frames.back().other; break;
        case Op::Kind::join:
            warp.running = warp.frames.back().outside;
            warp.frames.pop_back();
            return;
        default: {
            active_ = warp.running;
            report_.at(pc_, current_ * isa::lanes);
            const isa::Mask taken = condition(op);
            if (op.kind == Op::Kind::branch) warp.frames.push_back({warp.running, warp.running & ~taken});
            warp.running = taken;
        }
    }
    if (warp.running == 0) warp.pc = op.target;
}

void Cta::step(Warp& warp, const Op& op) {
    ++steps_;
    active_ = warp.running;
    report_.at(pc_, current_ * isa::lanes);
    if (op.reg != no_reg) active_ = condition(op);
    if (active_ == 0) {
        ++warp.pc;
        return;
    }
    if (op.aligned && active_ != warp.all) report_.diverged(*op.step->op, active_, warp.all);
    if (op.kind == Op::Kind::collective) return collective(warp, op, active_);
    execute(op);
    ++warp.pc;
}

// The last warp of a warpgroup to arrive executes the step for all four.
void Cta::collective(Warp& warp, const Op& op, isa::Mask active) {
    const auto first = static_cast<std::size_t>(current_ / 4 * 4);
    if (first + 4 > warps_.size() || warps_[first + 3].all != UINT32_MAX) {
        report_.no_warpgroup(*op.step->op, program_.threads());
        ++warp.pc;
        return;
    }
    warp.active = active;
    warp.state = Warp::State::at_collective;
    const std::span<Warp> group(warps_.data() + first, 4);
    for (const Warp& other : group)
        if (other.state != Warp::State::at_collective || other.pc != pc_) return;
    ++mmas_;
    const int arrived = current_;
    report_.at(pc_, static_cast<int>(first) * isa::lanes, true);
    select(0);
    execute(op);
    current_ = arrived;
    for (Warp& other : group) {
        other.state = Warp::State::ready;
        ++other.pc;
    }
}

void Cta::execute(const Op& op) {
    try {
        op.step->op->run(*op.step, *this);
    } catch (const ArgumentError& error) {
        report_.refused(error.finding());
    }
}

void Cta::end(Warp& warp) {
    warp.state = Warp::State::ended;
    if (const std::uint32_t mma = warp.registers.uncommitted(); mma != no_pc) report_.uncommitted(mma);
}

void Cta::report_deadlock() {
    // Who waits where, in the order of the code.
    std::map<std::uint32_t, std::uint32_t> places;
    std::uint32_t ended = 0;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        const Warp& warp = warps_[w];
        if (warp.state == Warp::State::ended)
            ended |= 1U << w;
        else
            places[warp.state == Warp::State::at_barrier ? warp.pc - 1 : warp.pc] |= 1U << w;
    }
    std::vector<Note> notes;
    std::string message;
    for (const auto& [pc, warps] : places) {
        const Warp& one = warps_[static_cast<std::size_t>(std::countr_zero(warps))];
        std::string text = names(warps) + (std::has_single_bit(warps) ? " waits " : " wait ");
        if (one.state == Warp::State::at_barrier) {
            const Barrier& barrier = barriers_[one.barrier];
            text += fmt::format("at barrier {}: {} of {} threads have arrived", one.barrier,
                                std::popcount(barrier.waiting) * isa::lanes, barrier.expected);
        } else {
            text += fmt::format("for the whole warpgroup at {}", code_.ops[pc].step->op->name);
        }
        if (message.empty())
            message = "deadlock: " + text;
        else
            notes.push_back({code_.where(pc), std::move(text)});
    }
    if (ended != 0) notes.push_back({program_.where(), names(ended) + " ended"});
    report_.deadlock(places.begin()->first, std::move(message), std::move(notes));
}

}  // namespace wgrun::sim
