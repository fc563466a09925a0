// Warps of an abstract execution take turns: each runs until it must wait.
#include "check/abstract_execution.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/peer_window.hpp"
#include "machine/coordinates.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::check {

namespace {
constexpr int most_operations = 1 << 15, most_of_a_proof = 1 << 18;
}

AbstractExecution::AbstractExecution(const Program& program, const Skeleton& skeleton, LaunchSizes sizes,
                                     Dim3 cluster)
    : execution_(program, skeleton, std::move(sizes), cluster),
      report_(execution_),
      values_(execution_),
      peers_(execution_, report_),
      mbarriers_(execution_, report_, peers_),
      barriers_(execution_, report_, mbarriers_),
      contents_(execution_),
      products_(execution_, report_, values_, mbarriers_, contents_),
      copies_(execution_, report_, peers_, mbarriers_, contents_, products_),
      grants_(execution_, report_),
      stuck_(execution_, report_, mbarriers_, barriers_, grants_),
      running_(static_cast<std::size_t>(execution_.ctas), execution_.warps_per_cta),
      allowed_(most_operations),
      budget_(most_operations),
      executed_(skeleton.ops.size()) {}

AbstractExecution::AbstractExecution(const Program& program, const Skeleton& skeleton,
                                     const abstract::Live& live, abstract::Symbols& symbols, Gaps* gaps)
    : AbstractExecution(program, skeleton,
                        LaunchSizes{symbols.place ? symbols.place->grid : program.cluster(), {}},
                        symbols.place ? symbols.place->at : Dim3{0, 0, 0}) {
    proof_ = std::make_unique<Proof>(execution_, values_, *this, live, mbarriers_, symbols, gaps);
    execution_.shared = proof_->shared ? &*proof_->shared : nullptr;
    execution_.proves = true;
    budget_ = allowed_ = most_of_a_proof;
}

void AbstractExecution::limit(std::int64_t operations, const Budget& of) {
    budget_ = allowed_ = static_cast<int>(std::clamp<std::int64_t>(operations, 0, allowed_));
    of_ = &of;
}

abstract::Encoder AbstractExecution::encoder() {
    abstract::Encoder to(static_cast<int>(execution_.warps.size()));
    const int actors = mbarriers_.actors();
    execution_.encode(to, actors);
    mbarriers_.encode(to);
    barriers_.encode(to, actors);
    contents_.encode(to);
    products_.encode(to);
    copies_.encode(to);
    grants_.encode(to);
    peers_.encode(to);
    if (execution_.shared != nullptr) execution_.shared->encode(to);
    if (execution_.shown != nullptr) execution_.shown->encode(to);
    return to;
}

void AbstractExecution::lower(const std::vector<std::uint32_t>& most) {
    encoder().lower(most, mbarriers_.actors());
}

void AbstractExecution::run() {
    for (;;) {
        if (of_ != nullptr) of_->poll();
        Cancellation::poll();
        if (proof_) {
            if (execution_.stopped) return;
            if (loops_ == nullptr) {
                abstract::Encoded now = encoder().finish();
                written_ += static_cast<int>(now.size());
                if (proof_->recurrence.round(std::move(now))) {
                    proof_->again = true;
                    return;
                }
            }
        }
        bool any = false;
        for (Warp& warp : execution_.warps) {
            if (warp.state != Warp::State::ready) continue;
            any = true;
            go(warp);
            if (budget_ < 0) return;
        }
        if (any) continue;
        if (copies_.land()) continue;
        if (at_cut()) return;
        // What a kernel does that gives up a wait is not followed by a proof.
        if (proof_) {
            if (!complete()) execution_.stop(execution_.program.where(), "a wait does not end");
            return stuck_.report();
        }
        if (!stuck_.look_again()) return stuck_.report();
    }
}

void AbstractExecution::go(Warp& warp) {
    execution_.warp = &warp;
    while (warp.state == Warp::State::ready && --budget_ >= 0) {
        Cancellation::poll();
        const Op& op = execution_.skeleton.ops[warp.pc];
        execution_.op = &op;
        if (op.kind == Op::Kind::step)
            step(warp, op);
        else if (op.kind == Op::Kind::end)
            end(warp);
        else
            jump(warp, op);
    }
}

