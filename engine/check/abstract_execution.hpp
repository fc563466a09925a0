// An abstract execution: the warps of one cluster execute what decides about synchronisation, without any
// data.
//
// Parameters, special registers and what is computed from them have values; memory has none. A warp whose
// control flow depends on more leaves the abstract execution, and nothing that it might do is reported as
// missing. Every finding occurs in a real schedule of a launch with these sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "check/abstract/copies.hpp"
#include "check/abstract/cut.hpp"
#include "check/abstract/loops.hpp"
#include "check/abstract/recurrence.hpp"
#include "check/abstract/shared_memory.hpp"
#include "check/abstract/shown_numbers.hpp"
#include "check/abstract/stuck.hpp"
#include "check/budget.hpp"
#include "check/findings.hpp"
#include "isa/thread_machine.hpp"

namespace wgrun::check {

/// Runs the warps in turn, and passes what their steps do to the parts of the machine (check/abstract/).
class AbstractExecution final : public isa::ThreadMachine {
  public:
    AbstractExecution(const Program& program, const Skeleton& skeleton, LaunchSizes sizes,
                      Dim3 cluster = {0, 0, 0});

    /// An abstract execution for a proof: numbers of the launch have the values that `symbols` gives them.
    /// gaps: where what is not proved of accesses to shared memory goes; null: they are not followed.
    AbstractExecution(const Program& program, const Skeleton& skeleton, const abstract::Live& live,
                      abstract::Symbols& symbols, Gaps* gaps);

    /// It may take no more than so many operations, of a budget that can be interrupted.
    void limit(std::int64_t operations, const Budget& of);
    /// Takes operations of that for work beside the execution.
    void spend(std::int64_t operations) {
        budget_ = static_cast<int>(std::max<std::int64_t>(budget_ - operations, -1));
    }

    /// Runs the kernel until every warp has ended or left, or none can continue.
    void run();

    // --- of an abstract execution for a proof
    /// Returns why it stands for no launch; null: it does.
    const abstract::Stop* stopped() const { return execution_.stopped ? &*execution_.stopped : nullptr; }
    /// Returns why a wait might not end, where nothing else depends on that; null: each ends.
    const abstract::Stop* overtaken() const {
        return execution_.overtaken ? &*execution_.overtaken : nullptr;
    }
    /// Returns whether a root has got another step, so that the abstract execution is to begin anew.
    bool again() const { return proof_->again; }
    const abstract::Forms& forms() const { return proof_->forms; }
    abstract::Forms& forms() { return proof_->forms; }
    /// Where boxes have been whose sizes no launch tells.
    const BoxSizes& boxes() const { return copies_.boxes(); }
    const std::set<int>& repeated() const { return proof_->recurrence.repeated(); }

    // --- of an exploration (exploration.hpp), which runs it from cut to cut
    /// Warps park before they compare numbers of the launch.
    void park(const abstract::Loops& loops) {
        loops_ = &loops;
        proof_->forms.explore(loops);
        if (execution_.skeleton.shows_numbers)
            execution_.shown = &proof_->shown.emplace(execution_, values_, proof_->forms);
        budget_ = allowed_ = INT_MAX;
    }
    /// Returns whether some are parked, and no other warp can go on.
    bool at_cut() const;
    /// Of the parked warps, those of the innermost loops with the most turns left go on.
    void go_on();
    /// What the run since then has done: whether it has drawn a number, and the blocks at whose ends it has
    /// branched.
    bool draws() const { return proof_->forms.draws(); }
    const std::set<BlockId>& branches() const { return branches_; }
    /// Whether a warp that has not ended is in this loop.
    bool any_in(const abstract::Loops::Loop& loop) const;
    bool any_parked_at(std::uint32_t pc) const;
    abstract::Cut cut();
    std::vector<abstract::Register> registers();
    class Saved;
    std::shared_ptr<const Saved> save();
    void restore(const Saved& saved);
    /// Its warps are taken to know no more than that, in the order in which a cut has it.
    void lower(const std::vector<std::uint32_t>& most);

    const std::vector<abstract::Fault>& faults() const { return report_.faults(); }
    /// Returns those that break the same law as the first; those of other laws may be consequences.
    std::vector<abstract::Fault> first_faults() const { return report_.first_faults(); }
    /// Returns what is slow, but not wrong.
    const std::vector<Diagnostic>& remarks() const { return report_.remarks(); }
    int operations() const;  ///< that it has executed, or whose time it has taken to compare states
    /// Returns whether the kernel was too long to follow to its end.
    bool gave_up() const { return budget_ < 0; }
    /// Returns whether every warp has ended.
    bool complete() const;
    /// Returns whether a warp has executed that step.
    bool came_to(const Step* step) const;
    const std::set<const Step*>& given_up() const { return execution_.given_up; }

    isa::Mask active() const override { return execution_.active; }
    isa::Mask existing() const override { return execution_.warp->all; }
    const void* read(Reg reg) override { return values_.read(reg); }
    const void* read_some(Reg reg, isa::Mask& known) override { return values_.read_some(reg, known); }
    void* write(Reg reg) override { return values_.write(reg); }
    std::uint64_t special(isa::Special which, int lane) override;
    std::uint64_t param(int index) override;
    std::uint64_t param_address(int) override { return refuse(), 0; }
    std::uint32_t shared_address(int buffer) override;
    void load(isa::Space space, const isa::Addresses& address, int, void*, int) override;
    void store(isa::Space space, const isa::Addresses& address, int, const void*, int) override;
    void update(isa::Space space, const isa::Addresses& address, int,
                const std::function<void(int, std::byte*)>&) override;

