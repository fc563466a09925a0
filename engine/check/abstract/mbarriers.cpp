#include "check/abstract/mbarriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/order.hpp"
#include "machine/peers.hpp"
#include "program/wait_words.hpp"
#include "rules/barrier_words.hpp"
#include "rules/phase_words.hpp"

namespace wgrun::check::abstract {

using machine::Visible;

Mbarriers::Mbarriers(ExecutionState& execution, Faults& report, Peers& peers)
    : execution_(execution),
      report_(report),
      peers_(peers),
      waiting_(execution.warps.size()),
      asked_(execution.warps.size()),
      actors_(static_cast<int>(execution.warps.size())) {
    for (int rank = 0; rank < execution.ctas; ++rank) ctas_.emplace_back(rank);
}

MbarriersOfCta& MbarriersOfCta::operator=(const MbarriersOfCta& other) {
    if (this == &other) return *this;
    for (; objects.size() > other.objects.size(); objects.pop_back())
        spare_.push_back(std::move(objects.back()));
    for (std::size_t i = 0; i < objects.size(); ++i) *objects[i] = *other.objects[i];
    for (std::size_t i = objects.size(); i < other.objects.size(); ++i) add(*other.objects[i]);
    return *this;
}

Mbarrier& MbarriersOfCta::add(const Mbarrier& mbarrier) {
    if (spare_.empty()) {
        objects.push_back(std::make_unique<Mbarrier>(mbarrier));
    } else {
        objects.push_back(std::move(spare_.back()));
        spare_.pop_back();
        *objects.back() = mbarrier;
    }
    return *objects.back();
}

// --- objects -------------------------------------------------------------------------------------------

MbarriersOfCta* Mbarriers::peer(std::uint64_t& address, int, User user) {
    const std::optional<int> rank = peers_.find(address, user == User::thread);
    return rank ? &ctas_[static_cast<std::size_t>(*rank)] : nullptr;
}

/// An object is initialised by threads of its own CTA.
bool Mbarriers::holds(Cta& cta, std::uint64_t at, bool init) {
    if (!init || isa::window_of(at) == 0) return true;
    const auto place = machine::locate(at, static_cast<std::uint32_t>(cta.rank), ctas_.size());
    const bool nobodys = place.whose == machine::SharedPlace::Whose::nobodys;
    report_.fault(nobodys ? rules::outside_cluster(execution_.name(), place.rank, ctas_.size())
                          : rules::peer_as_own(execution_.name(), at));
    return false;
}

Mbarrier* Mbarriers::object(Cta& cta, std::uint32_t offset) {
    const auto found =
        std::ranges::find_if(cta.objects, [&](const auto& m) { return m->offset() == offset; });
    return found == cta.objects.end() ? nullptr : found->get();
}

std::string Mbarriers::place(std::uint32_t offset, int cta) const {
    return of_cluster() ? fmt::format("{} of CTA {}", place(offset), cta) : place(offset);
}

/// A foreign text has one array without names for all that a launch gives it. Where its mbarriers follow each
/// other at one distance and expect the same arrivals, they are the stages of a ring.
std::string Mbarriers::place(std::uint32_t offset) const {
    const SharedBuffer* const buffer = wait_words::buffer_at(execution_.program, offset);
    std::string out = execution_.place(offset);
    if (buffer == nullptr || buffer->name != "shared" || buffer->tile) return out;
    if (offset != buffer->offset) out = fmt::format("`shared` + {:#x}", offset - buffer->offset);
    const auto& objects = ctas_.front().objects;
    const auto expected = [&](std::int64_t at) -> std::int64_t {
        const auto found = std::ranges::find_if(
            objects, [&](const auto& m) { return m->live() && std::int64_t{m->offset()} == at; });
        return found == objects.end() ? -1 : (*found)->expected();
    };
    const std::int64_t wanted = expected(offset);
    for (const std::int64_t stride : {8, 16}) {
        int before = 0, after = 0;
        while (wanted >= 0 && expected(offset - (before + 1) * stride) == wanted) ++before;
        while (wanted >= 0 && expected(offset + (after + 1) * stride) == wanted) ++after;
        if (before + after > 0)
            return fmt::format("{} (stage {} of {})", out, before + 1, before + after + 1);
    }
    return out;
}

Mbarrier& Mbarriers::create(Cta& cta, std::uint32_t offset) {
    Mbarrier& mbarrier = cta.add(Mbarrier(offset, actors_++));
    mbarrier.cta = cta.rank;
    return mbarrier;
}

void Mbarriers::made(Cta&, Mbarrier& mbarrier, int) {
    mbarrier.known_to_warp = false;
    mbarrier.brought = nullptr;
    execution_.warp->known.learn(mbarrier.actor(), mbarrier.clock());
}

void Mbarriers::announce() {
    for (auto& mbarrier : own().objects)
        if (const auto clock = mbarrier->announce(warp(), active()))
            execution_.warp->known.learn(mbarrier->actor(), *clock);
}

void Mbarriers::release_announced(Knowledge& place) const {
    for (const Cta& cta : ctas_)
        for (const auto& mbarrier : cta.objects)
            if (mbarrier->published(known_to_warp(*mbarrier)) == Visible::to_async)
                place.learn(mbarrier->actor(), mbarrier->announced());
    place.learn(execution_.warp->fenced);
}

void Mbarriers::announced_to_warp(const Knowledge& met) {
    for (const auto& mbarrier : own().objects)
        if (mbarrier->made().warp == warp())
            mbarrier->known_to_warp |= mbarrier->published(met.of(mbarrier->actor())) == Visible::to_async;
}

// --- faults --------------------------------------------------------------------------------------------

void Mbarriers::fault(rules::RuleMessage message, std::uint32_t other, std::string_view note) {
    fault_at(pc(), std::move(message), other, note);
}

void Mbarriers::fault_at(std::uint32_t pc, rules::RuleMessage message, std::uint32_t other,
                         std::string_view note) {
    std::vector<Note> notes;
    if (other != machine::no_pc) notes.push_back({where(other), std::string(note)});
    report_.add(std::move(message), execution_.step(pc), std::move(notes));
}

void Mbarriers::misaligned(std::uint64_t address) {
    const auto offset = (static_cast<std::uint32_t>(address) & isa::peer_window) - sm_90a.shared_base;
    report_.fault(wait_words::mbarrier_misaligned(execution_.program, place(offset), offset));
}

/// A warp that has left may have initialised it.
void Mbarriers::absent(const Cta& cta, std::uint32_t offset) {
    if (execution_.anybody_left)
        execution_.refuse();
    else
        report_.fault(rules::mbarrier_absent(place(offset, cta.rank)));
}

/// Another lane of this warp may have initialised it, and the lanes have not converged since.
std::optional<std::string> Mbarriers::unpublished(const Mbarrier& mbarrier, int lane) const {
    const Mbarrier::Maker& by = mbarrier.made();
    if (by.warp == warp() && by.lane != lane && !mbarrier.known_to_warp &&
        by.clock > execution_.warp->gathered)
        return "the other lanes of " + who();
    if (mbarrier.published(known_to_warp(mbarrier)) == Visible::not_yet) return who();
    return std::nullopt;
}

void Mbarriers::early(const Mbarrier& mbarrier, rules::RuleMessage message) {
    if (const machine::LetThrough* wait = execution_.waits.to_blame(warp(), mbarrier))
        return blame(*wait, {execution_.op->where, std::move(message.text)});
    fault(std::move(message), mbarrier.made().pc, initialised_here);
}

// --- phases --------------------------------------------------------------------------------------------

void Mbarriers::arrives(Cta&, Mbarrier& mbarrier, int, isa::Mask) {
    if (!isa::arrival_order(*execution_.op->step).release)
        arrives_relaxed(mbarrier);
    else if (std::exchange(released_, true))
        mbarrier.arriving.learn(execution_.warp->known);
    else
        execution_.release(mbarrier.arriving);
}

/// It passes on which phases the warp knows to be complete.
void Mbarriers::arrives_relaxed(Mbarrier& mbarrier) const {
    for (const Cta& cta : ctas_)
        for (const auto& other : cta.objects)
            if (const std::uint32_t known = known_to_warp(*other); other->passed_on(known))
                mbarrier.arriving.learn(other->actor(), known);
    release_announced(mbarrier.arriving);
}

/// In a proof: a phase is complete only when all that waited for the one before it have found that complete.
/// Else a wait might find its parity again, and stay.
void Mbarriers::overtakes(const Mbarrier& mbarrier) {
    if (execution_.overtaken || mbarrier.arriving.includes(mbarrier.waited)) return;
    execution_.overtaken = Stop{
        execution_.op->where,
        fmt::format(
            "the proof knows of nothing that orders the waits for a phase of {} before the next phase is "
            "complete: a warp that comes late may find neither",
            place(mbarrier))};
}

void Mbarriers::turned(Cta&, Mbarrier& mbarrier) {
    if (execution_.proves) {
        overtakes(mbarrier);
        mbarrier.waited.clear();
        mbarrier.complete.memory.learn(landed_at(mbarrier.actor(), execution_.warps.size()),
                                       mbarrier.clock());
    }
    mbarrier.complete.learn(mbarrier.arriving);
    mbarrier.complete.learn(mbarrier.actor(), mbarrier.clock());
    mbarrier.arriving.clear();
    execution_.wake(Warp::Wait::mbarrier, [&](const Warp& warp) {
        const Mbarrier* its = waited_for(warp);
        return its == &mbarrier || its == nullptr;
    });
}

std::uint64_t Mbarriers::aged(std::uint64_t token, int cta) const {
    const std::optional<isa::State> state = isa::state_of(token);
    if (!state) return token;
    for (const auto& object : of(cta).objects)
        if (object->offset() == state->offset)
            return isa::token({state->offset, state->age(object->phase()), state->pending});
    return token;
}

void Mbarriers::wait_begins() {
    past_.clear();
    waiting() = {};
    if (!execution_.proves) return;
    if (asks()) asked() = {nullptr, 0, execution_.active};
    if (execution_.op->attempt == Attempt::other)
        execution_.stop(execution_.op->where,
                        "it may return before the phase is complete, and what follows then is not followed");
}

void Mbarriers::passes(Cta&, Mbarrier& mbarrier, int) {
    if (past_.empty() || past_.back() != &mbarrier) past_.push_back(&mbarrier);
    if (!execution_.proves) return;
    mbarrier.waited.learn(execution_.warp->number, execution_.warp->now);
    if (execution_.op->answers) answers(mbarrier);
}

void Mbarriers::ask(const Mbarrier& mbarrier, std::int64_t parity) {
    const std::uint32_t phase = mbarrier.phase() - (mbarrier.is_complete(parity) ? 1 : 0);
    Asked& its = asked();
    const bool first = its.mbarrier == nullptr && its.lanes != 0;
    its = first || (its.mbarrier == &mbarrier && its.phase == phase) ? Asked{&mbarrier, phase, its.lanes}
                                                                     : Asked();
}

/// Lanes whose attempt found the phase complete do not come here. So the phase has to be the same.
void Mbarriers::answers(const Mbarrier& mbarrier) {
    const Asked& its = asked();
    if (its.mbarrier != &mbarrier || its.phase + 1 != mbarrier.phase() ||
        (execution_.active & ~its.lanes) != 0)
        execution_.stop(execution_.op->where, "it may wait for another phase than was asked for before");
}

void Mbarriers::blocked(Mbarrier& mbarrier, std::int64_t parity) {
    if (asks()) return ask(mbarrier, parity);
    Waiting& wait = waiting();
    wait.several |= wait.mbarrier != nullptr && wait.mbarrier != &mbarrier;
    wait.mbarrier = &mbarrier;
    wait.parity = parity;
}

bool Mbarriers::returns(isa::Mask complete) {
    const isa::MemoryOrder order = isa::order_of(*execution_.op->step);
    for (const Mbarrier* mbarrier : past_) {
        if (order.strong && !order.acquire) {
            execution_.warp->known.learn(mbarrier->actor(), mbarrier->clock());
            execution_.warp->seen.learn(mbarrier->complete);
        } else {
            execution_.acquire(*execution_.warp, mbarrier->complete);
        }
    }
    if (execution_.op->answers && (asked().lanes &= ~complete) == 0) asked() = {};
    if (complete != 0 || execution_.unclear || asks()) return true;
    if (std::exchange(execution_.warp->give_up, false)) {
        if (execution_.op->attempt != Attempt::again) execution_.given_up.insert(execution_.op->step);
        return true;
    }
    if (waiting().several) waiting().mbarrier = nullptr;
    execution_.sleep(Warp::Wait::mbarrier);
    return false;
}

void Mbarriers::wrong_wait(Mbarrier& mbarrier, rules::RuleMessage message) {
    skips(std::move(message), pc(), {where(mbarrier.made().pc), std::string(initialised_here)});
}

void Mbarriers::skipped(Mbarrier& mbarrier, std::int64_t parity) {
    rules::RuleMessage message =
        rules::phase_skipped(who(), place(mbarrier), mbarrier.phase(), parity, mbarrier.is_complete(parity));
    if (const machine::LetThrough* wait = execution_.waits.repeated(warp()))
        return blame(*wait, {execution_.op->where, std::move(message.text)});
    skips(std::move(message), pc(), {where(mbarrier.made().pc), std::string(initialised_here)});
}

/// Reports a skipped phase, unless one is reported already: further ones are consequences.
void Mbarriers::skips(rules::RuleMessage message, std::uint32_t wait, Note note) {
    if (!report_.reported_anywhere(message.rule))
        report_.add(std::move(message), execution_.step(wait), {std::move(note)});
}

bool Mbarriers::let_through(const machine::LetThrough* wait, const Step* copy) {
    if (wait == nullptr) return false;
    blame(*wait, {copy->where, fmt::format("the bytes of phase {} are copied here", wait->phase)});
    return true;
}

void Mbarriers::blame(const machine::LetThrough& wait, Note consequence) {
    skips(rules::let_through(place(wait.offset), wait.phase, wait.parity), wait.pc, std::move(consequence));
}

// --- copies --------------------------------------------------------------------------------------------

Mbarrier* Mbarriers::count(int cta, std::uint64_t address, User user, int lane) {
    return find_for(ctas_[static_cast<std::size_t>(cta)], address, user, lane).object;
}

void Mbarriers::begin_copy(Mbarrier& mbarrier, std::optional<std::int64_t> bytes) {
    mbarrier.arriving.learn(execution_.warp->known, static_cast<int>(execution_.warps.size()));
    mbarrier.brought = execution_.op->step;
    mbarrier.landed = mbarrier.next();
    if (bytes)
        mbarrier.begin_copy(*bytes, pc(), execution_.warp->cta != mbarrier.cta);
    else
        mbarrier.begin_unsized(pc());
}

void Mbarriers::settle() {
    for (Cta& cta : ctas_)
        for (const auto& object : cta.objects)
            if (object->brought != nullptr &&
                execution_.known_in(cta.rank, object->actor(), object->landed)) {
                object->brought = nullptr;
                object->landed = 0;
            }
}

void Mbarriers::land(Mbarrier& mbarrier, std::optional<std::int64_t> bytes, std::uint32_t phase,
                     std::uint32_t pc) {
    Cta& cta = ctas_[static_cast<std::size_t>(mbarrier.cta)];
    if (bytes)
        MbarrierUnit::land(cta, mbarrier, *bytes, phase, pc);
    else
        MbarrierUnit::land_unsized(cta, mbarrier, phase, pc);
}

}  // namespace wgrun::check::abstract
