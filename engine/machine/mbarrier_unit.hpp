// The instructions on mbarriers (PTX ISA 9.7.13.15), lane by lane: which object an address names, what the
// lanes of a step do to one object or to several, what is wrong with that, and when a phase turns.
//
// The abstract execution and the simulator derive from it. They know where objects are, what warps and
// threads know, who sleeps and who wakes up, and how a fault is reported.
#pragma once

#include <bit>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "isa/machine.hpp"
#include "isa/token.hpp"
#include "machine/driver.hpp"
#include "machine/lanes.hpp"
#include "machine/waits.hpp"
#include "rules/mbarrier_words.hpp"
#include "rules/phase_words.hpp"
#include "wgrun/target.hpp"

namespace wgrun::machine {

/// On whose behalf an mbarrier is accessed.
enum class MbarrierUser : std::uint8_t { thread, engine, async_store };

/// Knows the lanes of its step.
template <class Driver>
concept DrivesLanes = requires(Driver& driver, int lane) {
    { driver.active() } -> std::same_as<isa::Mask>;
    { driver.warps_per_cta() } -> std::same_as<int>;
    { driver.now() } -> std::same_as<std::uint32_t>;
    driver.lane(lane);  // what follows is done by this lane
    driver.unknown();   // the step depends on a value that is not known
};

/// Knows where mbarriers are.
template <class Driver, class Object, class Cta>
concept FindsMbarriers = requires(Driver& driver, Cta& cta, Object& object, std::uint64_t address,
                                  std::uint32_t offset, int lane, MbarrierUser user, bool init) {
    // As machine::locate; null after a report.
    { driver.peer(address, lane, user) } -> std::same_as<Cta*>;
    // Is this memory? False after a report.
    { driver.holds(cta, address, init) } -> std::same_as<bool>;
    // Live or ended, or null.
    { driver.object(cta, offset) } -> std::same_as<Object*>;
    { driver.create(cta, offset) } -> std::same_as<Object&>;
    driver.made(cta, object, lane);  // it has been initialised
};

/// Knows what lanes know of mbarriers.
template <class Driver, class Object>
concept KnowsMbarriers = requires(Driver& driver, const Object& object, int lane) {
    // It is known what the warp knows: orders are checked.
    { driver.watches() } -> std::same_as<bool>;
    // The clock of the object that the lane knows, and that any lane of the warp does.
    { driver.known(object, lane) } -> std::same_as<std::uint32_t>;
    { driver.known_to_warp(object) } -> std::same_as<std::uint32_t>;
    // Who does not know of the init.
    { driver.unpublished(object, lane) } -> std::same_as<std::optional<std::string>>;
};

/// Says what is wrong with them.
template <class Driver, class Object, class Cta>
concept ReportsMbarriers = requires(Driver& driver, const Cta& cta, Object& object, const Object& of,
                                    std::uint64_t address, std::uint32_t offset, std::uint32_t pc,
                                    std::int64_t parity, rules::RuleMessage message, std::string_view note) {
    { driver.who() } -> std::same_as<std::string>;
    { driver.place(offset) } -> std::same_as<std::string>;  // of the CTA itself
    { driver.place(of) } -> std::same_as<std::string>;      // also of which CTA, in a cluster
    { driver.where(pc) } -> std::same_as<Where>;
    { driver.of_cluster() } -> std::same_as<bool>;
    driver.fault_at(pc, message);
    driver.fault_at(pc, message, pc, note);
    driver.misaligned(address);
    driver.absent(cta, offset);
    driver.early(of, message);
    { driver.reported(of) } -> std::same_as<bool>;  // WG-MBAR-02 has been reported here
    driver.wrong_wait(object, message);
    driver.skipped(object, parity);  // WG-MBAR-06
};

/// Carries on what warps learn from them, who sleeps and who wakes up.
template <class Driver, class Object, class Cta>
concept FollowsMbarriers = requires(Driver& driver, Cta& cta, Object& object, int lane, isa::Mask lanes,
                                    std::int64_t parity) {
    driver.arrivals_begin();
    driver.arrives(cta, object, lane, lanes);  // it releases there, with the lanes that arrive at the same
    driver.turned(cta, object);                // its phase has completed
    driver.wait_begins();
    driver.passes(cta, object, lane);
    // The phase is complete, but the lane has not learnt of it, and asks before it is.
    { driver.comes_too_soon(object, lane) } -> std::same_as<bool>;
    driver.blocked(object, parity);
    // The wait ends here, also without success.
    { driver.returns(lanes) } -> std::same_as<bool>;
};

template <class Driver, class Object, class Cta>
concept MbarrierDriver =
    StepDriver<Driver, Cta> && DrivesLanes<Driver> && std::derived_from<Object, Mbarrier> &&
    FindsMbarriers<Driver, Object, Cta> && KnowsMbarriers<Driver, Object> &&
    ReportsMbarriers<Driver, Object, Cta> && FollowsMbarriers<Driver, Object, Cta>;

/// Driver derives from this (CRTP), and is a MbarrierDriver; a Cta has objects.
template <class Driver, class Object, class Cta>
class MbarrierUnit {
  public:
    MbarrierUnit() { static_assert(MbarrierDriver<Driver, Object, Cta>); }

