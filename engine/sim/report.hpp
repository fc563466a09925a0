// The findings of the simulator, in words. Each (rule, line, other line) is reported once. What follows from
// a finding is decided by steps: a whole kernel may stand on one line, as the steps of a library do.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "machine/together.hpp"
#include "machine/waits.hpp"
#include "program/end.hpp"
#include "program/wait_words.hpp"
#include "rules/rule_message.hpp"
#include "sim/code.hpp"
#include "sim/global_shadow.hpp"
#include "sim/mbarrier.hpp"
#include "sim/memory.hpp"
#include "sim/overlap.hpp"
#include "sim/registers.hpp"
#include "sim/relaxed.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

/// What accesses memory in the current step.
enum class Subject : std::uint8_t { thread, wgmma, copy };

/// Returns the coordinates of cluster number `index` in the grid of clusters of `size` CTAs.
Dim3 cluster_position(Dim3 grid, Dim3 size, std::uint64_t index);

/// Collects the findings of one cluster. Threads are numbered through all of its CTAs.
class Report final : public HazardSink {
  public:
    Report(const Program& program, const Code& code, const SimulatedLaunch& launch,
           const machine::Waits& waits);

    /// Begins a new cluster, at this place in the grid of clusters of a device.
    void reset(Dim3 cluster, std::uint32_t device);
    /// Sets the current step and the thread that executes it; the first thread stands for a whole warpgroup.
    void at(std::uint32_t pc, int thread, Subject subject = Subject::thread);
    void lane(int thread) { thread_ = thread; }
    bool weak(std::uint32_t pc) const override { return !code_.ops[pc].order.strong; }
    bool meets_itself(std::uint32_t pc) const override { return code_.meet(pc, pc, !of_cluster()); }
    /// The step is a copy that reduces into shared memory: two of them may meet there.
    void reduces(std::uint32_t pc) { reductions_.insert(pc); }
    /// Sets the actor of thread copies for which no thread has waited.
    void copies_in_flight(int actor) { copies_in_flight_ = actor; }

    /// In its scope a copy is checked that an mbarrier counts: by the mbarrier's actor, at this clock.
    class Copying {
      public:
        Copying(Report& report, int actor, std::uint32_t clock) : report_(report) {
            report.copying_ = {actor, clock};
        }
        ~Copying() { report_.copying_ = {-1, 0}; }
        Copying(const Copying&) = delete;
        Copying& operator=(const Copying&) = delete;

      private:
        Report& report_;
    };

    bool empty() const { return findings_.empty(); }
    bool has_errors() const {
        return std::ranges::any_of(findings_,
                                   [](const Diagnostic& one) { return one.severity == Severity::error; });
    }
    /// A copy was reported and does not take place: whoever waits for it is not to blame.
    void copy_refused() { copy_refused_ = true; }
    /// The same of a write to shared or local memory: whoever reads there is not to blame.
    void write_refused() { write_refused_ = true; }
    std::span<const Diagnostic> findings() const { return findings_; }
    std::vector<Diagnostic> take() {
        reported_.clear();
        return std::move(findings_);
    }

    /// Returns "thread 3", with its CTA if there are several, or the wgmma or the copy.
    std::string who() const;
    /// Returns a place in shared memory, such as "`tile` + 32".
    std::string place(std::uint32_t offset) const { return wait_words::place(program_, offset); }
    /// Returns also whose it is, in a cluster.
    std::string place(std::uint32_t offset, int rank) const;
    std::string place(const Mbarrier& mbarrier) const { return place(mbarrier.offset(), mbarrier.cta); }
    /// Returns where the kernel ends, for faults that are found there.
    Where end() const { return end_of(program_); }
    /// Returns the line of a step.
    Where where(std::uint32_t pc) const { return code_.where(pc); }
    /// Returns the current thread's warp, numbered in its CTA, such as "warp 3".
    std::string warp() const;
    /// Returns whether the cluster has more than one CTA.
    bool of_cluster() const { return program_.cluster().volume() > 1; }
    /// Returns what to report of an mbarrier at an address that is not a multiple of 8.
    rules::RuleMessage misaligned_mbarrier(std::uint64_t address) const;

