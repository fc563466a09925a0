#include "sim/taint.hpp"

#include <algorithm>

#include "isa/device_print.hpp"
#include "isa/effects.hpp"
#include "isa/generic.hpp"
#include "isa/library.hpp"
#include "isa/membermask.hpp"
#include "isa/opaque.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::sim {
namespace {

using isa::Access;
using isa::Operand;
using isa::OperandRule;

/// What the first CTA of every grid reads there, or every CTA of a known one. (The identity of an SM and
/// clocks differ.)
bool same_in_every_launch(isa::Special which, bool known_grid) {
    using enum isa::Special;
    if (known_grid && which != smid && isa::is_of_grid(which)) return true;
    return which <= ctaid_z || (which >= laneid && which <= clusterid_z) ||
           (which >= cluster_ctaid_x && which <= warpid) || (which >= lanemask_eq && which <= lanemask_gt) ||
           which == is_explicit_cluster;
}

/// Which are not computed, but read for.
constexpr std::uint32_t cost_of_product = 32;  // steps

class Listener final : public isa::Effects {
  public:
    explicit Listener(bool generic_is_global) : generic_is_global_(generic_is_global) {}
    bool reads_memory = false, writes_memory = false, beyond_global = false;
    bool agrees = false;  ///< with other threads, or with what works asynchronously
    bool computes = false, multiplies = false, hidden = false, prefetches = false;
    std::vector<const Operand*> addresses;
    const Operand* coordinates = nullptr;
    const Operand* metadata = nullptr;  ///< of a product of a warp, which not all words are

  private:
    void memory(const isa::MemoryAccess& access) override {
        addresses.push_back(access.address);
        (access.write ? writes_memory : reads_memory) = true;
        beyond_global |= access.space != isa::Space::global &&
                         !(generic_is_global_ && access.space == isa::Space::generic);
    }
    void unknown() override { hidden = true; }
    void prefetch() override { prefetches = true; }
    void issue_mma(const isa::AsyncMma&) override { multiplies = true; }
    void multiply(const isa::WarpMma& mma) override {
        computes = true;
        metadata = mma.metadata;
    }
    void copy_async(const isa::AsyncCopy&) override { agrees = true; }
    void arrive_copies(const Operand&) override { agrees = true; }
    void bulk_copy(const isa::BulkAccess& copy) override {
        agrees = true;
        coordinates = copy.coordinates;
    }
    void counted(const Operand&) override { agrees = true; }
    void mbarrier(const isa::MbarrierAccess&) override { agrees = true; }
    void barrier(const Operand&, const Operand&) override { agrees = true; }
    void arrive(const Operand&, const Operand&) override { agrees = true; }

    bool generic_is_global_;
};

/// Whether no step makes a generic address of memory that is the kernel's own: then all of them come from the
/// launch, and point to global memory.
bool all_generic_is_global(const Program& program) {
    bool out = true;
    for_each_step(program, [&](const isa::Step& step) {
        out &= !isa::makes_generic_of_own(step) && !isa::is_opaque(*step.op) &&
               isa::inline_ptx_of(*step.op) == nullptr;
    });
    return out;
}

}  // namespace

Taint::Taint(const Program& program, const Code& code, const Synthetic& synthetic, int warps)
    : program_(program),
      code_(code),
      synthetic_(synthetic),
      registers_(program.registers().size()),
      generic_is_global_(all_generic_is_global(program)),
      known_(code.ops.size()) {
    tainted_.resize(static_cast<std::size_t>(warps) * registers_);
    outcome_.resize(static_cast<std::size_t>(warps));
}

void Taint::reset() {
    std::ranges::fill(tainted_, std::uint8_t{0});
    left_ = synthetic_.steps;
    unasked_ = 0;
}

void Taint::hurry() {
    constexpr std::uint64_t soon = 1U << 12;  // steps
    left_ = std::min(left_, soon);
}

const Taint::Facts& Taint::facts(std::uint32_t pc) {
    const Facts*& known = known_[pc];
    if (known == nullptr) known = &facts_.emplace_back(facts_of(code_.ops[pc]));
    return *known;
}

