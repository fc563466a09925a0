// mbarriers in an abstract execution (PTX ISA 9.7.13.15): WG-MBAR-01, -02, -03, and the phases that warps
// wait for: WG-MBAR-06.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "check/abstract/peers.hpp"
#include "machine/mbarrier_unit.hpp"

namespace wgrun::check::abstract {

struct Mbarrier : machine::Mbarrier {
    using machine::Mbarrier::Mbarrier;

    int cta = 0;                    ///< rank
    bool known_to_warp = false;     ///< whether all lanes of the warp that initialised it know of that
    const Step* brought = nullptr;  ///< the last copy of all phases, and the clock at which it has landed
    std::uint32_t landed = 0;
    Knowledge arriving, complete;
    /// Of a proof: the clocks of warps when they had waited for the last phase that is complete.
    Knowledge waited;
};

/// The objects of one CTA. The address of the n-th stays, also where others are restored.
class MbarriersOfCta {
  public:
    explicit MbarriersOfCta(int rank) : rank(rank) {}
    MbarriersOfCta(const MbarriersOfCta& other) : rank(other.rank) { *this = other; }
    MbarriersOfCta& operator=(const MbarriersOfCta& other);
    MbarriersOfCta(MbarriersOfCta&&) = default;
    MbarriersOfCta& operator=(MbarriersOfCta&&) = default;
    ~MbarriersOfCta() = default;

    Mbarrier& add(const Mbarrier& mbarrier);

    int rank;
    std::vector<std::unique_ptr<Mbarrier>> objects{};

  private:
    std::vector<std::unique_ptr<Mbarrier>> spare_{};  ///< the last one is next
};

class Mbarriers : public machine::MbarrierUnit<Mbarriers, Mbarrier, MbarriersOfCta> {
  public:
    Mbarriers(ExecutionState& execution, Faults& report, Peers& peers);

    /// What the mbarrier at that byte of shared memory is called in findings.
    std::string place(std::uint32_t offset) const;
    /// And whose it is, in a cluster.
    std::string place(std::uint32_t offset, int cta) const;
    std::string place(const Mbarrier& mbarrier) const { return place(mbarrier.offset(), mbarrier.cta); }

    /// fence.mbarrier_init or a proxy fence: warps that learn of the fence know the inits of the active
    /// lanes.
    void announce();
    /// What a relaxed arrival publishes: mbarriers that a fence has announced, and what one has released.
    void release_announced(Knowledge& place) const;
    /// The current warp has passed a barrier whose warps knew `met`.
    void announced_to_warp(const Knowledge& met);

    /// The state of an mbarrier of a CTA with the phases since in the place of its phase: as a wait sees it.
    /// Another number as it is.
    std::uint64_t aged(std::uint64_t token, int cta) const;

    /// The object that counts `bytes` bytes that come to a CTA's memory, or null after a report or a refusal.
    Mbarrier* count(int cta, std::uint64_t address, machine::MbarrierUser user, int lane);
    /// The copy begins. Threads that see its bytes know of the phases that precede it.
    void begin_copy(Mbarrier& mbarrier, std::optional<std::int64_t> bytes);
    /// A copy has landed that began at `pc`, in that phase.
    void land(Mbarrier& mbarrier, std::optional<std::int64_t> bytes, std::uint32_t phase, std::uint32_t pc);

    /// Blames the wait, if there is one, for passing before `copy`, whose bytes the mbarrier counts. Returns
    /// whether it did.
    bool let_through(const machine::LetThrough* wait, const Step* copy);

    /// Of copies that a warp of their CTA knows to have landed, it does not matter any more when.
    void settle();

    auto state() { return std::tie(ctas_, waiting_, asked_, actors_); }
    void encode(Encoder& to);
    int actors() const { return actors_; }  ///< warps and mbarriers

    const MbarriersOfCta& of(int cta) const { return ctas_[static_cast<std::size_t>(cta)]; }
    /// The one that a sleeping warp waits for; null: several.
    const Mbarrier* waited_for(const Warp& warp) const { return waiting(warp).mbarrier; }
    std::int64_t parity(const Warp& warp) const { return waiting(warp).parity; }