void AbstractExecution::jump(Warp& warp, const Op& op) {
    if (op.kind == Op::Kind::jump) return warp.parted.go(op.ways.taken, warp.running, warp.pc);
    execution_.active = warp.running;
    if (proof_) proof_->forms.use_condition(op);
    std::optional<isa::Mask> taken = values_.condition(op);
    if (!taken && op.goes_on >= 0) taken = op.goes_on == 0 ? warp.running : 0;
    if (!taken) return leave(warp);
    if (loops_ != nullptr) branches_.insert(op.block);
    warp.parted.part(warp.pc, op.ways, *taken, warp.running, warp.pc);
}

void AbstractExecution::compute(const Op& op) {
    if (!proof_) return op.step->op->run(*op.step, *this);
    if (op.step->op->effects == nullptr) return proof_->forms.compute(op);
    if (op.of_launch >= 0) {
        if (!proof_->forms.load(op)) execution_.unclear = true;
        return;
    }
    if (op.drawn_from >= 0) {
        if (!proof_->forms.draw(op)) execution_.unclear = true;
        return;
    }
    if (op.receives) {
        if (!proof_->shown->load(op)) execution_.unclear = true;
        return;
    }
    proof_->forms.use(op);
    op.step->op->run(*op.step, *this);
    proof_->forms.forget(op);
}

void AbstractExecution::step(Warp& warp, const Op& op) {
    execution_.active = warp.running;
    execution_.began = warp.now;
    execution_.unclear = execution_.loads = false;
    if (op.reg) {
        if (proof_) proof_->forms.use_condition(op);
        const std::optional<isa::Mask> guarded = values_.condition(op);
        if (!guarded && op.synchronises) return leave(warp);
        if (guarded)
            execution_.active = *guarded;
        else
            execution_.unclear = true;
    }
    if (execution_.active == 0) {
        ++warp.pc;
        return;
    }
    if (loops_ != nullptr && parks(warp, op)) return;
    executed_[warp.pc] = true;
    if (op.traps) {
        // What follows is not executed.
        if (!execution_.unclear) return leave(warp);
        ++warp.pc;
        return;
    }
    const bool receives = op.receives && execution_.shown != nullptr;
    if ((execution_.shared != nullptr && op.touches) ||
        (execution_.shown != nullptr && (op.touches || receives)))
        proof_->forms.use_addresses(op);
    if (execution_.shown != nullptr && op.touches) execution_.shown->store(op, execution_.unclear);
    if (execution_.shared != nullptr && op.touches) {
        if (execution_.unclear)
            execution_.shared->lost("whether it is executed is not known before a launch");
        else
            execution_.shared->access(*op.step);
    }
    const bool draws = op.drawn_from >= 0 && loops_ != nullptr;
    const bool loads = op.of_launch >= 0 && loops_ != nullptr;
    const bool blind = execution_.unclear || (op.opaque && !loads && !draws && !receives) ||
                       (op.only_touches() && !receives) ||
                       (!op.synchronises && !op.may_visit && !draws && !values_.sources_known(op));
    try {
        if (op.multiplies) {
            if (proof_) proof_->forms.use(op);
            grants_.fits();
            products_.step();
        } else if (!blind) {
            compute(op);
        }
    } catch (const isa::Unknown&) {
        execution_.unclear = true;
    } catch (const ArgumentError& error) {
        report_.refused(error.finding());
    }
    if (op.synchronises && execution_.unclear) return leave(warp);
    if (blind || execution_.unclear || execution_.loads) {
        values_.forget_results(op);
        if (proof_) proof_->forms.forget(op);
    }
    if (warp.state != Warp::State::asleep) ++warp.pc;
}

// --- cuts ----------------------------------------------------------------------------------------------

bool AbstractExecution::parks(Warp& warp, const Op& op) {
    const std::optional<Warp::Parked> compared = proof_->forms.compared(op);
    if (!compared || std::exchange(warp.goes_on, false)) return false;
    warp.state = Warp::State::parked;
    warp.parked = *compared;
    return true;
}

bool AbstractExecution::at_cut() const {
    return std::ranges::any_of(execution_.warps,
                               [](const Warp& warp) { return warp.state == Warp::State::parked; });
}

