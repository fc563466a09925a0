#include "kernel/assembler_shapes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "isa/effects.hpp"

namespace wgrun {
namespace {

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

/// Finds the registers that are descriptors of products.
class Descriptors final : public isa::Effects {
  public:
    explicit Descriptors(const Program& program) {
        for_each_step(program, [&](const Step& step) { isa::visit_effects(step, *this); });
    }
    bool contain(Reg reg) const { return registers_.contains(reg.id); }

  private:
    void issue_mma(const isa::AsyncMma& mma) override {
        if (mma.a_descriptor != nullptr) registers_.insert(mma.a_descriptor->reg.id);
        registers_.insert(mma.b_descriptor->reg.id);
    }
    std::set<std::uint32_t> registers_;
};

/// A descriptor that is made of a register and a constant of 64 bits.
struct Made {
    Where where;
    bool adds;  ///< false: it is an or
    Reg address;
    std::uint64_t constant;
};

std::vector<Made> made_descriptors(const Program& program) {
    constexpr int width = 64;
    const Descriptors descriptors(program);
    std::vector<Made> out;
    for_each_step(program, [&](const Step& step) {
        const bool adds = step.op == isa::find("add");
        if (!adds && step.op != isa::find("or")) return;
        if (isa::bits(step.form.type()) != width || step.operands.size() != 3 ||
            step.operands[2].kind != Operand::Kind::imm || !descriptors.contain(step.operands[0].reg))
            return;
        out.push_back(
            {step.where, adds, step.operands[1].reg, static_cast<std::uint64_t>(step.operands[2].imm)});
    });
    return out;
}

}  // namespace

std::optional<Where> keeps_fragments_in_flight(const Program& program) {
    const InFlight found(program);
    return found.pending ? found.first : std::nullopt;
}

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

std::optional<Where> repeats_a_product(const Program& program) {
    Equal found;
    for (const BasicBlock& block : program.blocks()) {
        for (const Step& step : block.steps) found.look(step);
        found.end_block();
    }
    return found.first;
}

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

std::optional<Where> describes_in_two_layouts(const Program& program) {
    std::map<std::uint32_t, std::map<std::uint64_t, int>> layouts;  // by address, by upper half: how many
    for (const Made& one : made_descriptors(program)) {
        std::map<std::uint64_t, int>& of = layouts[one.address.id];
        ++of[one.constant >> 32];
        // Two of one and three of another are the fewest that have been seen to be wrong.
        const auto at_least = [&](int count) {
            return std::ranges::count_if(of, [count](const auto& layout) { return layout.second >= count; });
        };
        if (at_least(3) >= 1 && at_least(2) >= 2) return one.where;
    }
    return std::nullopt;
}

std::optional<Where> adds_an_upper_half(const Program& program) {
    for (const Made& one : made_descriptors(program))
        if (one.adds && one.constant != 0 && static_cast<std::uint32_t>(one.constant) == 0) return one.where;
    return std::nullopt;
}

}  // namespace wgrun
