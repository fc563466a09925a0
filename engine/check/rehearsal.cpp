// Warps of a rehearsal take turns: each runs until it must wait.
#include "check/rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "program/wait_words.hpp"

namespace wgrun::check {

using isa::lanes;

namespace {
constexpr int most_operations = 1 << 15;
}

Rehearsal::Rehearsal(const Program& program, const Skeleton& skeleton, LaunchSizes sizes, Dim3 cluster)
    : program_(program),
      skeleton_(skeleton),
      sizes_(std::move(sizes)),
      at_(cluster),
      warps_per_cta_((program.threads() + lanes - 1) / lanes),
      warps_(static_cast<std::size_t>(warps_per_cta_) * program.cluster().volume()),
      ctas_(program.cluster().volume()),
      actors_(static_cast<int>(warps_.size())),
      budget_(most_operations),
      executed_(skeleton.ops.size()) {
    waits_.reset(warps_.size());
    cluster_barrier_.reset(warps_.size());
    const auto registers = static_cast<std::size_t>(skeleton.slot_count);
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        Warp& warp = warps_[w];
        warp.number = static_cast<int>(w);
        warp.cta = &ctas_[w / static_cast<std::size_t>(warps_per_cta_)];
        const int threads = program.threads() - static_cast<int>(w) % warps_per_cta_ * lanes;
        warp.all = warp.running = threads >= lanes ? UINT32_MAX : (1U << threads) - 1;
        warp.registers.resize(registers * lanes);
        warp.values.resize(registers);
    }
    for (std::size_t c = 0; c < ctas_.size(); ++c) {
        ctas_[c].rank = static_cast<int>(c);
        ctas_[c].first = static_cast<int>(c) * warps_per_cta_;
        ctas_[c].running = warps_per_cta_;
        ctas_[c].barriers.reset(warps_per_cta_);
        ctas_[c].registers.reset(warps_per_cta_, sm_90a.registers_at_entry(program.threads()));
    }
}

void Rehearsal::run() {
    for (;;) {
        bool any = false;
        for (Warp& warp : warps_) {
            if (warp.state != Warp::State::ready) continue;
            any = true;
            go(warp);
            if (budget_ < 0) return;
        }
        if (any) continue;
        if (!copies_.empty())
            land();
        else if (!look_again())
            return report_stuck();
    }
}

void Rehearsal::go(Warp& warp) {
    warp_ = &warp;
    while (warp.state == Warp::State::ready && --budget_ >= 0) {
        op_ = &skeleton_.ops[warp.pc];
        if (op_->kind == Op::Kind::step)
            step(warp, *op_);
        else if (op_->kind == Op::Kind::end)
            end(warp);
        else
            jump(warp, *op_);
    }
}

/// Returns the active lanes for which the guard or condition of `op` holds; nullopt unless it is known for
/// all of them.
std::optional<isa::Mask> Rehearsal::condition(const Op& op) const {
    const auto at = static_cast<std::size_t>(slot(op.reg));
    if ((warp_->running & ~warp_->values[at]) != 0) return std::nullopt;
    const auto* bits = reinterpret_cast<const std::uint32_t*>(warp_->registers.data() + at * lanes);
    isa::Mask mask = 0;
    for (int l = 0; l < lanes; ++l) mask |= (bits[l] & 1U) << l;
    return (op.negated ? ~mask : mask) & warp_->running;
}

void Rehearsal::jump(Warp& warp, const Op& op) {
    if (op.kind == Op::Kind::jump) return warp.parted.go(op.ways.taken, warp.running, warp.pc);
    const std::optional<isa::Mask> taken = condition(op);
    if (!taken) return leave(warp);
    warp.parted.part(warp.pc, op.ways, *taken, warp.running, warp.pc);
}

bool Rehearsal::sources_known(const Op& op) const {
    const auto known = [&](Reg reg) {
        return (active_ & ~warp_->values[static_cast<std::size_t>(slot(reg))]) == 0;
    };
    const Step& step = *op.step;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::out) continue;
        const Operand& operand = step.operands[i];
        if (operand.kind == Operand::Kind::list ? !std::ranges::all_of(operand.list, known)
                                                : operand.reg && !known(operand.reg))
            return false;
    }
    return true;
}

/// Marks the results of the step as unknown.
void Rehearsal::forget_results(const Op& op) {
    const Step& step = *op.step;
    const auto forget = [&](Reg reg) {
        if (const int at = slot(reg); at >= 0) warp_->values[static_cast<std::size_t>(at)] &= ~active_;
    };
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::in) continue;
        if (step.operands[i].reg) forget(step.operands[i].reg);
        for (Reg reg : step.operands[i].list) forget(reg);
    }
}

void Rehearsal::step(Warp& warp, const Op& op) {
    active_ = warp.running;
    unclear_ = loads_ = false;
    if (op.reg) {
        const std::optional<isa::Mask> guarded = condition(op);
        if (!guarded && op.synchronises) return leave(warp);
        if (guarded)
            active_ = *guarded;
        else
            unclear_ = true;
    }
    if (active_ == 0) {
        ++warp.pc;
        return;
    }
    executed_[warp.pc] = true;
    const bool blind = unclear_ || op.opaque || (!op.synchronises && !sources_known(op));
    try {
        if (op.multiplies)
            multiply(*op.step);
        else if (!blind)
            op.step->op->run(*op.step, *this);
    } catch (const isa::Unknown&) {
        unclear_ = true;
    } catch (const ArgumentError& error) {
        refused(error.finding());
    }
    if (op.synchronises && unclear_) return leave(warp);
    if (blind || unclear_ || loads_) forget_results(op);
    if (warp.state != Warp::State::asleep) ++warp.pc;
}

