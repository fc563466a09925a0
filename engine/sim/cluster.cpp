// The scheduler of a cluster: interleaves its warps and the engines as the seed determines.
#include "sim/cluster.hpp"

#include <fmt/format.h>

#include <bit>
#include <type_traits>
#include <utility>

#include "isa/divisor.hpp"
#include "isa/peer_window.hpp"
#include "isa/registers.hpp"
#include "machine/coordinates.hpp"
#include "program/quotients.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"
#include "sim/executed.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::sim {
namespace {

constexpr std::uint32_t longest_burst = 128;

/// How often a warp may go round loops where nothing else limits the launch: ten seconds of simulation and
/// more.
constexpr std::uint64_t most_turns = 1U << 23;
/// After so many turns a kernel with errors is not followed further: an index that has left its range may
/// never come back.
constexpr std::uint64_t enough_turns = 1U << 16;

}  // namespace

Cluster::Cluster(const Program& program, const Code& code, const SimulatedLaunch& launch, Turns& turns,
                 Exchange& exchange, Allowance& allowance)
    : scene_(*this, program, code, launch, turns, exchange),
      mbarriers_(scene_),
      barriers_(scene_, mbarriers_),
      accesses_(scene_),
      maps_(scene_, accesses_),
      bulk_(scene_, mbarriers_, maps_),
      copies_(scene_, accesses_, mbarriers_),
      wgmma_(scene_),
      library_(scene_, accesses_),
      deadlock_(scene_, barriers_),
      allowance_(allowance),
      messages_(program, launch.grid, message_capacity(program)) {
    if (launch.synthetic != nullptr)
        taint_.emplace(program, code, *launch.synthetic, static_cast<int>(scene_.warps.size()));
}

void Cluster::reset(std::uint64_t index) {
    scene_.reset(index);
    barriers_.reset();
    accesses_.reset();
    maps_.reset();
    bulk_.reset();
    copies_.reset();
    messages_ = MessageLog(scene_.program, scene_.launch.grid, message_capacity(scene_.program));
    trapped_ = false;
    taint_by_ = {};
    divided_by_zero_.clear();
    if (taint_) taint_->reset();
    steps_ = mmas_ = accounted_ = 0;
}

Cluster::Pause Cluster::run(bool alone, Crowd crowd) {
    scene_.crowd = crowd;
    const std::uint64_t changes = scene_.turns.changes();
    if (scene_.pollers) scene_.wake_pollers();
    for (;;) {
        ready_.clear();
        for (std::size_t w = 0; w < scene_.warps.size(); ++w)
            if (scene_.warps[w].state == Warp::State::ready) ready_.push_back(static_cast<int>(w));
        const std::atomic<bool>* stop = scene_.launch.stop;
        if (scene_.turns.over() || (stop != nullptr && stop->load(std::memory_order_relaxed)))
            return Pause::ended;
        Cancellation::poll();
        const auto in_flight = static_cast<std::uint32_t>(bulk_.in_flight() + copies_.in_flight());
        if (ready_.empty() && in_flight == 0) {
            if (bulk_.land_unsized()) continue;
            scene_.tell();
            if (std::exchange(scene_.stands_back, false) && !alone) return Pause::stands_back;
            if (stand_forward()) continue;
            if (accesses_.polls_global() && !(alone && scene_.turns.changes() == changes))
                return Pause::waits;
            if (deadlock_.wake_sleepers()) continue;
            deadlock_.report();
            return Pause::ended;
        }
        const auto ready = static_cast<std::uint32_t>(ready_.size());
        const std::uint32_t next = scene_.draw(ready + (in_flight == 0 ? 0 : 1));
        if (next == ready) {
            const std::size_t copy = scene_.draw(in_flight), bulk = bulk_.in_flight();
            if (copy < bulk)
                bulk_.land(copy);
            else
                copies_.land(copy - bulk);
        } else {
            scene_.enter(ready_[next]);
            burst(1 + scene_.draw(longest_burst));
            allowance_.take(steps_ - std::exchange(accounted_, steps_), scene_.code.ops[scene_.pc].where);
            if (trapped_) return Pause::ended;
            if (taint_ && !scene_.launch.synthetic->goes_on && scene_.report.has_errors()) taint_->hurry();
        }
    }
}

