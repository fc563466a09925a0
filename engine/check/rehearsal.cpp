// Warps of a rehearsal take turns: each runs until it must wait.
#include "check/rehearsal.hpp"

#include <algorithm>
#include <utility>

#include "isa/peer_window.hpp"
#include "machine/seat.hpp"

namespace wgrun::check {

namespace {
constexpr int most_operations = 1 << 15, most_of_a_proof = 1 << 18;
}

Rehearsal::Rehearsal(const Program& program, const Skeleton& skeleton, LaunchSizes sizes, Dim3 cluster)
    : scene_(program, skeleton, std::move(sizes), cluster),
      report_(scene_),
      values_(scene_),
      peers_(scene_, report_),
      mbarriers_(scene_, report_, peers_),
      barriers_(scene_, report_, mbarriers_),
      contents_(scene_),
      products_(scene_, report_, values_, mbarriers_, contents_),
      copies_(scene_, report_, peers_, mbarriers_, contents_, products_),
      pool_(scene_, report_),
      stuck_(scene_, report_, mbarriers_, barriers_, pool_),
      running_(static_cast<std::size_t>(scene_.ctas), scene_.warps_per_cta),
      allowed_(most_operations),
      budget_(most_operations),
      executed_(skeleton.ops.size()) {}

Rehearsal::Rehearsal(const Program& program, const Skeleton& skeleton, const rehearsal::Live& live,
                     rehearsal::Symbols& symbols, Gaps* gaps)
    : Rehearsal(program, skeleton, LaunchSizes{symbols.place ? symbols.place->grid : program.cluster(), {}},
                symbols.place ? symbols.place->at : Dim3{0, 0, 0}) {
    proof_ = std::make_unique<Proof>(scene_, values_, *this, live, mbarriers_, symbols, gaps);
    scene_.shared = proof_->shared ? &*proof_->shared : nullptr;
    scene_.proves = true;
    budget_ = allowed_ = most_of_a_proof;
}

void Rehearsal::limit(std::int64_t operations, const Budget& of) {
    budget_ = allowed_ = static_cast<int>(std::clamp<std::int64_t>(operations, 0, allowed_));
    of_ = &of;
}

rehearsal::Encoded Rehearsal::state() const {
    rehearsal::Encoder to(static_cast<int>(scene_.warps.size()));
    const int actors = mbarriers_.actors();
    scene_.encode(to, actors);
    mbarriers_.encode(to);
    barriers_.encode(to, actors);
    contents_.encode(to);
    products_.encode(to);
    copies_.encode(to);
    pool_.encode(to);
    peers_.encode(to);
    if (scene_.shared != nullptr) scene_.shared->encode(to);
    return std::move(to).finish();
}

void Rehearsal::run() {
    for (;;) {
        if (of_ != nullptr) of_->poll();
        if (proof_) {
            if (scene_.stopped) return;
            if (loops_ == nullptr) {
                rehearsal::Encoded now = state();
                written_ += static_cast<int>(now.numbers.size());
                if (proof_->recurrence.round(std::move(now))) {
                    proof_->again = true;
                    return;
                }
            }
        }
        bool any = false;
        for (Warp& warp : scene_.warps) {
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
            if (!complete()) scene_.stop(scene_.program.where(), "a wait does not end");
            return stuck_.report();
        }
        if (!stuck_.look_again()) return stuck_.report();
    }
}

void Rehearsal::go(Warp& warp) {
    scene_.warp = &warp;
    while (warp.state == Warp::State::ready && --budget_ >= 0) {
        const Op& op = scene_.skeleton.ops[warp.pc];
        scene_.op = &op;
        if (op.kind == Op::Kind::step)
            step(warp, op);
        else if (op.kind == Op::Kind::end)
            end(warp);
        else
            jump(warp, op);
    }
}

void Rehearsal::jump(Warp& warp, const Op& op) {
    if (op.kind == Op::Kind::jump) return warp.parted.go(op.ways.taken, warp.running, warp.pc);
    std::optional<isa::Mask> taken = values_.condition(op);
    if (!taken && op.goes_on >= 0) taken = op.goes_on == 0 ? warp.running : 0;
    if (!taken) return leave(warp);
    warp.parted.part(warp.pc, op.ways, *taken, warp.running, warp.pc);
}

void Rehearsal::compute(const Op& op) {
    if (!proof_) return op.step->op->run(*op.step, *this);
    if (op.step->op->effects == nullptr) return proof_->forms.compute(op);
    proof_->forms.use(op);
    op.step->op->run(*op.step, *this);
    proof_->forms.forget(op);
}

void Rehearsal::step(Warp& warp, const Op& op) {
    scene_.active = warp.running;
    scene_.began = warp.now;
    scene_.unclear = scene_.loads = false;
    if (op.reg) {
        const std::optional<isa::Mask> guarded = values_.condition(op);
        if (!guarded && op.synchronises) return leave(warp);
        if (guarded)
            scene_.active = *guarded;
        else
            scene_.unclear = true;
    }
    if (scene_.active == 0) {
        ++warp.pc;
        return;
    }
    if (loops_ != nullptr && parks(warp, op)) return;
    executed_[warp.pc] = true;
    if (op.traps) {
        // What follows is not executed.
        if (!scene_.unclear) return leave(warp);
        ++warp.pc;
        return;
    }
    if (scene_.shared != nullptr && op.touches) {
        proof_->forms.use_addresses(op);
        if (scene_.unclear)
            scene_.shared->lost("whether it is executed is not known before a launch");
        else
            scene_.shared->access(*op.step);
    }
    const bool blind = scene_.unclear || op.opaque || op.only_touches() ||
                       (!op.synchronises && !op.may_visit && !values_.sources_known(op));
    try {
        if (op.multiplies) {
            if (proof_) proof_->forms.use(op);
            pool_.fits();
            products_.step();
        } else if (!blind) {
            compute(op);
        }
    } catch (const isa::Unknown&) {
        scene_.unclear = true;
    } catch (const ArgumentError& error) {
        report_.refused(error.finding());
    }
    if (op.synchronises && scene_.unclear) return leave(warp);
    if (blind || scene_.unclear || scene_.loads) {
        values_.forget_results(op);
        if (proof_) proof_->forms.forget(op);
    }
    if (warp.state != Warp::State::asleep) ++warp.pc;
}

// --- cuts ----------------------------------------------------------------------------------------------

bool Rehearsal::parks(Warp& warp, const Op& op) {
    const std::optional<Warp::Parked> compared = proof_->forms.compared(op);
    if (!compared || std::exchange(warp.goes_on, false)) return false;
    warp.state = Warp::State::parked;
    warp.parked = *compared;
    return true;
}

bool Rehearsal::at_cut() const {
    return std::ranges::any_of(scene_.warps,
                               [](const Warp& warp) { return warp.state == Warp::State::parked; });
}

void Rehearsal::go_on() {
    const auto order = [&](const Warp& warp) {
        return std::tuple(loops_->depth(warp.pc), -warp.parked.root, warp.parked.left);
    };
    const Warp* first = nullptr;
    for (const Warp& warp : scene_.warps)
        if (warp.state == Warp::State::parked && (first == nullptr || order(warp) > order(*first)))
            first = &warp;
    if (first == nullptr) return;
    const auto with = order(*first);
    for (Warp& warp : scene_.warps)
        if (warp.state == Warp::State::parked && order(warp) == with) {
            warp.state = Warp::State::ready;
            warp.goes_on = true;
        }
}

bool Rehearsal::any_in(const rehearsal::Loops::Loop& loop) const {
    return std::ranges::any_of(scene_.warps, [&](const Warp& warp) {
        return warp.state != Warp::State::ended && loop.contains(warp.pc);
    });
}

rehearsal::Cut Rehearsal::cut() {
    rehearsal::Cut out;
    out.code = state();
    written_ += static_cast<int>(out.code.numbers.size());
    for (const std::uint64_t number : out.code.numbers)
        out.hash = (out.hash ^ number) * 0x9E3779B97F4A7C15U + (out.hash >> 29);
    out.registers = registers();
    return out;
}

std::vector<rehearsal::Register> Rehearsal::registers() {
    return rehearsal::live_registers(scene_, values_, proof_->live, mbarriers_, proof_->forms);
}

/// What decides how it goes on, in all its parts.
auto Rehearsal::parts() {
    return std::tuple_cat(scene_.state(), values_.state(), peers_.state(), mbarriers_.state(),
                          barriers_.state(), contents_.state(), products_.state(), copies_.state(),
                          pool_.state(), proof_->forms.state(), std::tie(running_));
}

namespace {

template <class... Parts>
std::tuple<Parts...> copied(const std::tuple<Parts&...>& parts) {
    return parts;
}

}  // namespace

class Rehearsal::Saved {
  public:
    explicit Saved(Rehearsal& of) : parts(copied(of.parts())) {
        if (of.proof_->shared) shared.emplace(copied(of.proof_->shared->state()));
    }
    decltype(copied(std::declval<Rehearsal&>().parts())) parts;
    std::optional<decltype(copied(std::declval<rehearsal::SharedMemory&>().state()))> shared{};
};

std::shared_ptr<const Rehearsal::Saved> Rehearsal::save() { return std::make_shared<Saved>(*this); }

void Rehearsal::restore(const Saved& saved) {
    parts() = saved.parts;
    if (saved.shared) proof_->shared->state() = *saved.shared;
}

/// The warp leaves the rehearsal.
void Rehearsal::leave(Warp& warp) {
    scene_.stop(scene_.skeleton.ops[warp.pc].where,
                "what is synchronised here depends on a value that is not known before a launch");
    warp.state = Warp::State::left;
    scene_.anybody_left = true;
    scene_.wake(Warp::Wait::products, [](const Warp&) { return true; });
}

void Rehearsal::end(Warp& warp) {
    const isa::Mask ended = warp.running;
    if (scene_.shared != nullptr) scene_.shared->end(ended);
    if (warp.parted.end(warp.running, warp.pc)) {
        warp.all &= ~ended;
        return;
    }
    warp.state = Warp::State::ended;
    scene_.wake(Warp::Wait::products, [](const Warp&) { return true; });
    barriers_.end();
    if (--running_[static_cast<std::size_t>(warp.cta)] == 0) {
        if (!scene_.anybody_left) copies_.unfinished(warp.cta);
        peers_.close(warp.cta);
    }
    barriers_.end_in_cluster();
}

int Rehearsal::operations() const {
    constexpr int numbers = 16;  // of a state, that take as long as an operation
    return allowed_ - budget_ + written_ / numbers;
}

bool Rehearsal::complete() const {
    return std::ranges::all_of(scene_.warps,
                               [](const Warp& warp) { return warp.state == Warp::State::ended; });
}

bool Rehearsal::came_to(const Step* step) const {
    for (std::size_t i = 0; i < executed_.size(); ++i)
        if (executed_[i] && scene_.skeleton.ops[i].step == step) return true;
    return false;
}

// --- what steps read and do ----------------------------------------------------------------------------

std::uint64_t Rehearsal::special(isa::Special which, int lane) {
    // What the chip alone decides.
    if (isa::is_clock(which) || which == isa::Special::smid || which == isa::Special::gridid)
        return refuse(), 0;
    const Warp& warp = *scene_.warp;
    return machine::special(
        {scene_.sizes.grid, scene_.program.cluster(), scene_.at, static_cast<std::uint32_t>(warp.cta),
         scene_.program.block(), static_cast<std::uint32_t>(scene_.local(warp)),
         static_cast<std::uint32_t>(scene_.program.shared_bytes())},
        which, lane);
}

/// The value of a tensor map is its number, counted from 1; those of other pointers are unknown.
std::uint64_t Rehearsal::param(int index) {
    const Param& param = scene_.program.params()[static_cast<std::size_t>(index)];
    if (param.box) return static_cast<std::uint64_t>(index) + 1;
    const bool map = param.type == isa::Type::tensormap;  // of a foreign kernel, whose box is unknown
    if (param.pointee || isa::is_float(param.type) || map || param.structure > 0) return refuse(), 0;
    if (proof_) return proof_->forms.param(index);
    if (static_cast<std::size_t>(index) >= scene_.sizes.params.size()) return refuse(), 0;
    return static_cast<std::uint64_t>(scene_.sizes.params[static_cast<std::size_t>(index)]);
}

std::uint32_t Rehearsal::shared_address(int buffer) {
    const SharedBuffer& at = scene_.program.shared()[static_cast<std::size_t>(buffer)];
    return sm_90a.shared_base + static_cast<std::uint32_t>(at.offset);
}

void Rehearsal::load(isa::Space space, const isa::Addresses& address, int, void*, int) {
    peers_.visit(space, address);
    scene_.loads = true;
}

void Rehearsal::store(isa::Space space, const isa::Addresses& address, int, const void*, int) {
    peers_.visit(space, address);
}

void Rehearsal::update(isa::Space space, const isa::Addresses& address, int,
                       const std::function<void(int, std::byte*)>&) {
    peers_.visit(space, address);
    scene_.loads = true;
}

void Rehearsal::proxy_fence(std::optional<isa::Space> space) {
    if (!machine::ProxyFence(space).orders_shared()) return;
    mbarriers_.announce();
    if (scene_.proves) scene_.publish();
}

/// cp.async.mbarrier.arrive: the copies are complete when the phase is. With `increase`, the arrival cancels
/// out the expected arrival that it adds.
void Rehearsal::arrive_copies(const isa::Addresses& mbarrier, bool increase) {
    isa::Counts arrivals;
    arrivals.fill(increase ? 0 : 1);
    mbarrier_arrive(mbarrier, {}, arrivals);
}

/// The address of a CTA that does not exist is harmless until it is used.
std::uint32_t Rehearsal::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

}  // namespace wgrun::check