    // WG-RACE-01, -02, -03, WG-PROXY-01, WG-MEM-04, WG-TMA-02, WG-GROUP-04
    void hazard(Hazard hazard, std::uint32_t offset, Epoch other) override {
        describe(hazard, offset, other, false);
    }
    void hazard_of_lane(Hazard hazard, std::uint32_t offset, Epoch other) override {
        describe(hazard, offset, other, true);
    }
    // WG-RACE-04, WG-PROXY-03, WG-MEM-06
    /// The current step reads a box, of lines of so many bytes, as though its swizzle began with it.
    void misread_box(std::uint32_t copy, std::uint32_t offset, std::uint32_t width);
    void global_race(const GlobalRace& race, const std::string& place);
    void global_unfenced(const GlobalRace& race, const std::string& place);
    void global_stale(const GlobalRace& race, const std::string& place);
    /// WG-MEM-04
    void global_discarded(Epoch by, const std::string& place);
    /// WG-RACE-05: the step accesses what a launch before, of another kernel or the same, touches.
    void launch_before(bool write, const std::string& place, const Touched::Step& other,
                       const std::string& kernel);
    /// WG-MEM-06: it loads through ld.global.nc what a launch before writes.
    void stale_launch_before(const std::string& place, Where written, const std::string& kernel);
    void global_conflict(const Conflict& conflict, const std::string& place);
    /// Two lanes of one step write the same bytes: WG-RACE-01 or WG-RACE-04.
    void overlapping_store(const Rule& rule, const std::string& place, int other_thread);
    // WG-MEM-01, -02, -03, -05 and WG-DESC-03
    void global_out_of_bounds(bool store, int bytes, const std::string& place);
    void constant_store(int bytes, const std::string& place);
    void misaligned(bool store, int bytes, std::uint64_t address) {
        misaligned(store, bytes, address, bytes);
    }
    void misaligned(bool store, int bytes, std::uint64_t address, int align);
    /// into: an mbarrier that the access would reach, or null.
    void shared_out_of_bounds(bool store, int bytes, std::uint64_t address, const Mbarrier* into = nullptr);
    void local_out_of_bounds(bool store, int bytes, std::int64_t offset);
    void local_unwritten(int bytes, std::int64_t offset);
    void param_out_of_bounds(bool store, int bytes, std::int64_t offset, std::int64_t size);
    void operand_out_of_bounds(std::uint64_t address);
    // WG-REG-01, WG-GROUP-01, WG-GROUP-02, WG-FENCE-01
    void unwritten_register(isa::Reg reg);
    void register_in_flight(const RegisterUse& state, bool write);
    /// The step uses a register of a wgmma that no commit_group has closed, although the warp waited at
    /// `wait_pc`.
    void wait_without_commit(const RegisterUse& state, std::uint32_t wait_pc, bool write);
    void uncommitted(std::uint32_t mma_pc);
    /// WG-GROUP-05: the warp ends without having waited for the group.
    void left_over(const Registers::Closed& group);
    /// WG-GROUP-06: no thread has waited for the cp.async of the current step when the CTA ends.
    void copy_left_over();
    void missing_fence(const RegisterUse& state, bool accumulator);
    // WG-SYNC-01, -02, -03
    /// waiting: a step at which others wait in vain; no_pc: they are elsewhere.
    void diverged(const isa::Instruction& op, isa::Mask active, isa::Mask all, std::uint32_t waiting);
    /// The warps of a warpgroup part: what follows is no news.
    void parted(const machine::Together::Apart& apart);
    /// WG-SYNC-07: the warp goes round a loop, and nothing changes.
    void endless_loop();
    /// The warp has gone round loops so often that one of them is taken not to end.
    void too_many_turns(std::uint64_t turns);
    void no_warpgroup(const isa::Instruction& op, int threads);
    /// A thread waits for ever at step `pc`.
    /// fix: instead of the law's, if it says something
    void deadlock(wait_words::Law broken, std::uint32_t pc, std::string text, Fix fix,
                  std::vector<Note> notes, std::vector<Fact> facts);
    // WG-MBAR, WG-TMA, WG-SYNC-02, -04, -05, WG-REG-02; `note` speaks of step `other`
    void fault(rules::RuleMessage message, std::uint32_t other = no_pc, std::string note = {});
    /// Reports the same for a step other than the current one.
    void fault_at(std::uint32_t pc, rules::RuleMessage message, std::uint32_t other, std::string note);
    /// Returns whether the current step has been reported to break the rule.
    bool said(const Rule& rule, std::uint32_t other = no_pc) const;
    /// The same, whatever the other step is.
    bool said_of_any(const Rule& rule) const;
    void wrong_wait(const Mbarrier& mbarrier, rules::RuleMessage message);
    /// WG-MBAR-06: the warp missed a phase. What is reported is a consequence of that, and nothing that
    /// follows is news.
    void phase_skipped(const Mbarrier& mbarrier, std::int64_t parity, int warp);
    /// The warp passes a wait for the mbarrier, and one of the two sides is relaxed: the wait, where the
    /// phases know `done`, or arrivals.
    void handed_over(const Mbarrier& mbarrier, bool relaxed_wait, Snapshot done) {
        relaxed_.passed(warp_at_hand(), mbarrier, relaxed_wait ? pc_ : no_pc, std::move(done));
    }
    /// Reports WG-TMA-03 or WG-MBAR-06.
    void unfinished_load(Epoch copy);
    /// The step comes before the wait for a phase of an mbarrier: WG-MBAR-03 or WG-MBAR-06.
    void early(const Mbarrier& mbarrier, rules::RuleMessage message);
    void mbarrier_touched(std::uint32_t offset, const Mbarrier& mbarrier, std::string_view how);
    /// Adds the finding of a failed assertion or a trap.
    void said(Diagnostic finding);
    /// Adds the finding of a step's own check, which threw an ArgumentError.
    void refused(Diagnostic finding);

