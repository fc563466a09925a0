#include "check/launch_loads.hpp"

#include <set>

#include "check/pointees.hpp"
#include "isa/effects.hpp"
#include "isa/order.hpp"

namespace wgrun::check {
namespace {

/// What a program accesses in global memory, by parameter.
class GlobalAccesses final : public isa::Effects {
  public:
    explicit GlobalAccesses(const std::vector<int>& pointees) : pointees_(pointees) {}

    void visit(const Step& step) {
        step_ = &step;
        isa::visit_effects(step, *this);
    }
    LaunchLoads loads() && {
        if (anywhere_) return {};
        std::erase_if(loads_, [&](const auto& load) { return written_.contains(load.second); });
        return std::move(loads_);
    }

  private:
    int param_of(const Operand& operand) const {
        if (operand.kind == Operand::Kind::param) return operand.index;
        return operand.reg ? pointees_[operand.reg.id] : from_none;
    }
    void write_to(const Operand& operand) {
        const int param = param_of(operand);
        if (param < 0)
            anywhere_ = true;
        else
            written_.insert(param);
    }
    void memory(const isa::MemoryAccess& access) override {
        using enum isa::Space;
        if (access.space != global && access.space != generic) return;
        if (access.write) return write_to(*access.address);
        const Operand& result = step_->operands.front();
        if (access.space == global && access.bytes == 4 && result.kind == Operand::Kind::reg &&
            step_->op->operands.front().access == isa::Access::out && !isa::is_float(step_->form.type()) &&
            isa::bits(step_->form.type()) == 32 && !isa::order_of(*step_).strong &&
            param_of(*access.address) >= 0)
            loads_.emplace(step_, param_of(*access.address));
    }
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.direction == isa::BulkCopy::Direction::to_global) write_to(*copy.global);
    }
    void change_map() override { anywhere_ = true; }
    void unknown() override { anywhere_ = true; }

    const std::vector<int>& pointees_;
    const Step* step_ = nullptr;
    LaunchLoads loads_;
    std::set<int> written_;
    bool anywhere_ = false;  ///< it may write to any memory
};

}  // namespace

LaunchLoads launch_loads(const Program& program, Made made) {
    const std::vector<int> of = pointees(program, made);
    GlobalAccesses accesses(of);
    for_each_step(program, [&](const Step& step) { accesses.visit(step); });
    return std::move(accesses).loads();
}

}  // namespace wgrun::check