    void barrier(std::uint32_t id, std::uint32_t threads) override {
        if (!is_part()) barriers_.meet(id, threads, true);
    }
    void barrier_arrive(std::uint32_t id, std::uint32_t threads) override {
        if (!is_part()) barriers_.meet(id, threads, false);
    }
    /// What the votes of all warps combine to is not followed.
    void barrier_vote(std::uint32_t id, std::uint32_t threads, isa::Vote, isa::Mask, Reg) override {
        execution_.loads = true;
        if (!is_part()) barriers_.meet(id, threads, true);
    }
    void trap() override { refuse(); }  ///< what follows is not executed
    void converge(isa::Mask members) override {
        execution_.warp->gathered = execution_.warp->now++;
        if ((execution_.warp->all & ~members) == 0 && (execution_.warp->all & ~execution_.active) == 0)
            abstract::ExecutionState::gather(*execution_.warp);
    }
    void proxy_fence(std::optional<isa::Space> space) override;
    void fence(const isa::MemoryOrder& order) override { execution_.fence(order); }
    void mbarrier_init(const isa::Addresses& address, const isa::Counts& arrivals) override;
    void mbarrier_inval(const isa::Addresses& address) override { mbarriers_.inval(address); }
    isa::Tokens mbarrier_arrive(const isa::Addresses& address, const isa::Counts& bytes,
                                const isa::Counts& arrivals, isa::Arrival how = {}) override {
        return mbarriers_.arrive(address, bytes, arrivals, how);
    }
    void mbarrier_complete(const isa::Addresses& address, const isa::Counts& bytes) override {
        mbarriers_.deliver(address, bytes);
    }
    std::optional<isa::Mask> mbarrier_wait(const isa::Addresses& address, const isa::Counts& parity,
                                           const isa::Tokens* state) override {
        return mbarriers_.wait(address, parity, state);
    }
    void mbarrier_fence_init() override { mbarriers_.announce(); }
    void bulk_copy(const isa::BulkCopy& copy) override { copies_.bulk_copy(copy); }
    void bulk_commit() override { copies_.bulk_commit(); }
    void bulk_wait(int pending, bool) override { copies_.bulk_wait(pending); }
    void arrive_copies(const isa::Addresses& mbarrier, bool increase) override;
    void store_async(const isa::AsyncStore& store, const isa::Addresses& to, const isa::Addresses& mbarrier,
                     const void*, int) override {
        copies_.store_async(store, to, mbarrier);
    }
    std::uint32_t map_shared(std::uint32_t address, std::uint32_t rank) override;
    void cluster_arrive() override {
        if (!is_part()) barriers_.cluster_arrive();
    }
    void cluster_wait() override {
        if (!is_part()) barriers_.cluster_wait();
    }
    void set_registers(int registers, bool increase) override { grants_.set_registers(registers, increase); }

    // Only the effects of wgmma matter (abstract/products.hpp), not the products.
    void order_registers() override { refuse(); }
    void select(int) override { refuse(); }
    void begin_mma(const isa::AsyncMma&) override { refuse(); }
    const std::byte* async_read_shared(std::uint32_t, int, unsigned) override { return refuse(), nullptr; }
    const void* async_read(Reg reg, isa::Mask) override { return read(reg); }
    void* async_write(Reg reg) override { return write(reg); }
    void end_mma() override { refuse(); }
    void commit_mma() override { refuse(); }
    void wait_mma(int) override { refuse(); }

  private:
    using Warp = abstract::Warp;
    using Op = abstract::Op;

    /// Does a part of a warp execute a barrier that need not be aligned? Whole warps alone are followed: the
    /// warp leaves.
    bool is_part() {
        const bool part = execution_.op->step->op->taken_by == isa::Participants::thread &&
                          execution_.active != execution_.warp->all;
        if (part) refuse();
        return part;
    }
    void go(Warp& warp);
    void jump(Warp& warp, const Op& op);
    void step(Warp& warp, const Op& op);
    void end(Warp& warp);
    void leave(Warp& warp);
    void refuse() override { execution_.refuse(); }
    void compute(const Op& op);
    abstract::Encoder encoder();
    auto parts();
    bool parks(Warp& warp, const Op& op);

    /// What a proof needs besides.
    struct Proof {
        Proof(abstract::ExecutionState& execution, abstract::Values& values, isa::Machine& machine,
              const abstract::Live& live, const abstract::Mbarriers& mbarriers, abstract::Symbols& symbols,
              Gaps* gaps)
            : live(live),
              forms(execution, values, machine, symbols),
              recurrence(execution, values, live, mbarriers, forms) {
            if (gaps != nullptr) shared.emplace(execution, values, mbarriers, *gaps);
        }
        const abstract::Live& live;
        abstract::Forms forms;
        abstract::Recurrence recurrence;
        std::optional<abstract::SharedMemory> shared{};
        std::optional<abstract::ShownNumbers> shown{};
        bool again = false;
    };

    abstract::ExecutionState execution_;
    abstract::Faults report_;
    abstract::Values values_;
    abstract::Peers peers_;
    abstract::Mbarriers mbarriers_;
    abstract::Barriers barriers_;
    abstract::Contents contents_;
    abstract::MmaReads products_;
    abstract::Copies copies_;
    abstract::RegisterGrants grants_;
    abstract::Stuck stuck_;
    std::vector<int> running_;                ///< by CTA: warps that have not ended
    int allowed_;                             ///< operations in all
    int budget_;                              ///< those that may still be executed
    const Budget* of_ = nullptr;              ///< what it is a part of
    int written_ = 0;                         ///< numbers of the states that were compared
    std::vector<bool> executed_;              ///< by operation
    const abstract::Loops* loops_ = nullptr;  ///< where warps park
    std::set<BlockId> branches_;              ///< taken or not since the last cut
    std::unique_ptr<Proof> proof_;            ///< null: none is made
};

}  // namespace wgrun::check
