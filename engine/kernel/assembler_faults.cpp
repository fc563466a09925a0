#include "kernel/assembler_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "isa/effects.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

/// The PTX that came with each release of CUDA (PTX ISA, "Release Notes").
struct Release {
    std::array<int, 2> cuda;
    isa::PtxVersion ptx;
};
constexpr std::array releases{Release{{11, 8}, {7, 8}}, Release{{12, 0}, {8, 0}}, Release{{12, 1}, {8, 1}},
                              Release{{12, 2}, {8, 2}}, Release{{12, 3}, {8, 3}}, Release{{12, 4}, {8, 4}},
                              Release{{12, 5}, {8, 5}}, Release{{12, 7}, {8, 6}}, Release{{12, 8}, {8, 7}},
                              Release{{12, 9}, {8, 8}}, Release{{13, 0}, {9, 0}}, Release{{13, 1}, {9, 1}},
                              Release{{13, 2}, {9, 2}}, Release{{13, 3}, {9, 3}}, Release{{13, 4}, {9, 4}}};

/// Finds the first wgmma whose A is in registers, and whether the kernel waits for groups but the last ones.
class InFlight final : public isa::Effects {
  public:
    explicit InFlight(const Program& program) {
        for_each_step(program, [&](const Step& step) {
            step_ = &step;
            isa::visit_effects(step, *this);
        });
    }
    std::optional<Where> first;
    bool pending = false;

  private:
    void issue_mma(const isa::AsyncMma& mma) override {
        if (mma.a_fragment != nullptr && !first) first = step_->where;
    }
    void wait_mma(int groups) override { pending |= groups > 0; }
    const Step* step_ = nullptr;
};

std::optional<Where> keeps_fragments_in_flight(const Program& program) {
    const InFlight found(program);
    return found.pending ? found.first : std::nullopt;
}

/// Finds the second sum of 16-bit pairs that adds the same register, which holds a constant.
std::optional<Where> adds_a_pair_twice(const Program& program) {
    std::map<std::uint32_t, int> constants, added;
    std::optional<Where> out;
    for_each_step(program, [&](const Step& step) {
        if (step.operands.size() == 2 && step.operands[1].kind == Operand::Kind::imm)
            ++constants[step.operands[0].reg.id];
        const isa::Type type = step.form.type();
        if (step.op != isa::find("add") || (type != isa::Type::s16x2 && type != isa::Type::u16x2)) return;
        for (std::size_t i = 1; i < step.operands.size(); ++i)
            if (constants.contains(step.operands[i].reg.id) && ++added[step.operands[i].reg.id] == 2 && !out)
                out = step.where;
    });
    return out;
}

/// Finds the second of two products of a group that are equal: the same accumulators, A and B, while nothing
/// writes to what they name.
class Equal final : public isa::Effects {
  public:
    std::optional<Where> first;

    void look(const Step& step) {
        step_ = &step;
        for (std::size_t i = 0; i < step.operands.size() && i < step.op->operands.size(); ++i)
            if (step.op->operands[i].access == isa::Access::out)
                std::erase_if(seen_, [&](const Key& key) {
                    return std::ranges::find(key, step.operands[i].reg.id) != key.end();
                });
        isa::visit_effects(step, *this);
    }
    void end_block() { seen_.clear(); }

  private:
    using Key = std::vector<std::uint32_t>;
    static void add(Key& key, const Operand& operand) {
        key.push_back(operand.reg.id);
        key.push_back(static_cast<std::uint32_t>(operand.imm));
        for (const Reg reg : operand.list) key.push_back(reg.id);
    }
    void issue_mma(const isa::AsyncMma& mma) override {
        Key key;
        for (const Operand& operand : step_->operands) add(key, operand);
        if (std::ranges::find(seen_, key) != seen_.end() && mma.reads_accumulators && !first)
            first = step_->where;
        seen_.push_back(std::move(key));
    }
    void commit_mma() override { seen_.clear(); }
    const Step* step_ = nullptr;
    std::vector<Key> seen_;
};