void AbstractExecution::go_on() {
    branches_.clear();
    // What is left of a number is that of the values which are followed now.
    for (Warp& warp : execution_.warps) {
        if (warp.state != Warp::State::parked) continue;
        const Op& op = execution_.skeleton.ops[warp.pc];
        execution_.warp = &warp;
        execution_.op = &op;
        execution_.active = op.reg ? *values_.condition(op) : warp.running;
        if (const auto compared = proof_->forms.compared(op)) warp.parked = *compared;
    }
    const auto order = [&](const Warp& warp) {
        return std::tuple(loops_->depth(warp.pc), -warp.parked.root, warp.parked.left);
    };
    const Warp* first = nullptr;
    for (const Warp& warp : execution_.warps)
        if (warp.state == Warp::State::parked && (first == nullptr || order(warp) > order(*first)))
            first = &warp;
    if (first == nullptr) return;
    const auto with = order(*first);
    for (Warp& warp : execution_.warps)
        if (warp.state == Warp::State::parked && order(warp) == with) {
            warp.state = Warp::State::ready;
            warp.goes_on = true;
        }
}

bool AbstractExecution::any_in(const abstract::Loops::Loop& loop) const {
    return std::ranges::any_of(execution_.warps, [&](const Warp& warp) {
        return warp.state != Warp::State::ended && loop.contains(warp.pc);
    });
}

bool AbstractExecution::any_parked_at(std::uint32_t pc) const {
    return std::ranges::any_of(execution_.warps, [&](const Warp& warp) {
        return warp.state == Warp::State::parked && warp.pc == pc;
    });
}

abstract::Cut AbstractExecution::cut() {
    if (execution_.shown != nullptr) execution_.shown->forget();
    // Where less is known is then another state, and covers none: of rings alone that makes more states, of
    // tiles that are drawn, whose number of blocks is another one each time, half as many.
    if (execution_.skeleton.draws_numbers) {
        contents_.settle();
        mbarriers_.settle();
    }
    abstract::Cut out;
    out.code = encoder().finish();
    written_ += static_cast<int>(out.code.size());
    for (const std::uint64_t number : out.code.numbers)
        out.hash = (out.hash ^ number) * 0x9E3779B97F4A7C15U + (out.hash >> 29);
    out.registers = registers();
    return out;
}

std::vector<abstract::Register> AbstractExecution::registers() {
    return abstract::live_registers(execution_, values_, proof_->live, mbarriers_, proof_->forms);
}

/// What decides how it goes on, in all its parts.
auto AbstractExecution::parts() {
    return std::tuple_cat(execution_.state(), peers_.state(), mbarriers_.state(), barriers_.state(),
                          contents_.state(), products_.state(), copies_.state(), grants_.state(),
                          proof_->forms.state(), std::tie(running_));
}

namespace {

template <class... Parts>
std::tuple<Parts...> copied(const std::tuple<Parts&...>& parts) {
    return parts;
}

}  // namespace

class AbstractExecution::Saved {
  public:
    explicit Saved(AbstractExecution& of)
        : parts(copied(of.parts())),
          values(of.values_.save([&of](std::size_t warp, std::size_t slot) {
              return abstract::readers(of.proof_->live, of.execution_.warps[warp], slot);
          })),
          forms(of.proof_->forms.save()) {
        if (of.proof_->shared) shared.emplace(copied(of.proof_->shared->state()));
        if (of.proof_->shown) shown.emplace(copied(of.proof_->shown->state()));
    }
    decltype(copied(std::declval<AbstractExecution&>().parts())) parts;
    abstract::Values::Known values;
    abstract::Forms::Dependent forms;
    std::optional<decltype(copied(std::declval<abstract::SharedMemory&>().state()))> shared{};
    std::optional<decltype(copied(std::declval<abstract::ShownNumbers&>().state()))> shown{};
};

std::shared_ptr<const AbstractExecution::Saved> AbstractExecution::save() {
    return std::make_shared<Saved>(*this);
}

void AbstractExecution::restore(const Saved& saved) {
    parts() = saved.parts;
    values_.restore(saved.values);
    proof_->forms.restore(saved.forms);
    if (saved.shared) proof_->shared->state() = *saved.shared;
    if (saved.shown) proof_->shown->state() = *saved.shown;
}

/// The warp leaves the abstract execution.
void AbstractExecution::leave(Warp& warp) {
    execution_.stop(execution_.skeleton.ops[warp.pc].where,
                    "what is synchronised here depends on a value that is not known before a launch");
    warp.state = Warp::State::left;
    execution_.anybody_left = true;
    execution_.wake(Warp::Wait::products, [](const Warp&) { return true; });
}