bool Cluster::stand_forward() {
    std::vector<Warp*> standing;
    for (Warp& warp : scene_.warps)
        if (warp.state == Warp::State::stands_back) standing.push_back(&warp);
    if (standing.empty()) return false;
    const auto count = static_cast<std::uint32_t>(standing.size());
    standing[scene_.draw(count)]->state = Warp::State::ready;
    return true;
}

void Cluster::burst(std::uint32_t steps) {
    // There are two loops so that a run without an observer does not pay for one.
    const auto execute = [&](auto observed) {
        Warp& warp = scene_.warp();
        for (; steps > 0 && warp.state == Warp::State::ready && !trapped_; --steps) {
            if constexpr (observed) scene_.launch.observer->before(View(*this), scene_.current);
            const Op& op = scene_.code.ops[warp.pc];
            scene_.pc = warp.pc;
            if (op.kind == Op::Kind::step || op.kind == Op::Kind::collective)
                step(warp, op);
            else if (op.kind == Op::Kind::end)
                end(warp);
            else
                jump(warp, op);
            if constexpr (observed) scene_.launch.observer->after(View(*this), scene_.current, scene_.pc);
        }
    };
    if (scene_.launch.observer == nullptr)
        execute(std::false_type());
    else
        execute(std::true_type());
}

isa::Mask Cluster::condition(const Op& op) {
    const auto* values = static_cast<const std::uint32_t*>(wgmma_.read({op.reg}));
    isa::Mask mask = 0;
    for (int l = 0; l < isa::lanes; ++l) mask |= (values[l] & 1U) << l;
    return (op.negated ? ~mask : mask) & scene_.active;
}

// Returns the lanes, not all, that have nothing left to do but to end: they do so at the branch.
isa::Mask Cluster::ends_at_once(const Op& branch, isa::Mask taken, isa::Mask running) const {
    const auto ends = [&](std::uint32_t at) { return scene_.code.ops[at].kind == Op::Kind::end; };
    const isa::Mask others = running & ~taken;
    if (taken == 0 || others == 0 || ends(branch.ways.taken) == ends(branch.ways.otherwise)) return 0;
    return ends(branch.ways.taken) ? taken : others;
}

void Cluster::jump(Warp& warp, const Op& op) {
    if (op.kind == Op::Kind::jump) {
        warp.parted.go(op.ways.taken, warp.running, warp.pc);
    } else {
        scene_.active = warp.running;
        scene_.report.at(scene_.pc, scene_.thread(0));
        if (taint_ && taint_->decides(scene_.current, op.reg)) {
            taint_by_ = {scene_.code.where(scene_.pc)};
            trapped_ = true;
            return;
        }
        const isa::Mask taken = condition(op);
        if (const isa::Mask ending = ends_at_once(op, taken, warp.running); ending != 0) {
            warp.all &= ~ending;
            warp.exited |= ending;
            warp.running &= ~ending;
            warp.parted.forget(ending);
            warp.parted.go(ending == taken ? op.ways.otherwise : op.ways.taken, warp.running, warp.pc);
        } else {
            warp.parted.part(scene_.pc, op.ways, taken, warp.running, warp.pc);
        }
    }
    if (warp.pc > scene_.pc) return;
    if (warp.turns.again(warp.pc, warp.running, warp.registers.all())) {
        scene_.report.at(scene_.pc, scene_.thread(0));
        scene_.report.endless_loop();
        trapped_ = true;
    } else if (scene_.launch.most_steps == 0 && scene_.launch.timeout.count() == 0 &&
               warp.turns.all() >= most_turns) {
        scene_.report.at(scene_.pc, scene_.thread(0));
        scene_.report.too_many_turns(warp.turns.all());
        trapped_ = true;
    } else if (warp.turns.all() % enough_turns == 0 && scene_.report.has_errors()) {
        trapped_ = true;
    }
}