  private:
    /// What the step reads is written, but nothing orders the two: that it was not yet is no fault of its
    /// own.
    void written_too_late(std::uint32_t read);
    /// one_told: a lane of the other's warp has synchronised, but for itself and not for the other.
    void describe(Hazard hazard, std::uint32_t offset, Epoch other, bool one_told);
    static constexpr const char* one_size =
        "access the place by steps of one size, or let something order the two";
    struct Pair;  // report_hazards.cpp
    bool is_excused(Hazard hazard, Epoch other, bool same_cta) const;
    void not_written(std::uint32_t offset, Epoch copy);
    void race(const Pair& pair);
    void written_under_mma(const Pair& pair);
    void written_under_copy(const Pair& pair);
    void without_fence(const Pair& pair);
    std::string unordered(const Pair& pair) const;
    Fix ordering(const Pair& pair) const;
    Fix barrier(const Pair& pair) const;
    Fix publication(const Pair& pair) const;
    /// The next finding is about two accesses of a place.
    void speaks_of(bool reads, const std::string& place, const std::string& other, bool other_reads);
    /// Whether the hazard between the current step and that one has been put into words, and records it:
    /// words cost time.
    bool is_described(Hazard hazard, Epoch other);
    /// A bulk copy of `who` comes after a write of `past`; a load of one of them reads what the other writes.
    void unfenced(std::uint32_t other, const std::string& who, bool reads, const std::string& place,
                  const std::string& past);
    void stale(std::uint32_t other, const std::string& who, bool reads, const std::string& place,
               const std::string& past);
    void add(rules::RuleMessage message, std::uint32_t other, std::vector<Note> notes = {});
    void add(const Rule& rule, std::uint32_t other, std::string message, Fix fix,
             std::vector<Note> notes = {}) {
        add({rule, std::move(message), std::move(fix)}, other, std::move(notes));
    }
    const machine::LetThrough* culprit(Epoch other) const;
    void blame(const machine::LetThrough& wait, std::string consequence);
    int warp_at_hand() const { return thread_ / isa::lanes; }
    /// The rule, and the steps of the two parties.
    using Key = std::tuple<std::string_view, std::uint32_t, std::uint32_t>;
    Key key(std::string_view rule, std::uint32_t other) const { return {rule, pc_, other}; }
    /// The same with their places.
    Key place_of(const Key& steps) const;
    /// Returns whether this was reported before, and records it.
    bool seen(const Key& steps) { return !seen_.insert(steps).second; }
    void tell(const Key& steps, Diagnostic finding);
    /// Takes back what was reported of these steps.
    template <class Which>
    void retract(Which which);
    bool follows(std::uint32_t write, std::uint32_t read) const;
    bool reported_as_read_after_write(std::uint32_t read) const;
    Fix handed_over(const Conflict& conflict) const;
    isa::Scope holds_both(const Conflict& conflict) const;
    std::optional<std::string> stronger(Epoch access, Epoch other, isa::Scope needed) const;
    void retract_write_after_read(std::uint32_t write);
    /// As rules::line_of(), in a finding at the current step.
    std::string line(std::uint32_t pc) const { return rules::line_of(code_.where(pc), code_.where(pc_)); }
    std::string who(int thread) const { return who(thread, cluster_, device_); }
    std::string who(int thread, Dim3 cluster, std::uint32_t device) const;
    std::string cta_name(std::uint32_t rank, Dim3 cluster, std::uint32_t device) const;
    std::string past(Epoch access) const;
    /// What is to be said of the sizes, where two strong steps have different ones.
    std::string sizes(std::uint32_t other) const;
    /// What orders them instead of the relaxed steps between them.
    Phrase ordered_by(const RelaxedHandovers::Steps& relaxed, bool same_cta) const;
    bool by_copy(Epoch access) const { return access.actor() >= warps_; }

    const Program& program_;
    const Code& code_;
    const machine::Waits& waits_;
    Dim3 grid_, cluster_;
    Devices devices_;
    std::uint32_t device_ = 0;
    RelaxedHandovers relaxed_;
    int copies_in_flight_ = -1;
    std::set<std::uint32_t> reductions_;  ///< steps
    int threads_per_cta_, warps_;         ///< threads of whole warps; warps of the cluster
    std::uint32_t pc_ = 0;
    int thread_ = 0;
    Subject subject_ = Subject::thread;
    std::pair<int, std::uint32_t> copying_{-1, 0};
    bool settled_ = false;       ///< nothing that follows is news
    bool copy_refused_ = false;  ///< a copy that was reported has not taken place
    bool write_refused_ = false;
    std::set<Key> seen_;
    using Described = std::tuple<Hazard, std::uint32_t, std::uint32_t, bool, bool>;
    std::set<Described> described_;
    std::optional<Described> last_described_;  ///< the bytes of a tile are often described alike
    std::vector<Diagnostic> findings_;
    std::vector<Key> reported_;                        ///< of each finding
    std::vector<Fact> facts_;                          ///< of the next one
    std::vector<std::pair<Key, Diagnostic>> further_;  ///< findings whose places have been told
};

}  // namespace wgrun::sim
