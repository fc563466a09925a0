// The scheduler of a cluster: interleaves its warps and the bulk-copy engine as the seed determines.
#include <bit>
#include <type_traits>
#include <utility>

#include "sim/cluster.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint32_t longest_burst = 128;

}  // namespace

bool Cluster::run(bool alone) {
    const std::uint64_t changes = turns_.changes();
    if (pollers_) wake_pollers();
    for (;;) {
        ready_.clear();
        for (std::size_t w = 0; w < warps_.size(); ++w)
            if (warps_[w].state == Warp::State::ready) ready_.push_back(static_cast<int>(w));
        if (launch_.stop != nullptr && launch_.stop->load(std::memory_order_relaxed)) return true;
        const auto under_way = static_cast<std::uint32_t>(copies_.size() + flying_.size());
        if (ready_.empty() && under_way == 0) {
            tell();
            if (polls_global() && !(alone && turns_.changes() == changes)) return false;
            if (wake_sleepers()) continue;
            report_deadlock();
            return true;
        }
        const auto ready = static_cast<std::uint32_t>(ready_.size());
        const std::uint32_t next = draw(ready + (under_way == 0 ? 0 : 1));
        if (next == ready) {
            const std::size_t index = draw(under_way);
            if (index < copies_.size())
                land(index);
            else
                land_thread_copy(index - copies_.size());
        } else {
            enter(ready_[next]);
            burst(1 + draw(longest_burst));
            allowance_.take(steps_ - std::exchange(accounted_, steps_), code_.ops[pc_].where);
            if (trapped_) return true;
        }
    }
}

void Cluster::reset(std::uint64_t index) {
    const Dim3 size = program_.cluster();
    index_ = index;
    position_ = cluster_position(launch_.grid, size, index);
    random_ = launch_.seed + index * 0x9E3779B97F4A7C15U;
    steps_ = mmas_ = accounted_ = 0;
    fruitless_ = 0;
    report_.reset(position_);
    waits_.reset(warps_.size());
    messages_ = MessageLog(program_, launch_.grid, message_capacity(program_));
    trapped_ = false;
    clocks_.reset();
    global_shadow_.reset();
    handoffs_.reset();
    pollers_ = wrote_ = false;
    copies_.clear();
    groups_.clear();
    groups_of_thread_.clear();
    flying_.clear();
    thread_copies_.clear();
    thread_copies_.resize(warps_.size());
    copy_actor_ = -1;
    copy_clock_ = 0;
    cluster_barrier_.reset(warps_.size());
    meeting_ = met_ = -1;
    for (std::size_t rank = 0; rank < ctas_.size(); ++rank) {
        const auto r = static_cast<std::uint32_t>(rank);
        ctas_[rank].reset(machine::Seat{.cluster_size = size, .cluster = position_, .rank = r}.cta(),
                          warps_per_cta_, entry_registers_);
        int threads = program_.threads();
        for (int w = 0; w < warps_per_cta_; ++w, threads -= isa::lanes)
            warps_[static_cast<std::size_t>(ctas_[rank].first + w)].reset(threads);
    }
}

// SplitMix64 (Steele, Lea and Flood, 2014).
std::uint32_t Cluster::draw(std::uint32_t below) {
    random_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = random_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>(z >> 32) % below;
}

void Cluster::enter(int warp) {
    current_ = warp;
    cta_ = &ctas_[static_cast<std::size_t>(warp / warps_per_cta_)];
}

void Cluster::burst(std::uint32_t steps) {
    // There are two loops so that a run without an observer does not pay for one.
    const auto execute = [&](auto observed) {
        Warp& warp = this->warp();
        for (; steps > 0 && warp.state == Warp::State::ready && !trapped_; --steps) {
            if constexpr (observed) launch_.observer->before(View(*this), current_);
            const Op& op = code_.ops[warp.pc];
            pc_ = warp.pc;
            if (op.kind == Op::Kind::step || op.kind == Op::Kind::collective)
                step(warp, op);
            else if (op.kind == Op::Kind::end)
                end(warp);
            else
                jump(warp, op);
            if constexpr (observed) launch_.observer->after(View(*this), current_, pc_);
        }
    };
    if (launch_.observer == nullptr)
        execute(std::false_type());
    else
        execute(std::true_type());
}