    void init(const isa::Addresses& address, const isa::Counts& arrivals) {
        for_each_lane([&](int lane, std::size_t l, isa::Mask) {
            if (!address.knows(l) || !arrivals.knows(l)) return self().unknown();
            const std::uint64_t at = address[l];
            if (at % Mbarrier::bytes != 0) return self().misaligned(at);
            Cta& cta = self().own();
            if (!self().holds(cta, at, true)) return;
            const std::uint32_t offset = offset_of(at);
            Object* object = self().object(cta, offset);
            if (object != nullptr && object->live()) {
                const bool same =
                    object->made().pc == self().pc() && object->is_new() && object->expected() == arrivals[l];
                self().fault(rules::mbarrier_made_again(self().place(offset), same), object->made().pc,
                             initialised_here);
            }
            if (object == nullptr) object = &self().create(cta, offset);
            if (!object->init(arrivals[l], self().warps_per_cta(),
                              {self().warp(), lane, self().now(), self().pc()}))
                self().fault(
                    rules::too_many_arrivals_asked(self().place(offset), arrivals[l], Mbarrier::most));
            self().waits().forget(*object);
            self().made(cta, *object, lane);
        });
    }

    void inval(const isa::Addresses& address) {
        for_each_lane([&](int lane, std::size_t l, isa::Mask) {
            if (!address.knows(l)) return self().unknown();
            const Found found = find(address[l], MbarrierUser::thread, lane);
            if (found.object == nullptr) return;
            if (found.object->in_flight() != 0)
                self().fault(
                    rules::mbarrier_ended_early(self().place(*found.object), found.object->in_flight()),
                    found.object->copied_at(), copied_here);
            found.object->end();
        });
    }

    /// Each lane expects `bytes`, then arrives `arrivals` times. Returns the states before the arrivals.
    isa::Tokens arrive(const isa::Addresses& address, const isa::Counts& bytes, const isa::Counts& arrivals,
                       isa::Arrival how = {}) {
        isa::Tokens tokens{};
        self().arrivals_begin();
        for_each_lane([&](int lane, std::size_t l, isa::Mask left) {
            if (!address.knows(l) || !bytes.knows(l) || !arrivals.knows(l)) return self().unknown();
            const Found found = find(address[l], MbarrierUser::thread, lane);
            if (found.object == nullptr) return;
            Object& object = *found.object;
            self().progress();
            check_phase_known(object, lane, "arrives at");
            tokens[l] =
                isa::token({object.offset(), object.phase(), static_cast<std::uint32_t>(object.pending())});
            if (!object.arrive(arrivals[l], self().pc())) return too_many(object, arrivals[l]);
            if (bytes[l] != 0) check_bytes(object, object.expect(bytes[l], self().pc()), self().pc());
            if (arrivals[l] != 0)
                self().arrives(*found.cta, object, lane, lanes_at(address, left, address[l]));
            if (how.drops) object.drop(arrivals[l]);
            self().waits().arrives_at(self().warp(), object);
            if (turn(*found.cta, object) && !how.completes)
                self().fault(rules::arrival_completes(self().who(), self().place(object)));
        });
        self().waits().arrives(self().warp());
        return tokens;
    }

