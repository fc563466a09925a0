// The instructions on mbarriers in a simulation: what threads know, who sleeps, and what is reported.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "machine/mbarrier_unit.hpp"
#include "sim/scene.hpp"

namespace wgrun::sim {

class Mbarriers : public machine::MbarrierUnit<Mbarriers, Mbarrier, Cta> {
  public:
    using User = machine::MbarrierUser;
    using Found = MbarrierUnit::Found;

    explicit Mbarriers(Scene& scene) : scene_(scene), report_(scene.report), clocks_(scene.clocks) {}

    /// fence.mbarrier_init or a proxy fence: the inits of these lanes are known to every thread that knows of
    /// the fence.
    void announce();
    /// What a relaxed arrival releases: the mbarriers that a fence has announced, and nothing else.
    void release_announced(int place);

    /// The object that is to count bytes that come to that CTA; null, with a report, if there is none.
    Found count(Cta& cta, std::uint64_t address, User user, int lane) {
        return find_for(cta, address, user, lane);
    }
    /// A thread that sees the bytes of the copy knows what came before it. bytes: nothing where nobody knows
    /// how many.
    void begin_copy(Mbarrier& mbarrier, int lane, std::optional<std::int64_t> bytes, bool by_other);
    /// The copy has landed that began at `pc` in that phase of the object at this offset, if there still is
    /// one.
    void land(Cta& cta, std::uint32_t offset, std::optional<std::int64_t> bytes, std::uint32_t phase,
              std::uint32_t pc);

    /// cp.async.mbarrier.arrive: the lanes will arrive when their copies have landed. Calls f(lane, object)
    /// for each that will.
    template <class F>
    void promise(const isa::Addresses& address, bool increase, F f);
    /// Such an arrival, at step `pc`: calls seen(clock, actor) before the phase turns. Threads that wait for
    /// the phase have seen what that actor wrote up to that clock.
    template <class F>
    void arrive_late(Cta& cta, std::uint32_t offset, std::uint32_t pc, F seen);

    /// Returns the actor of writes through the generic proxy that are known to threads that wait for the
    /// mbarrier.
    int generic_actor(const Cta& cta, Mbarrier& mbarrier);
    /// Reports what the objects of a CTA that ends still expect.
    void left_over(Cta& cta);

    // As machine::MbarrierDriver asks.
    isa::Mask active() const { return scene_.active; }
    int warp() const { return scene_.current; }
    int warp_in_cta() const { return scene_.local(); }
    int warps_per_cta() const { return scene_.warps_per_cta; }
    std::uint32_t pc() const { return scene_.pc; }
    std::uint32_t now() const { return clocks_.now(scene_.current); }
    Cta& own() { return *scene_.cta; }
    machine::Waits& waits() { return scene_.waits; }
    void lane(int lane) { report_.lane(scene_.thread(lane)); }
    void unknown() {}
    bool watches() const { return scene_.launch.detect_races; }
    void progress() { scene_.fruitless = 0; }
    Cta* peer(std::uint64_t& address, int lane, User user) {
        return scene_.peer(address, lane, user == User::thread);
    }
    bool holds(Cta& cta, std::uint64_t address, bool init);
    Mbarrier* object(Cta& cta, std::uint32_t offset) { return cta.mbarriers.find(offset); }
    Mbarrier& create(Cta& cta, std::uint32_t offset);
    void made(Cta& cta, Mbarrier& mbarrier, int lane);
    std::uint32_t known(const Mbarrier& mbarrier, int lane) const {
        return std::max(clocks_.of(scene_.current, lane).seen[mbarrier.actor()], seen_relaxed(mbarrier));
    }
    std::uint32_t known_to_warp(const Mbarrier& mbarrier) const {
        return std::max(clocks_.of(scene_.current).seen[mbarrier.actor()], seen_relaxed(mbarrier));
    }
    std::string who() const { return report_.who(); }
    std::string place(std::uint32_t offset) const { return report_.place(offset); }
    std::string place(const Mbarrier& mbarrier) const { return report_.place(mbarrier); }
    Where where(std::uint32_t pc) const { return report_.where(pc); }
    bool of_cluster() const { return report_.of_cluster(); }
    void fault(rules::RuleMessage message, std::uint32_t other = no_pc, std::string_view note = {}) {
        report_.fault(std::move(message), other, std::string(note));
    }
    void fault_at(std::uint32_t pc, rules::RuleMessage message, std::uint32_t other = no_pc,
                  std::string_view note = {}) {
        report_.fault_at(pc, std::move(message), other, std::string(note));
    }
    void misaligned(std::uint64_t address) { report_.fault(report_.misaligned_mbarrier(address)); }
    void absent(const Cta& cta, std::uint32_t offset);
    void early(const Mbarrier& mbarrier, rules::RuleMessage message) {
        report_.early(mbarrier, std::move(message));
    }
    bool reported(const Mbarrier& mbarrier) const {
        return report_.said(rules::WG_MBAR_02, mbarrier.made().pc);
    }
    std::optional<std::string> unpublished(const Mbarrier& mbarrier, int lane) const;
    void wrong_wait(Mbarrier& mbarrier, rules::RuleMessage message);
    void skipped(Mbarrier& mbarrier, std::int64_t parity) {
        report_.phase_skipped(mbarrier, parity, scene_.local());
    }
    void arrivals_begin() { released_ = 0; }
    void arrives(Cta& cta, Mbarrier& mbarrier, int lane, isa::Mask lanes);
    void turned(Cta& cta, Mbarrier& mbarrier);
    void wait_begins();
    void passes(Cta& cta, Mbarrier& mbarrier, int lane);
    void blocked(Mbarrier& mbarrier, std::int64_t parity);
    /// Returns whether the phase is complete, but the lane has not learnt of it, and asks before it is.
    bool comes_too_soon(const Mbarrier& mbarrier, int lane);
    bool returns(isa::Mask complete);