std::optional<Where> repeats_a_product(const Program& program) {
    Equal found;
    for (const BasicBlock& block : program.blocks()) {
        for (const Step& step : block.steps) found.look(step);
        found.end_block();
    }
    return found.first;
}

/// Finds a shift to the left of 64 bits by a constant of 64 or more.
std::optional<Where> shifts_everything_out(const Program& program) {
    constexpr std::int64_t width = 64;
    std::optional<Where> out;
    for_each_step(program, [&](const Step& step) {
        if (step.op == isa::find("shl") && isa::bits(step.form.type()) == width &&
            step.operands.size() == 3 && step.operands[2].kind == Operand::Kind::imm &&
            step.operands[2].imm >= width && !out)
            out = step.where;
    });
    return out;
}

constexpr std::array faults{
    AssemblerFault{
        .reports = "triton#11781, triton#9433",
        .until = {13, 3, 0},
        .what = "it may give the registers of A to other values before a wgmma that is still in "
                "flight has read them: wrong sums",
        .shape = "wgmma with A in registers, and a wgmma.wait_group that leaves groups in flight",
        .hits = keeps_fragments_in_flight,
        .remedy = "ptxas 13.3 or later, or wgmma.wait_group 0 before the fragments get new values"},
    AssemblerFault{.reports = "triton#11581",
                   .first = {12, 9, 0},
                   .until = {12, 10, 0},
                   .what = "it drops the constant of the second of two sums of 16-bit pairs: wrong values",
                   .shape = "two add.s16x2 or add.u16x2 with one register that holds a constant",
                   .hits = adds_a_pair_twice,
                   .remedy = "ptxas 13.3 has been seen to be right"},
    AssemblerFault{.reports = "fla#1262",
                   .until = {13, 1, 80},
                   .what =
                       "a kernel of the backward pass of linear attention writes to shared memory beyond its "
                       "end (12.8.93 and 13.0.88), and another one gives wrong values (12.8.93)",
                   .shape = {},
                   .hits = nullptr,
                   .remedy = "ptxas 13.1.80 has been seen to be right"},
    AssemblerFault{.reports = "wgrun, 2026-11-30",
                   .until = {13, 6, 0},
                   .what = "from -O1 on it may make one product of the two: the sum grows by A * B once",
                   .shape = "two equal wgmma of one group: the same accumulators, A and B, with scale-d 1",
                   .hits = repeats_a_product,
                   .remedy = "wgmma.commit_group between the two"},
    AssemblerFault{.reports = "wgrun, shifts, 2026-11-30",
                   .until = {13, 6, 0},
                   .what = "from -O1 on it may leave the value as it is, in place of 0",
                   .shape = "shl.b64 by a constant of 64 or more",
                   .hits = shifts_everything_out,
                   .remedy = "a register of 0, which is what the shift gives"},
};

}  // namespace

std::optional<AssemblerVersion> assembler_version_of(std::string_view text) {
    AssemblerVersion out{};
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out[i]);
        if (error != std::errc()) return i > 0 ? std::optional(out) : std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.starts_with('.')) return out;
        text.remove_prefix(1);
    }
    return out;
}

std::optional<isa::PtxVersion> newest_ptx(AssemblerVersion version) {
    std::optional<isa::PtxVersion> out;
    for (const auto& [cuda, ptx] : releases)
        if (cuda <= std::array{version[0], version[1]}) out = ptx;
    return out;
}

std::span<const AssemblerFault> assembler_faults() { return faults; }

std::vector<Diagnostic> faults_hitting(const Program& program, AssemblerVersion version) {
    std::vector<Diagnostic> out;
    for (const AssemblerFault& fault : faults) {
        if (fault.hits == nullptr || !fault.in(version)) continue;
        const std::optional<Where> where = fault.hits(program);
        if (!where) continue;
        out.push_back(
            rules::finding(rules::WG_ASM_03, *where,
                           fmt::format("ptxas {}.{}.{} has a known fault with {}: {} ({})", version[0],
                                       version[1], version[2], fault.shape, fault.what, fault.reports),
                           std::string(fault.remedy)));
    }
    return out;
}

}  // namespace wgrun