    /// Each lane delivers `bytes`, as a copy does.
    void deliver(const isa::Addresses& address, const isa::Counts& bytes) {
        for_each_lane([&](int lane, std::size_t l, isa::Mask) {
            if (!address.knows(l) || !bytes.knows(l)) return self().unknown();
            const Found found = find(address[l], MbarrierUser::thread, lane);
            if (found.object == nullptr) return;
            self().progress();
            check_phase_known(*found.object, lane, "completes bytes of");
            check_bytes(*found.object, found.object->deliver(bytes[l]), self().pc());
            turn(*found.cta, *found.object);
        });
    }

    /// As isa::Machine::mbarrier_wait; nothing: the warp is to sleep.
    std::optional<isa::Mask> wait(const isa::Addresses& address, const isa::Counts& parity,
                                  const isa::Tokens* state) {
        isa::Mask complete = 0;
        const Object* watched = nullptr;
        Found found;
        std::optional<std::uint64_t> at;  // of the lane before: most waits are of a whole warp for one object
        self().wait_begins();
        for_each_lane([&](int lane, std::size_t l, isa::Mask) {
            if (!address.knows(l) || !parity.knows(l)) return self().unknown();
            if (std::exchange(at, address[l]) != address[l])
                found = find(address[l], MbarrierUser::thread, lane);
            else if (found.object != nullptr)
                check_published(*found.object, MbarrierUser::thread, lane);
            Object* object = found.object;
            if (object != nullptr && found.cta != &self().own()) {
                self().fault(rules::waits_for_foreign_mbarrier(self().who()));
            } else if (object != nullptr) {
                if (std::exchange(watched, object) != object)
                    watch_phase(*object, parity[l], state == nullptr ? nullptr : &(*state)[l]);
                if (!object->is_complete(parity[l]) || self().comes_too_soon(*object, lane))
                    return self().blocked(*object, parity[l] & 1);
                self().passes(*found.cta, *object, lane);
            }
            complete |= isa::Mask{1} << lane;
        });
        if (self().returns(complete)) return complete;
        return std::nullopt;
    }

  protected:
    struct Found {
        Cta* cta = nullptr;
        Object* object = nullptr;
    };

    /// Returns the object that the lane names. Faults are reported; null if the lane cannot go on.
    Found find(std::uint64_t address, MbarrierUser user, int lane) {
        Cta* cta = self().peer(address, lane, user);
        if (cta == nullptr) return {};
        if (address % Mbarrier::bytes != 0) return self().misaligned(address), Found{};
        if (!self().holds(*cta, address, false)) return {};
        const std::uint32_t offset = offset_of(address);
        Object* object = self().object(*cta, offset);
        if (object == nullptr || !object->live()) return self().absent(*cta, offset), Found{};
        check_published(*object, user, lane);
        return {cta, object};
    }

    /// The object that is to count bytes that come to shared memory of `cta`, or null after a report.
    Found find_for(Cta& cta, std::uint64_t address, MbarrierUser user, int lane) {
        const Found found = find(address, user, lane);
        if (found.object == nullptr) return {};
        if (found.cta != &cta) return self().fault(rules::mbarrier_apart_from_bytes()), Found{};
        check_phase_known(*found.object, lane, user == MbarrierUser::engine ? "copies into" : "stores for",
                          !found.object->has_copied());
        return found;
    }

    /// What belongs to a phase comes after the completion of the phase before: a thread has waited for that,
    /// and the lane knows it. Otherwise it might count for the phase before.
    void check_phase_known(const Object& object, int lane, std::string_view what, bool first_copy = false) {
        if (!self().watches() || !object.is_early(self().known(object, lane))) return;
        self().early(object, rules::phase_not_awaited(self().who(), what, object.phase(),
                                                      self().place(object), first_copy));
    }

    void too_many(const Object& object, std::int64_t arrivals) {
        self().early(object, rules::arrival_too_many(self().who(), arrivals, self().place(object),
                                                     object.pending(), object.expected(), object.phase()));
    }

