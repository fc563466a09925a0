// What the simulator finds, in words. Each (rule, line, other line) is said once. The sections of the PTX ISA
// are those of the rules, which the catalogue has.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/code.hpp"
#include "sim/memory.hpp"
#include "sim/registers.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

/// Collects the findings of one CTA.
class Report final : public HazardSink {
  public:
    Report(const Program& program, const Code& code, const SharedMemory& shared, Dim3 grid);

    /// A new CTA begins.
    void reset(Dim3 cta);
    /// The step at hand and the thread of the CTA that executes it; a whole warpgroup is named by its first.
    void at(std::uint32_t pc, int thread, bool warpgroup = false);
    void lane(int thread) { thread_ = thread; }

    bool empty() const { return findings_.empty(); }
    std::vector<Diagnostic> take() { return std::move(findings_); }

    // WG-RACE-01, WG-RACE-02, WG-PROXY-01, WG-MEM-04
    void hazard(Hazard hazard, std::uint32_t offset, Epoch other) override;
    // WG-RACE-01 within one step
    void overlapping_store(std::uint32_t offset, int other_thread);
    // WG-MEM-01, -02, -03 and WG-DESC-03
    void global_out_of_bounds(bool store, int bytes, const std::string& place);
    void misaligned(bool store, int bytes, std::uint64_t address);
    void shared_out_of_bounds(bool store, int bytes, std::uint64_t address);
    void operand_out_of_bounds(std::uint64_t address);
    // WG-REG-01, WG-GROUP-01, WG-GROUP-02, WG-FENCE-01
    void unwritten_register(isa::Reg reg);
    void register_in_flight(const RegisterState& state, bool write);
    /// A register of a wgmma that no commit_group has closed is used although the warp waited, at `wait_pc`.
    void waited_in_vain(const RegisterState& state, std::uint32_t wait_pc, bool write);
    void uncommitted(std::uint32_t mma_pc);
    void missing_fence(const RegisterState& state, bool accumulator);
    // WG-SYNC-01, -02, -03
    void diverged(const isa::Instruction& op, isa::Mask active, isa::Mask all);
    void no_warpgroup(const isa::Instruction& op, int threads);
    void bad_barrier(const std::string& message);
    void deadlock(std::uint32_t pc, std::string message, std::vector<Note> notes);
    /// What a step's own check said: an ArgumentError that it threw.
    void refused(Diagnostic finding);

  private:
    void add(std::string_view rule, std::uint32_t other, std::string message, std::string fix,
             std::vector<Note> notes = {});
    bool seen(std::string_view rule, std::uint32_t other);
    int line(std::uint32_t pc) const { return code_.where(pc).line; }
    std::string who() const;
    std::string who(int thread) const;

    const Program& program_;
    const Code& code_;
    const SharedMemory& shared_;
    Dim3 grid_, cta_;
    std::uint32_t pc_ = 0;
    int thread_ = 0;
    bool warpgroup_ = false;
    std::set<std::tuple<std::string_view, std::uint32_t, std::uint32_t>> seen_;
    std::vector<Diagnostic> findings_;
};

}  // namespace wgrun::sim