void Cluster::step(Warp& warp, const Op& op) {
    ++steps_;
    scene_.active = warp.running;
    scene_.report.at(scene_.pc, scene_.thread(0));
    if (taint_ && !certain(warp, op)) return;
    if (op.reg != no_reg) scene_.active = condition(op);
    if (scene_.active == 0) {
        ++warp.pc;
        return;
    }
    if (scene_.launch.executed != nullptr) [[unlikely]]
        scene_.launch.executed->note(scene_.pc);
    if (!op.quiet) warp.turns.stir();
    if (op.aligned) aligned(warp, op);
    if (op.kind == Op::Kind::collective) return collective(warp, op, scene_.active);
    execute(op);
    if (std::exchange(scene_.put_off, false)) return;
    if (warp.state != Warp::State::asleep)
        ++warp.pc;
    else
        warp.retries = op.grouped;
}

/// The active lanes are at a barrier. Does the warp arrive or wait now? Else they go on, or others run first.
bool Cluster::come_to(Warp::Meeting at) {
    if (scene_.code.ops[scene_.pc].aligned) return true;
    const Barriers::Come come = barriers_.come(at);
    scene_.put_off = come == Barriers::Come::early;
    return come == Barriers::Come::last;
}

void Cluster::barrier_vote(std::uint32_t id, std::uint32_t threads, isa::Vote vote, isa::Mask votes,
                           isa::Reg to) {
    const bool last = come_to({Meeting::wait, id});
    if (!last && !scene_.put_off) return;  // the result has come
    wgmma_.write(to);
    barriers_.votes(votes, to);
    if (last) barriers_.wait_for_votes(id, threads, vote);
}

void Cluster::cluster_wait() {
    if (!come_to({Meeting::cluster_wait})) return;
    barriers_.cluster_wait();
    if (scene_.warp().state == Warp::State::asleep) barriers_.come_again();
}

bool Cluster::certain(Warp& warp, const Op& op) {
    const Taint::Verdict verdict = taint_->judge(scene_.current, scene_.pc);
    const bool by_all = op.reg == no_reg && scene_.active == warp.all;
    taint_->executed(scene_.current, scene_.pc, by_all);
    if (verdict == Taint::Verdict::go) return true;
    if (verdict == Taint::Verdict::stop || verdict == Taint::Verdict::limit) {
        taint_by_ = {scene_.code.where(scene_.pc), verdict == Taint::Verdict::limit};
        trapped_ = true;
        return false;
    }
    for (const std::uint32_t reg : taint_->results(scene_.pc)) wgmma_.write({reg});
    ++warp.pc;
    return false;
}

// Lanes that are apart stay so until they reconverge: that is one fault, and not one for each step.
void Cluster::aligned(Warp& warp, const Op& op) {
    const isa::Mask together = op.step->op->without_ended ? warp.whole & ~warp.exited : warp.whole;
    if (scene_.active == together)
        warp.diverged = false;
    else if (!std::exchange(warp.diverged, true)) {
        const std::uint32_t waiting = spinning(warp);
        if (waiting == no_pc || !deadlock_.lacks_room(waiting))
            scene_.report.diverged(*op.step->op, scene_.active, together, waiting);
    }
    // A warp that sleeps for registers executes its step again.
    if (!op.grouped || std::exchange(warp.retries, false)) return;
    if (machine::Together* group = warpgroup())
        if (const auto apart = group->step(scene_.local() % machine::Together::warps, scene_.pc))
            scene_.report.parted(*apart);
}

// Returns a step at which lanes of the warp, which are apart, have waited in vain; no_pc: they are elsewhere.
std::uint32_t Cluster::spinning(const Warp& warp) const {
    for (const flow::Divergence::Group& group : warp.parted.groups()) {
        const Op& next = scene_.code.ops[group.next];
        if (group.lanes != 0 && group.from == flow::Divergence::nowhere && group.next != scene_.pc &&
            next.step != nullptr && isa::awaited_by(*next.step) == isa::Awaits::memory)
            return group.next;
    }
    return no_pc;
}

machine::Together* Cluster::warpgroup() {
    const auto number = static_cast<std::size_t>(scene_.local() / machine::Together::warps);
    return number < scene_.cta->groups.size() ? &scene_.cta->groups[number] : nullptr;
}