    /// A copy has landed that began at step `pc`, in that phase.
    void land(Cta& cta, Object& object, std::int64_t bytes, std::uint32_t phase, std::uint32_t pc) {
        landed(cta, object, object.land(bytes, phase), pc);
    }
    /// The same of a copy whose size is not known.
    void land_unsized(Cta& cta, Object& object, std::uint32_t phase, std::uint32_t pc) {
        landed(cta, object, object.land_unsized(phase), pc);
    }
    void landed(Cta& cta, Object& object, const Mbarrier::Landing& landing, std::uint32_t pc) {
        if (!landing.counts) return;
        check_bytes(object, landing.too_many, pc);
        turn(cta, object);
    }

    /// Completes the phase if everything that it expects has arrived. Returns whether it did.
    bool turn(Cta& cta, Object& object) {
        const std::optional<Mbarrier::Turn> turn = object.turn();
        if (!turn) return false;
        if (turn->in_flight != 0)
            self().fault_at(turn->told_at,
                            rules::phase_complete_early(self().place(object), turn->phase, turn->in_flight,
                                                        turn->to_expect, turn->to_bring, turn->by_others),
                            turn->copied_at, copied_here);
        else if (turn->unsized != 0)
            self().fault_at(turn->told_at, rules::phase_complete_without(self().place(object), turn->phase),
                            turn->copied_at, copied_here);
        self().turned(cta, object);
        return true;
    }

    static constexpr std::string_view initialised_here = "initialised here", copied_here = "copied here";

  private:
    Driver& self() { return static_cast<Driver&>(*this); }
    static std::uint32_t offset_of(std::uint64_t address) {
        return static_cast<std::uint32_t>(address) - sm_90a.shared_base;
    }

    /// Calls f(lane, its index, the active lanes from it on).
    template <class F>
    void for_each_lane(F f) {
        for (isa::Mask left = self().active(); left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            self().lane(lane);
            f(lane, static_cast<std::size_t>(lane), left);
        }
    }

    void check_published(const Object& object, MbarrierUser user, int lane) {
        if (!self().watches() || self().reported(object)) return;
        if (const std::optional<std::string> who = self().unpublished(object, lane))
            self().fault(rules::mbarrier_unpublished(*who, self().place(object),
                                                     self().where(object.made().pc), self().of_cluster()),
                         object.made().pc, initialised_here);
        else if (user == MbarrierUser::engine &&
                 object.published(self().known(object, lane)) != Visible::to_async)
            self().fault(rules::mbarrier_unpublished_to_engine(
                             self().place(object), self().where(object.made().pc), self().of_cluster()),
                         object.made().pc, initialised_here);
    }

    void check_bytes(const Object& object, std::optional<std::int64_t> too_many, std::uint32_t pc) {
        if (too_many)
            self().fault_at(pc, rules::too_many_bytes(self().place(object), *too_many, Mbarrier::most));
    }

    /// WG-MBAR-06
    void watch_phase(Object& object, std::int64_t parity, const std::uint64_t* token) {
        if (parity != 0 && parity != 1)
            return self().wrong_wait(object, rules::bad_parity(self().who(), self().place(object), parity));
        if (token != nullptr)
            if (std::optional<rules::RuleMessage> wrong = wrong_state(object, *token))
                return self().wrong_wait(object, std::move(*wrong));
        if (!self().watches()) return;
        const std::uint32_t known = self().known_to_warp(object);
        if (self().waits().wait(self().warp(), self().warp_in_cta(), object, parity, known, self().pc()) ==
                Mbarrier::Wait::skipped &&
            token == nullptr)
            self().skipped(object, parity);
    }

    /// A state is of the object that is waited for, and of its current phase or the one before.
    std::optional<rules::RuleMessage> wrong_state(const Object& object, std::uint64_t token) {
        const std::string place = self().place(object);
        const std::optional<isa::State> state = isa::state_of(token);
        if (!state) return rules::no_state(self().who() + " waits for " + place + ": it");
        if (state->offset != object.offset())
            return rules::state_of_another(self().who(), place, self().place(state->offset));
        if (state->age(object.phase()) > 1)
            return rules::state_of_old_phase(self().who(), place, state->phase, object.phase());
        return std::nullopt;
    }
};

}  // namespace wgrun::machine