isa::Mask Cluster::condition(const Op& op) {
    const auto* values = static_cast<const std::uint32_t*>(read({op.reg}));
    isa::Mask mask = 0;
    for (int l = 0; l < isa::lanes; ++l) mask |= (values[l] & 1U) << l;
    return (op.negated ? ~mask : mask) & active_;
}

void Cluster::jump(Warp& warp, const Op& op) {
    if (op.kind == Op::Kind::jump) return warp.parted.go(op.ways.taken, warp.running, warp.pc);
    active_ = warp.running;
    report_.at(pc_, current_ * isa::lanes);
    warp.parted.part(pc_, op.ways, condition(op), warp.running, warp.pc);
}

void Cluster::step(Warp& warp, const Op& op) {
    ++steps_;
    active_ = warp.running;
    report_.at(pc_, current_ * isa::lanes);
    if (op.reg != no_reg) active_ = condition(op);
    if (active_ == 0) {
        ++warp.pc;
        return;
    }
    if (op.aligned && active_ != warp.whole) report_.diverged(*op.step->op, active_, warp.whole);
    if (op.kind == Op::Kind::collective) return collective(warp, op, active_);
    execute(op);
    if (warp.state != Warp::State::asleep) ++warp.pc;
}

// The last warp of a warpgroup to arrive executes the step for all four.
void Cluster::collective(Warp& warp, const Op& op, isa::Mask active) {
    const int first = local() / 4 * 4;
    const std::span<Warp> mates(&warps_[static_cast<std::size_t>(cta_->first)],
                                static_cast<std::size_t>(warps_per_cta_));
    if (first + 4 > warps_per_cta_ || mates[static_cast<std::size_t>(first + 3)].whole != UINT32_MAX) {
        report_.no_warpgroup(*op.step->op, program_.threads());
        ++warp.pc;
        return;
    }
    warp.active = active;
    warp.state = Warp::State::at_collective;
    const std::span<Warp> group = mates.subspan(static_cast<std::size_t>(first), 4);
    for (const Warp& other : group)
        if (other.state != Warp::State::at_collective || other.pc != pc_) return;
    ++mmas_;
    const int arrived = current_;
    report_.at(pc_, (cta_->first + first) * isa::lanes, Subject::wgmma);
    select(0);
    execute(op);
    current_ = arrived;
    for (Warp& other : group) {
        other.state = Warp::State::ready;
        ++other.pc;
    }
}

void Cluster::execute(const Op& op) {
    try {
        op.step->op->run(*op.step, *this);
    } catch (const ArgumentError& error) {
        report_.refused(error.finding());
    }
}

void Cluster::end(Warp& warp) {
    const isa::Mask ended = warp.running;
    if (warp.parted.end(warp.running, warp.pc)) {
        warp.all &= ~ended;
        return;
    }
    warp.state = Warp::State::ended;
    fruitless_ = 0;
    if (const std::uint32_t mma = warp.registers.uncommitted(); mma != no_pc) report_.uncommitted(mma);
    warp.registers.for_each_running([&](const Registers::Group& group) { report_.left_over(group); });
    cta_->barriers.end(local());
    for (std::uint32_t id = 0; id < cta_->barriers.count(); ++id) complete_barrier(*cta_, id);
    if (--cta_->running == 0) leave(*cta_);
    cluster_barrier_.end(current_);
    complete_meeting();
}

void Cluster::sleep(Warp::Wait wait) {
    warp().state = Warp::State::asleep;
    warp().wait = wait;
}

}  // namespace wgrun::sim