// The last warp of a warpgroup to arrive executes the step for all four.
void Cluster::collective(Warp& warp, const Op& op, isa::Mask active) {
    constexpr int together = isa::warps_of_group;
    const int first = scene_.local() / together * together;
    const std::span<Warp> mates(&scene_.warps[static_cast<std::size_t>(scene_.cta->first)],
                                static_cast<std::size_t>(scene_.warps_per_cta));
    if (first + together > scene_.warps_per_cta ||
        mates[static_cast<std::size_t>(first + together - 1)].whole != UINT32_MAX) {
        scene_.report.no_warpgroup(*op.step->op, scene_.program.threads());
        ++warp.pc;
        return;
    }
    warp.active = active;
    warp.state = Warp::State::at_collective;
    const std::span<Warp> group = mates.subspan(static_cast<std::size_t>(first), together);
    for (const Warp& other : group)
        if (other.state != Warp::State::at_collective || other.pc != scene_.pc) return;
    ++mmas_;
    const int arrived = scene_.current;
    scene_.report.at(scene_.pc, (scene_.cta->first + first) * isa::lanes, Subject::wgmma);
    select(0);
    execute(op);
    scene_.current = arrived;
    for (Warp& other : group) {
        other.state = Warp::State::ready;
        ++other.pc;
    }
}

void Cluster::execute(const Op& op) {
    try {
        if (op.copies && scene_.launch.by_compiler)
            wgmma_.copy(*op.step, *this);
        else
            op.step->op->run(*op.step, *this);
        read_the_rest(op);
    } catch (const UnknownInstruction&) {
        throw;
    } catch (const ArgumentError& error) {
        scene_.report.refused(error.finding());
        take_results_for_written(op);
    } catch (const isa::Unknown&) {
        throw UnknownInstruction(
            plain_error(fmt::format("the simulator does not know this instruction ({})", op.step->op->name),
                        {}, op.step->where));
    }
}

/// Reads the operands that change no result here, as cache policies: the step reads them all the same.
void Cluster::read_the_rest(const Op& op) {
    if (op.kind == Op::Kind::collective || op.step->op->effects == nullptr) return;
    Registers& registers = scene_.warp().registers;
    isa::for_each_read(*op.step, [&](isa::Reg reg) {
        if (registers.state(reg).accessed != scene_.pc + 1) wgmma_.read(reg);
    });
}

// What the step has not computed is no fault of those that read it.
void Cluster::take_results_for_written(const Op& op) {
    const bool by_four = op.kind == Op::Kind::collective;
    for (int w = 0; w < (by_four ? isa::warps_of_group : 1); ++w) {
        if (by_four) select(w);
        isa::for_each_written(*op.step,
                              [&](isa::Reg reg) { by_four ? wgmma_.write_async(reg) : wgmma_.write(reg); });
    }
}

void Cluster::end(Warp& warp) {
    const isa::Mask ended = warp.running;
    if (warp.parted.end(warp.running, warp.pc)) {
        warp.all &= ~ended;
        return;
    }
    warp.state = Warp::State::ended;
    scene_.fruitless = 0;
    if (machine::Together* group = warpgroup())
        if (const auto apart = group->end(scene_.local() % machine::Together::warps)) {
            scene_.report.at(apart->pc, scene_.thread(0));
            scene_.report.parted(*apart);
        }
    if (const std::uint32_t mma = warp.registers.uncommitted(); mma != no_pc) scene_.report.uncommitted(mma);
    warp.registers.for_each_running([&](const Registers::Closed& group) { scene_.report.left_over(group); });
    barriers_.end();
    if (--scene_.cta->running == 0) leave(*scene_.cta);
    barriers_.end_in_cluster();
}

// Everything that accessed the memory of the CTA must be known to its warps as past.
void Cluster::leave(Cta& cta) {
    for (const Epoch& access : cta.owed) {
        if (!access) continue;
        bool known = false;
        for (int w = cta.first; w < cta.first + scene_.warps_per_cta; ++w)
            known |= cta.shadow.ordered(scene_.clocks.of(w), access);
        if (known) continue;
        scene_.report.at(access.pc(), access.thread(), Subject::copy);
        if (access.actor() < scene_.clocks.warps())
            scene_.report.fault(rules::peer_may_have_ended(scene_.report.end()));
        else if (bulk_.stores_as(access.actor()))
            scene_.report.fault(
                rules::copy_out_at_end(scene_.report.where(access.pc()), scene_.report.end()));
        else
            scene_.report.unfinished_load(access);
    }
    copies_.left_over(cta);
    mbarriers_.left_over(cta);
}