void AbstractExecution::end(Warp& warp) {
    const isa::Mask ended = warp.running;
    if (execution_.shared != nullptr) execution_.shared->end(ended);
    if (warp.parted.end(warp.running, warp.pc)) {
        warp.all &= ~ended;
        return;
    }
    warp.state = Warp::State::ended;
    execution_.wake(Warp::Wait::products, [](const Warp&) { return true; });
    barriers_.end();
    if (--running_[static_cast<std::size_t>(warp.cta)] == 0) {
        if (!execution_.anybody_left) copies_.unfinished(warp.cta);
        peers_.close(warp.cta);
    }
    barriers_.end_in_cluster();
}

int AbstractExecution::operations() const {
    constexpr int numbers = 16;  // of a state, that take as long as an operation
    return allowed_ - budget_ + written_ / numbers;
}

bool AbstractExecution::complete() const {
    return std::ranges::all_of(execution_.warps,
                               [](const Warp& warp) { return warp.state == Warp::State::ended; });
}

bool AbstractExecution::came_to(const Step* step) const {
    for (std::size_t i = 0; i < executed_.size(); ++i)
        if (executed_[i] && execution_.skeleton.ops[i].step == step) return true;
    return false;
}

// --- what steps read and do ----------------------------------------------------------------------------

std::uint64_t AbstractExecution::special(isa::Special which, int lane) {
    // What the chip alone decides.
    if (isa::is_clock(which) || which == isa::Special::smid || which == isa::Special::gridid)
        return refuse(), 0;
    const Warp& warp = *execution_.warp;
    return machine::special({execution_.sizes.grid, execution_.program.cluster(), execution_.at,
                             static_cast<std::uint32_t>(warp.cta), execution_.program.block(),
                             static_cast<std::uint32_t>(execution_.local(warp)),
                             static_cast<std::uint32_t>(execution_.program.shared_bytes())},
                            which, lane);
}

/// The value of a tensor map is its number, counted from 1; those of other pointers are unknown, unless
/// numbers are loaded from where they point to.
std::uint64_t AbstractExecution::param(int index) {
    const Param& param = execution_.program.params()[static_cast<std::size_t>(index)];
    if (param.box) return static_cast<std::uint64_t>(index) + 1;
    const bool map = param.type == isa::Type::tensormap;  // of a foreign kernel, whose box is unknown
    const bool pointer = param.pointee && !(proof_ && proof_->forms.follows_pointers());
    if (pointer || isa::is_float(param.type) || map || param.structure > 0) return refuse(), 0;
    if (proof_) return proof_->forms.param(index);
    if (static_cast<std::size_t>(index) >= execution_.sizes.params.size()) return refuse(), 0;
    return static_cast<std::uint64_t>(execution_.sizes.params[static_cast<std::size_t>(index)]);
}

std::uint32_t AbstractExecution::shared_address(int buffer) {
    const SharedBuffer& at = execution_.program.shared()[static_cast<std::size_t>(buffer)];
    return sm_90a.shared_base + static_cast<std::uint32_t>(at.offset);
}

void AbstractExecution::load(isa::Space space, const isa::Addresses& address, int, void*, int) {
    peers_.visit(space, address);
    execution_.loads = true;
}

void AbstractExecution::store(isa::Space space, const isa::Addresses& address, int, const void*, int) {
    peers_.visit(space, address);
}

void AbstractExecution::update(isa::Space space, const isa::Addresses& address, int,
                               const std::function<void(int, std::byte*)>&) {
    peers_.visit(space, address);
    execution_.loads = true;
}

void AbstractExecution::mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) {
    mbarriers_.init(address, arrivals);
    if (execution_.shown == nullptr) return;
    for (isa::Mask left = execution_.active; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const auto at = static_cast<std::uint32_t>(address[lane]);
        if (address.knows(lane))
            execution_.shown->overwrite(execution_.warp->cta, at, at + abstract::Mbarrier::bytes);
    }
}

void AbstractExecution::proxy_fence(std::optional<isa::Space> space) {
    if (!machine::ProxyFence(space).orders_shared()) return;
    mbarriers_.announce();
    if (execution_.proves) execution_.publish();
}

/// cp.async.mbarrier.arrive: the copies are complete when the phase is. With `increase`, the arrival cancels
/// out the expected arrival that it adds.
void AbstractExecution::arrive_copies(const isa::Addresses& mbarrier, bool increase) {
    isa::Counts arrivals;
    arrivals.fill(increase ? 0 : 1);
    mbarrier_arrive(mbarrier, {}, arrivals);
}

/// The address of a CTA that does not exist is harmless until it is used.
std::uint32_t AbstractExecution::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

}  // namespace wgrun::check