/// The warp leaves the rehearsal.
void Rehearsal::leave(Warp& warp) {
    warp.state = Warp::State::left;
    anybody_left_ = true;
}

void Rehearsal::end(Warp& warp) {
    const isa::Mask ended = warp.running;
    if (warp.parted.end(warp.running, warp.pc)) {
        warp.all &= ~ended;
        return;
    }
    warp.state = Warp::State::ended;
    fruitless_ = 0;
    Cta& cta = *warp.cta;
    cta.barriers.end(local(warp));
    for (std::uint32_t id = 0; id < cta.barriers.count(); ++id) complete_barrier(cta, id);
    if (--cta.running == 0) close(cta);
    cluster_barrier_.end(warp.number);
    complete_meeting();
}

void Rehearsal::sleep(Warp::Wait wait) {
    warp_->state = Warp::State::asleep;
    warp_->wait = wait;
}

/// `place` learns what the warp knows; later operations of the warp are not included.
void Rehearsal::release(Knowledge& place) {
    warp_->known.learn(warp_->number, warp_->now);
    place.learn(warp_->known);
    ++warp_->now;
}

/// The warp learns what `place` knows, and its lanes learn of each other if they released there.
void Rehearsal::acquire(Warp& warp, const Knowledge& place) {
    warp.known.learn(place);
    warp.gathered = std::max(warp.gathered, place.of(warp.number));
}

// --- what steps read and write -------------------------------------------------------------------------

const void* Rehearsal::read(Reg reg) {
    isa::Mask known = 0;
    const void* data = read_some(reg, known);
    if ((active_ & ~known) != 0) throw isa::Unknown{};
    return data;
}

const void* Rehearsal::read_some(Reg reg, isa::Mask& known) {
    const int at = slot(reg);
    known = at < 0 ? 0 : warp_->values[static_cast<std::size_t>(at)];
    return at < 0 ? nothing_.data() : warp_->registers.data() + static_cast<std::size_t>(at) * lanes;
}

void* Rehearsal::write(Reg reg) {
    const auto at = static_cast<std::size_t>(slot(reg));
    warp_->values[at] |= active_;
    return warp_->registers.data() + at * lanes;
}

std::uint32_t Rehearsal::special(isa::Special which, int lane) {
    return machine::special(
        {sizes_.grid, program_.cluster(), at_, static_cast<std::uint32_t>(warp_->cta->rank),
         static_cast<std::uint32_t>(program_.threads()), static_cast<std::uint32_t>(local(*warp_))},
        which, lane);
}

/// The value of a tensor map is its number, counted from 1; those of other pointers are unknown.
std::uint64_t Rehearsal::param(int index) {
    const Param& param = program_.params()[static_cast<std::size_t>(index)];
    if (param.box) return static_cast<std::uint64_t>(index) + 1;
    if (param.pointee || isa::is_float(param.type)) return refuse(), 0;
    return static_cast<std::uint64_t>(sizes_.params[static_cast<std::size_t>(index)]);
}

std::uint32_t Rehearsal::shared_address(int buffer) {
    return base + static_cast<std::uint32_t>(program_.shared()[static_cast<std::size_t>(buffer)].offset);
}

void Rehearsal::load(isa::Space space, const isa::Addresses& address, int, void*, int) {
    visit(space, address);
    loads_ = true;
}

void Rehearsal::store(isa::Space space, const isa::Addresses& address, int, const void*, int) {
    visit(space, address);
}

void Rehearsal::update(isa::Space space, const isa::Addresses& address, int,
                       const std::function<void(int, std::byte*)>&) {
    visit(space, address);
    loads_ = true;
}

// --- findings ------------------------------------------------------------------------------------------

bool Rehearsal::told(const Rule& rule, const Step* at) const {
    const Where where = at != nullptr ? at->where : program_.where();
    return std::ranges::any_of(findings_, [&](const Diagnostic& finding) {
        return breaks(finding, rule) && finding.where == where;
    });
}

void Rehearsal::add(rules::Saying saying, const Step* at, std::vector<Note> notes) {
    if (told(saying.rule, at)) return;
    std::erase_if(notes, [](const Note& note) { return !note.where; });
    findings_.push_back(
        rules::finding(std::move(saying), at != nullptr ? at->where : program_.where(), std::move(notes)));
}

/// Reports that the current step is illegal as executed.
void Rehearsal::refused(Diagnostic finding) {
    finding.where = op_->step->where;
    if (std::ranges::none_of(findings_, [&](const Diagnostic& told) {
            return told.rule == finding.rule && told.where == finding.where;
        }))
        findings_.push_back(std::move(finding));
}

std::vector<Diagnostic> Rehearsal::first_findings() const {
    std::vector<Diagnostic> out = findings_;
    if (faults_ != 0) out.resize(faults_);
    std::erase_if(out, [&](const Diagnostic& finding) { return finding.rule != findings_.front().rule; });
    return out;
}

bool Rehearsal::complete() const {
    return std::ranges::all_of(warps_, [](const Warp& warp) { return warp.state == Warp::State::ended; });
}

bool Rehearsal::came_to(Where where) const {
    for (std::size_t i = 0; i < executed_.size(); ++i)
        if (executed_[i] && skeleton_.ops[i].where == where) return true;
    return false;
}

/// "`full` + 8"
std::string Rehearsal::place(std::uint32_t offset) const { return wait_words::place(program_, offset); }

/// "warp 3", with its CTA where there are several.
std::string Rehearsal::name(const Warp& warp) const {
    return ctas_.size() == 1 ? fmt::format("warp {}", local(warp))
                             : fmt::format("warp {} of CTA {}", local(warp), warp.cta->rank);
}

}  // namespace wgrun::check
