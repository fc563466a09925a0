// Follows all paths of a program with an abstract state, and reports where a law is broken. The parts in
// check/dataflow do the work, a family of instructions each; the dataflow analysis executes steps and passes
// on what they do.
#pragma once

#include <optional>
#include <vector>

#include "check/dataflow/convergence.hpp"
#include "check/dataflow/mma_operands.hpp"
#include "check/dataflow/paths.hpp"

namespace wgrun::check {

class Dataflow final : private isa::Effects {
  public:
    Dataflow(const Outline& outline, Findings& findings, Made made = Made::by_author);
    void run() { paths_.run(); }
    /// Also reports what is slow, to `remarks`.
    void watch_speed(Findings& remarks) { analysis_.remarks = &remarks; }
    /// The same of what bulk copies take.
    void watch_copies(Findings& copies) { analysis_.copies = &copies; }

    /// And of what paths do not decide.
    void watch_gaps(Gaps& gaps) { analysis_.gaps = &gaps; }
    /// Returns whether the program was too long to follow all its paths.
    bool gave_up() const { return analysis_.gave_up(); }

    /// By shared buffer: whether threads may write to it.
    const std::vector<bool>& stored() const { return analysis_.stored; }

    /// Reports WG-SYNC-02, where no abstract execution has decided it.
    void barriers_met() { convergence_.barriers_met(); }

  private:
    void step(const Step& step);
    void guarded(const Step& step);
    void execute(const Step& step);
    void left_over(Where end);

    void memory(const isa::MemoryAccess& access) override;
    void order_registers() override;
    void issue_mma(const isa::AsyncMma& mma) override;
    void commit_mma() override;
    void wait_mma(int pending) override;
    void proxy_fence(std::optional<isa::Space> space) override;
    void barrier(const Operand& id, const Operand& threads) override;
    void await_arrivals() override;
    void copy_async(const isa::AsyncCopy& access) override;
    void bulk_copy(const isa::BulkAccess& copy) override;
    void commit_copies() override;
    void wait_copies(std::optional<int> pending) override;
    void arrive_copies(const Operand& mbarrier) override;

    dataflow::Analysis analysis_;
    dataflow::Values values_;
    dataflow::Convergence convergence_;
    bool apart_ = false;  ///< the step is one of a whole group, and parts of it are known to go another way
    dataflow::Stalls stalls_;
    dataflow::MmaGroups groups_;
    dataflow::SharedAccesses memory_;
    dataflow::MmaOperands products_;
    dataflow::Paths paths_;
    std::vector<const Known*> skipped_values_;             ///< of guarded() alone
    std::vector<const RegisterState*> skipped_registers_;  ///< likewise
};

}  // namespace wgrun::check
