// Follows all paths of a program with an abstract state, and reports where a law is broken.
#pragma once

#include <vector>

#include "check/matrix.hpp"
#include "check/plan.hpp"
#include "check/state.hpp"

namespace wgrun::check {

class Walker final : private isa::Effects {
  public:
    Walker(const Program& program, Findings& findings);
    void run();
    /// Also reports what is slow, to `remarks`.
    void watch_speed(Findings& remarks) { remarks_ = &remarks; }

    /// By shared buffer: whether threads may write to it.
    const std::vector<bool>& stored() const { return stored_; }

    // convergence.cpp
    /// Reports WG-SYNC-02, where no rehearsal has decided it.
    void barriers_met();

  private:
    /// A branch, loop or guard with an unknown condition that the current step depends on.
    struct Scope {
        Decision decision;
        Known condition;
        Where where;
        std::string_view what;  ///< "branch", "loop", "guard"
        int arm;                ///< 0: then, 1: else
        const void* node;
        BlockId block;      ///< the block at whose end it is decided
        bool left = false;  ///< it is over: threads of the other arm have left
        isa::Uniform uniform() const { return condition.value.uniform; }
        bool exact() const { return condition.exact.known(); }  ///< known for every thread
    };
    /// A path into a block: its state, and the scopes that this depends on.
    struct Way {
        State state;
        std::vector<Scope> scopes;
    };
    struct Exit {
        BlockId to;
        Way way;
        bool decided;  ///< by the branch that decides every iteration
    };
    /// A loop that is being followed.
    struct Around {
        int loop = flow::no_loop;
        std::size_t scopes = 0;  ///< number of scopes around the loop
        Chunks<Known> values{};  ///< at the loop's entry
        bool known = false;      ///< the condition of each iteration must be known
        bool stopped = false;    ///< a condition was not known, or the steps were too many
        std::vector<Way> back{};
        std::vector<Exit> exits{};
        Decision decision{};  ///< of the current pass; id 0: none was made
        Known condition{};
    };

    // paths.cpp: control flow
    void region(int loop);
    void block(BlockId id);
    void enter(Way way);
    bool over(const Scope& scope, BlockId block) const;
    std::size_t first_over(const Way& way, BlockId block) const;
    bool continues(BlockId block) const;
    Way meet(std::vector<Way> ways, BlockId block) const;
    Way joined(Way a, Way b) const;
    void end(BlockId id);
    void branch(BlockId id);
    void iterate(BlockId id, Known known);
    void send(BlockId to, Way way);
    static void left_at_different_times(const Chunks<Known>& before, State& after, const Known& condition);
    void follow(int loop);
    std::optional<Way> iteration(const std::optional<Way>& head);
    std::optional<Way> known_iterations(Way entry);
    void unknown_iterations(std::optional<Way> entry,
                            const std::vector<std::pair<BlockId, std::vector<Way>>>& aside);

    // walker.cpp: single steps
    void step(const Step& step);
    void guarded(const Step& step);
    void execute(const Step& step);
    Decision decision_of(const void* node, const Known& condition) const;
    Known condition(Reg reg, bool negated, Where where);
    bool holds(const Fact& fact) const;
    static bool another_visit(const Scope& scope, const Fact& fact);
    bool gave_up() const { return executed_ > most_executed_; }

    // convergence.cpp: WG-SYNC
    void aligned(const Step& step);
    bool in_role() const;  ///< in a branch that some warps of the CTA may take and others not

    // registers.cpp: values, WG-REG, and accesses of threads
    void read_operands(const Step& step);
    void write_operands(const Step& step);
    void read(Reg reg, Where where);
    void touch(Reg reg, bool writes);
    void overtaken(const Flight& flight, Part part, std::string_view access);
    void uncommitted(const Flight& flight, bool at_end, std::vector<Note> notes);
    void assume_waited(Flight flight);
    /// Returns the youngest flight that no wait_group has covered, of those whose registers satisfy `uses`;
    /// or null.
    template <class Uses>
    const Flight* pending(Uses uses) const {
        const Flight* found = nullptr;
        for (const Flight& flight : state_.flights) {
            if (!flight.pending || (found && flight.age >= found->age)) continue;
            if (uses(plan_.mmas.at(flight.mma)) && holds(flight.pending)) found = &flight;
        }
        return found;
    }
    isa::Value value_of(const Operand& operand) const;
    Known result(const Step& step);

    // effects.cpp: other effects of steps
    void memory(const isa::MemoryAccess& access) override;
    void order_registers() override;
    void issue_mma(const isa::AsyncMma& mma) override;
    void commit_mma() override;
    void wait_mma(int pending) override;
    void proxy_fence(std::optional<isa::Space> space) override;
    void barrier(const Operand& id, const Operand& threads) override;  // convergence.cpp
    void await_arrivals() override;
    void copy_async(const isa::MemoryAccess& access) override;
    void commit_copies() override;
    void wait_copies(std::optional<int> pending) override;
    void arrive_copies(const Operand& mbarrier) override;
    bool copied(const Region& region, std::string_view who, std::string_view fence);
    void left_over(Where end);
    void mma_registers(const isa::AsyncMma& mma);
    void mma_fence(const isa::AsyncMma& mma);
    void mma_memory(const Region& a, const Region& b);
    bool surely_reads_accumulators(const isa::AsyncMma& mma) const;
    void note_stored(const Operand& address);
    Region accessed(const isa::MemoryAccess& access) const;
    void overwritten(const Region& region);
    void bank_conflicts(const isa::MemoryAccess& access);  // banks.cpp
    // drains.cpp
    void drained(int pending);
    void drain_needed(Reg reg);
    void drained_for(const isa::AsyncMma& mma);
    std::string buffer_name(int cell) const;

    const Program& program_;
    Findings& findings_;
    Findings* remarks_ = nullptr;
    Plan plan_;
    Cells cells_;
    MatrixCheck matrix_;
    State state_;
    std::vector<bool> stored_;            ///< by buffer
    std::vector<Scope> scopes_;           ///< outer ones first
    std::vector<std::vector<Way>> ways_;  ///< by block: the ways into it
    std::vector<Around> loops_;
    BlockId block_ = 0;           ///< the current one
    const Step* step_ = nullptr;  ///< the current one
    bool reads_memory_ = false;
    bool meets_others_ = false;  ///< the current step may do more than read and compute
    int fold_budget_ = 1 << 13;  ///< warps that may still be executed to fold values
    std::int64_t most_executed_ = 0;
    std::int64_t executed_ = 0;           ///< steps and iterations, over all passes
    std::vector<const void*> divergent_;  ///< nodes of scopes reported by WG-SYNC-01
    bool partial_warpgroup_ = false;      ///< WG-SYNC-03 is reported
    /// A barrier of the whole CTA that some of its threads bypass: the step and the arm.
    struct Skipped {
        const Step* step;
        Scope scope;
    };
    std::vector<Skipped> skipped_;
    isa::ValueOf value_of_;
    std::function<const Known&(Reg)> known_;
};

}  // namespace wgrun::check