  private:
    std::uint32_t seen_relaxed(const Mbarrier& mbarrier) const {
        const auto warp = static_cast<std::size_t>(scene_.current);
        return warp < mbarrier.seen_relaxed.size() ? mbarrier.seen_relaxed[warp] : 0;
    }
    void arrives_relaxed(const Cta& cta, Mbarrier& mbarrier, int lane);
    void passes_relaxed(Mbarrier& mbarrier, int place);
    void release(const Cta& cta, Mbarrier& mbarrier, int lane, isa::Mask lanes);

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    isa::Mask released_ = 0;  ///< lanes that have released in the current step
    /// Places of phases that the current step finds complete, and the lanes that wait there.
    std::array<std::pair<int, isa::Mask>, isa::lanes> past_;
    std::size_t places_ = 0;
    bool too_soon_ = false;           ///< a lane of the current step comes too soon
    std::optional<bool> once_more_;   ///< may it?
    const Mbarrier* told_ = nullptr;  ///< the observer knows of its wait
};

template <class F>
void Mbarriers::promise(const isa::Addresses& address, bool increase, F f) {
    arrivals_begin();
    machine::for_each_lane(scene_.active, [&](int lane) {
        const std::uint64_t at = address[static_cast<std::size_t>(lane)];
        this->lane(lane);
        const Found found = find(at, User::thread, lane);
        if (found.object == nullptr) return;
        if (found.cta != scene_.cta)
            return report_.fault({rules::WG_SYNC_05, report_.who() + " arrives at an mbarrier of another CTA",
                                  "arrive at one of its own: the copies of a thread land in its own CTA"});
        Mbarrier& mbarrier = *found.object;
        check_phase_known(mbarrier, lane, "arrives at");
        if (increase && !mbarrier.expect_arrival())
            return report_.fault(rules::no_more_arrivals(place(mbarrier), mbarrier.pending()));
        release(*found.cta, mbarrier, lane, machine::lanes_at(address, scene_.active, at));
        f(lane, mbarrier);
    });
    scene_.waits.arrives(scene_.current);
}

template <class F>
void Mbarriers::arrive_late(Cta& cta, std::uint32_t offset, std::uint32_t pc, F seen) {
    Mbarrier* mbarrier = cta.mbarriers.find(offset);
    if (mbarrier == nullptr || !mbarrier->live()) return;
    if (!mbarrier->arrive(1, pc)) return too_many(*mbarrier, 1);
    seen(mbarrier->next(), generic_actor(cta, *mbarrier));
    turn(cta, *mbarrier);
}

}  // namespace wgrun::sim