    // As machine::MbarrierDriver asks.
    using User = machine::MbarrierUser;
    using Cta = MbarriersOfCta;
    isa::Mask active() const { return execution_.active; }
    int warp() const { return execution_.warp->number; }
    int warp_in_cta() const { return execution_.local(*execution_.warp); }
    int warps_per_cta() const { return execution_.warps_per_cta; }
    std::uint32_t pc() const { return execution_.warp->pc; }
    std::uint32_t now() const { return execution_.warp->now; }
    Cta& own() { return ctas_[static_cast<std::size_t>(execution_.warp->cta)]; }
    machine::Waits& waits() { return execution_.waits; }
    void lane(int) {}
    void unknown() { execution_.refuse(); }
    bool watches() const { return !execution_.anybody_left; }
    void progress() { execution_.progress(); }
    Cta* peer(std::uint64_t& address, int lane, User user);
    bool holds(Cta& cta, std::uint64_t address, bool init);
    Mbarrier* object(Cta& cta, std::uint32_t offset);
    Mbarrier& create(Cta& cta, std::uint32_t offset);
    void made(Cta& cta, Mbarrier& mbarrier, int lane);
    std::uint32_t known(const Mbarrier& mbarrier, int) const { return known_to_warp(mbarrier); }
    std::uint32_t known_to_warp(const Mbarrier& mbarrier) const {
        return execution_.warp->known.of(mbarrier.actor());
    }
    std::string who() const { return execution_.name(); }
    Where where(std::uint32_t pc) const { return execution_.where(pc); }
    bool of_cluster() const { return execution_.ctas > 1; }
    void fault(rules::RuleMessage message, std::uint32_t other = machine::no_pc, std::string_view note = {});
    void fault_at(std::uint32_t pc, rules::RuleMessage message, std::uint32_t other = machine::no_pc,
                  std::string_view note = {});
    void misaligned(std::uint64_t address);
    void absent(const Cta& cta, std::uint32_t offset);
    void early(const Mbarrier& mbarrier, rules::RuleMessage message);
    bool reported(const Mbarrier&) const { return !execution_.proves && report_.reported(rules::WG_MBAR_02); }
    std::optional<std::string> unpublished(const Mbarrier& mbarrier, int lane) const;
    void wrong_wait(Mbarrier& mbarrier, rules::RuleMessage message);
    void skipped(Mbarrier& mbarrier, std::int64_t parity);
    void arrivals_begin() { released_ = false; }
    void arrives(Cta& cta, Mbarrier& mbarrier, int lane, isa::Mask lanes);
    void turned(Cta& cta, Mbarrier& mbarrier);
    void wait_begins();
    void passes(Cta& cta, Mbarrier& mbarrier, int lane);
    void blocked(Mbarrier& mbarrier, std::int64_t parity);
    bool returns(isa::Mask complete);
    /// In a proof, who asks gets no: the wait that then follows is for the same phase (answers).
    bool comes_too_soon(const machine::Mbarrier&, int) const { return asks(); }

  private:
    void arrives_relaxed(Mbarrier& mbarrier) const;
    void overtakes(const Mbarrier& mbarrier);
    void blame(const machine::LetThrough& wait, Note consequence);
    void skips(rules::RuleMessage message, std::uint32_t wait, Note note);

    struct Waiting {
        const Mbarrier* mbarrier = nullptr;
        bool several = false;
        std::int64_t parity = 0;
    };
    /// In a proof, of a warp: for which phase of which mbarrier these lanes have asked. None: for several.
    struct Asked {
        const Mbarrier* mbarrier = nullptr;
        std::uint32_t phase = 0;
        isa::Mask lanes = 0;
    };
    Asked& asked() { return asked_[static_cast<std::size_t>(execution_.warp->number)]; }
    bool asks() const { return execution_.proves && execution_.op->attempt == Attempt::asks; }
    void ask(const Mbarrier& mbarrier, std::int64_t parity);
    void answers(const Mbarrier& mbarrier);
    const Waiting& waiting(const Warp& warp) const { return waiting_[static_cast<std::size_t>(warp.number)]; }
    Waiting& waiting() { return waiting_[static_cast<std::size_t>(execution_.warp->number)]; }

    ExecutionState& execution_;
    Faults& report_;
    Peers& peers_;
    std::vector<Cta> ctas_;
    std::vector<Waiting> waiting_;       ///< by warp: its last wait
    std::vector<Asked> asked_;           ///< by warp
    int actors_;                         ///< warps, then mbarriers
    bool released_ = false;              ///< the current step has released what its warp knows
    std::vector<const Mbarrier*> past_;  ///< those whose phases the current step finds complete
};

}  // namespace wgrun::check::abstract