Taint::Facts Taint::facts_of(const Op& op) const {
    const isa::Step& step = *op.step;
    Facts out;
    Listener told(generic_is_global_);
    isa::visit_effects(step, told);
    const isa::InlinePtx* text = isa::inline_ptx_of(*step.op);
    const bool prints = step.op == &isa::library::print();
    out.unknown =
        text != nullptr ? !text->simulated : told.hidden && !isa::device_print::prints(*step.op) && !prints;
    out.effects = step.op->effects != nullptr;
    // What other threads write meanwhile, or other kernels, is not made up.
    const bool others = op.order.strong || told.writes_memory;
    out.loads = (told.reads_memory && (!synthetic_.memory || others)) ||
                (told.multiplies && !synthetic_.memory) || prints;
    if (told.multiplies) out.cost = cost_of_product;
    const bool device_prints = isa::device_print::prints(*step.op);
    out.harmless = device_prints || prints || told.prefetches || told.metadata != nullptr ||
                   (!told.agrees && !told.multiplies && !told.addresses.empty() &&
                    !(told.writes_memory && told.beyond_global));
    // Of effects that are none of these nobody knows what they depend on.
    const bool other = out.effects && !told.computes && !told.multiplies && told.addresses.empty();
    if (step.form.has(isa::Field::sreg))
        out.loads |= !same_in_every_launch(static_cast<isa::Special>(step.form.get(isa::Field::sreg)),
                                           !synthetic_.numbers);
    const Operand* mask = isa::membermask_of(step);
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        const OperandRule& rule = step.op->operands[i];
        if (operand.kind == Operand::Kind::param) {
            const Param& param = program_.params()[static_cast<std::size_t>(operand.index)];
            out.loads |= !param.pointee && !param.box &&
                         (synthetic_.numbers || (!synthetic_.memory && isa::is_float(param.type)));
        }
        const bool address = (rule.kinds & OperandRule::address) != 0;
        if (address && !out.effects && !synthetic_.memory)
            out.loads = true;  // of constants that the launch gives
        const bool accesses = std::ranges::find(told.addresses, &operand) != told.addresses.end();
        const bool of_product = told.multiplies && operand.kind == Operand::Kind::list;
        const bool decides = accesses || &operand == mask || &operand == told.metadata || told.agrees ||
                             device_prints || other || (told.multiplies && !of_product);
        isa::for_each_register(operand, [&](Reg reg) {
            if (rule.access != Access::in) out.results.push_back(reg.id);
            if (rule.access != Access::out)
                (&operand == told.coordinates ? out.place
                 : decides                    ? out.decisive
                                              : out.values)
                    .push_back(reg.id);
        });
    }
    return out;
}

bool Taint::any(int warp, const std::vector<std::uint32_t>& regs) const {
    return std::ranges::any_of(regs, [&](std::uint32_t reg) { return tainted(warp, reg); });
}

bool Taint::is_over() {
    constexpr std::uint32_t between_clocks = 1024;  // steps
    if (!synthetic_.until || unasked_++ % between_clocks != 0) return false;
    return std::chrono::steady_clock::now() >= *synthetic_.until;
}

Taint::Verdict Taint::judge(int warp, std::uint32_t pc) {
    const Facts& facts = this->facts(pc);
    const Op& op = code_.ops[pc];
    box_is_tainted_ = any(warp, facts.place);
    if (left_ < facts.cost || is_over()) return Verdict::limit;
    if (facts.unknown) return Verdict::stop;
    left_ -= facts.cost;
    const bool guarded = op.reg != no_reg && tainted(warp, op.reg);
    std::uint8_t& outcome = outcome_[static_cast<std::size_t>(warp)];
    outcome = facts.loads || guarded || any(warp, facts.values) || any(warp, facts.decisive);
    if (guarded && !facts.effects && !op.aligned) return Verdict::skip;
    if (!guarded && !any(warp, facts.decisive)) return Verdict::go;
    return facts.harmless ? Verdict::skip : Verdict::stop;
}

void Taint::executed(int warp, std::uint32_t pc, bool by_all) {
    const std::uint8_t outcome = outcome_[static_cast<std::size_t>(warp)];
    for (const std::uint32_t reg : facts(pc).results) {
        std::uint8_t& of = tainted_[static_cast<std::size_t>(warp) * registers_ + reg];
        of = by_all ? outcome : of | outcome;
    }
}

}  // namespace wgrun::sim