void Cluster::bulk_copy(const isa::BulkCopy& copy) {
    // Of a map in memory that is synthetic, nothing is known.
    if (taint_ && copy.dims != 0 && !scene_.makes_up_memory() &&
        scene_.global.tensor(copy.tensor_map, scene_.device).map == nullptr) {
        taint_by_ = {scene_.code.where(scene_.pc)};
        trapped_ = true;
        return;
    }
    if (!taint_ || !taint_->box_is_tainted()) return bulk_.bulk_copy(copy);
    isa::BulkCopy somewhere = copy;
    somewhere.known.coordinates = false;
    bulk_.bulk_copy(somewhere);
}

// --- what steps do ---------------------------------------------------------------------------------------

std::uint64_t Cluster::special(isa::Special which, int lane) {
    return machine::special({scene_.launch.grid, scene_.program.cluster(), scene_.position,
                             static_cast<std::uint32_t>(scene_.rank(*scene_.cta)), scene_.program.block(),
                             static_cast<std::uint32_t>(scene_.local()),
                             static_cast<std::uint32_t>(scene_.program.shared_bytes()), clock()},
                            which, lane);
}

// The address of a CTA that does not exist does no harm until it is used.
std::uint32_t Cluster::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

void Cluster::proxy_fence(std::optional<isa::Space> space) {
    accesses_.proxy_fence(space);
    if (machine::ProxyFence(space).orders_shared()) mbarriers_.announce();
}

void Cluster::trap() {
    scene_.report.said(rules::finding(rules::WG_TRAP_01, scene_.code.where(scene_.pc),
                                      fmt::format("the kernel traps ({})", scene_.report.who())));
    trapped_ = true;
}

void Cluster::divide_by_zero(isa::Mask lanes) {
    const isa::Step& step = *scene_.code.ops[scene_.pc].step;
    const isa::Operand& divisor = *isa::divisor_of(step);
    if (taint_ && divisor.reg && taint_->decides(scene_.current, divisor.reg.id)) return;
    if (!divided_by_zero_.insert(scene_.pc).second) return;
    scene_.report.lane(scene_.thread(std::countr_zero(lanes)));
    if (auto wrong = division_by_zero(scene_.program, step, scene_.report.who()))
        scene_.report.fault(std::move(*wrong));
}

void Cluster::say(std::size_t index, isa::Mask who, const std::vector<isa::Reg>& values) {
    const Message& message = scene_.program.messages()[index];
    std::vector<const void*> lanes_of;
    for (isa::Reg reg : values) lanes_of.push_back(wgmma_.read(reg));
    std::vector<std::uint64_t> words(values.size());
    MessageLog last(scene_.program, scene_.launch.grid, isa::lanes);
    for (isa::Mask left = who; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = isa::bits(message.types[i]) > 32
                           ? static_cast<const std::uint64_t*>(lanes_of[i])[lane]
                           : static_cast<const std::uint32_t*>(lanes_of[i])[lane];
        const auto thread = static_cast<std::uint32_t>(scene_.local() * isa::lanes + lane);
        (message.kind == Message::Kind::print ? messages_ : last)
            .add(scene_.cta->position, thread, static_cast<std::uint32_t>(index), words, scene_.device);
    }
    if (message.kind == Message::Kind::print) return;
    scene_.report.said(*last.end());
    trapped_ = true;
}

void Cluster::set_registers(int registers, bool increase) {
    using Resize = machine::RegisterPool::Resize;
    machine::RegisterPool& pool = scene_.cta->registers;
    switch (pool.resize(scene_.local(), registers, increase)) {
        case Resize::wrong_way:
            return scene_.report.fault(
                rules::resized_the_wrong_way(increase, registers, pool.held(scene_.local())));
        case Resize::blocked: return scene_.sleep(Warp::Wait::registers);
        case Resize::given_back: return scene_.wake_all(scene_.cta, Warp::Wait::registers);
        case Resize::taken: return;
    }
}

}  // namespace wgrun::sim
