// What the registers of an abstract execution's warps depend on, and what a step is executed by.
#include <fmt/format.h>

#include <algorithm>

#include "check/abstract/forms.hpp"
#include "isa/effects.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::abstract {

Forms::Forms(ExecutionState& execution, Values& values, isa::Machine& machine, Symbols& symbols)
    : execution_(execution), values_(values), machine_(machine), symbols_(symbols) {
    slots_.assign(execution.warps.size(),
                  std::vector<Slot>(static_cast<std::size_t>(execution.skeleton.slot_count)));
}

Forms::Dependent Forms::save() const {
    Dependent out(slots_.size());
    for (std::size_t warp = 0; warp < slots_.size(); ++warp)
        for (std::uint32_t index = 0; index < slots_[warp].size(); ++index)
            if (const Slot& slot = slots_[warp][index]; slot != Slot()) out[warp].emplace_back(index, slot);
    return out;
}

void Forms::restore(const Dependent& saved) {
    for (std::size_t warp = 0; warp < slots_.size(); ++warp) {
        std::ranges::fill(slots_[warp], Slot());
        for (const auto& [index, slot] : saved[warp]) slots_[warp][index] = slot;
    }
}

Forms::Wide Forms::get(Reg reg) const {
    Wide out{};
    const auto index = static_cast<std::size_t>(execution_.skeleton.slots[reg.id]);
    const std::uint64_t* data = values_.lanes_of(execution_.warp->number, index);
    const isa::Type type = execution_.program.registers()[reg.id].type;
    for (std::size_t lane = 0; lane < out.size(); ++lane) {
        if (isa::bits(type) > 32)
            out[lane] = static_cast<std::int64_t>(data[lane]);
        else
            out[lane] = reinterpret_cast<const std::int32_t*>(data)[lane];
    }
    return out;
}

void Forms::set(Reg reg, const Wide& lanes) {
    void* data = values_.write(reg);
    const isa::Type type = execution_.program.registers()[reg.id].type;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (isa::bits(type) > 32)
            static_cast<std::int64_t*>(data)[lane] = lanes[lane];
        else
            static_cast<std::int32_t*>(data)[lane] = static_cast<std::int32_t>(lanes[lane]);
    }
}

Form Forms::form_of(Reg reg, Where where) {
    const int index = execution_.skeleton.slots[reg.id];
    if (index < 0) return {};
    unpack(execution_.warp->number, static_cast<std::size_t>(index), where);
    const Slot& slot =
        slots_[static_cast<std::size_t>(execution_.warp->number)][static_cast<std::size_t>(index)];
    if (slot.form.empty() || (slot.lanes & execution_.active) == 0) return {};
    if ((execution_.active & ~slot.lanes) == 0) return slot.form;
    lose(slot.form, where, "a value of some lanes");
    return {};
}

void Forms::give(const Step& step, Form form) {
    isa::for_each_written(step, [&](Reg reg) {
        const int index = execution_.skeleton.slots[reg.id];
        if (index < 0) return;
        Slot& slot =
            slots_[static_cast<std::size_t>(execution_.warp->number)][static_cast<std::size_t>(index)];
        if ((slot.lanes & ~execution_.active) != 0)
            unpack(execution_.warp->number, static_cast<std::size_t>(index), step.where);
        slot.cyclic.reset();
        const isa::Mask others = slot.form.empty() ? 0 : slot.lanes & ~execution_.active;
        if (slot.form == form) {
            slot.lanes = form.empty() ? 0 : others | execution_.active;
        } else if (others == 0) {
            slot = {form, form.empty() ? 0 : execution_.active};
        } else if (form.empty()) {
            slot.lanes = others;
        } else {
            lose(slot.form, step.where, "a value of some lanes");
            lose(form, step.where, "a value of some lanes");
            slot = {};
        }
    });
}

void Forms::forget(const Op& op) { give(*op.step, {}); }

void Forms::rename(int from, int to, std::int64_t times) {
    for (auto& warp : slots_)
        for (Slot& slot : warp) {
            const auto at = slot.form.find(from);
            if (at == slot.form.end()) continue;
            const std::int64_t slope = at->second;
            slot.form.erase(at);
            add(slot.form, {{to, slope * times}});
        }
}

bool Forms::is_number(const Param& param) const {
    return (!param.pointee || follows_pointers()) && !param.box && param.structure == 0 &&
           !isa::is_float(param.type) && param.type != isa::Type::tensormap;
}

std::vector<Forms::Sourced> Forms::sources(const Step& step, const Operand* but) {
    std::vector<Sourced> out;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const isa::OperandRule& rule = step.op->operands[i];
        const Operand& operand = step.operands[i];
        if (rule.access == isa::Access::out || &operand == but) continue;
        Form form;
        if (operand.kind == Operand::Kind::param) {
            const Param& param = execution_.program.params()[static_cast<std::size_t>(operand.index)];
            if (is_number(param)) form = form_of_root(given(Root::Kind::number, operand.index));
        } else if (operand.reg) {
            form = form_of(operand.reg, step.where);
        }
        out.push_back({&operand, std::move(form)});
    }
    return out;
}

// --- what decides ---------------------------------------------------------------------------------------

namespace {

/// The operands of a step that decide about synchronisation: neither where in global memory something is, nor
/// what is stored.
class Deciding final : public isa::Effects {
  public:
    explicit Deciding(const Step& step) { isa::visit_effects(step, *this); }
    bool operator()(const Operand& operand) const {
        if (accesses_) return &operand == address_;
        return &operand != global_ && &operand != coordinates_;
    }

  private:
    void memory(const isa::MemoryAccess& access) override {
        accesses_ = true;
        if (access.space == isa::Space::shared_cluster || access.space == isa::Space::generic)
            address_ = access.address;
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        global_ = copy.global;
        coordinates_ = copy.coordinates;
    }

    bool accesses_ = false;
    const Operand *address_ = nullptr, *global_ = nullptr, *coordinates_ = nullptr;
};

}  // namespace

void Forms::execute_by(Reg reg, const Op& op, std::string_view what) {
    const Form form = form_of(reg, op.where);
    if (std::ranges::any_of(form, [](const auto& one) { return which_of(one.first) != Variable::excess; }))
        no_counters_.insert(static_cast<std::uint32_t>(execution_.skeleton.slots[reg.id]));
    if (!form.empty()) lose(form, op.where, what);
}

void Forms::use_condition(const Op& op) {
    if (op.reg) execute_by(op.reg, op, "which way a branch goes");
}

void Forms::use_addresses(const Op& op) {
    struct Told final : isa::Effects {
        void memory(const isa::MemoryAccess& access) override {
            if (access.space != isa::Space::global) addresses.push_back(access.address);
        }
        void copy_async(const isa::AsyncCopy& access) override { addresses.push_back(access.address); }
        std::vector<const Operand*> addresses;
    } told;
    isa::visit_effects(*op.step, told);
    for (const Operand* address : told.addresses)
        if (address->reg)
            lose(form_of(address->reg, op.where), op.where, "where in shared memory it accesses");
}

void Forms::use(const Op& op) {
    const Deciding decides(*op.step);
    for (std::size_t i = 0; i < op.step->operands.size(); ++i) {
        const Operand& operand = op.step->operands[i];
        if (op.step->op->operands[i].access == isa::Access::out || !decides(operand)) continue;
        isa::for_each_register(operand, [&](Reg reg) {
            execute_by(reg, op, fmt::format("what {} is executed with", op.step->op->name));
        });
    }
}

}  // namespace wgrun::check::abstract
