#include "wgrun/program.hpp"

#include <algorithm>
#include <utility>

#include "program/end.hpp"
#include "program/limits.hpp"
#include "wgrun/target.hpp"

namespace wgrun {

bool Param::is_enough(std::int64_t value) const {
    if (least <= 0) return true;
    return isa::is_signed(type) ? value >= least
                                : static_cast<std::uint64_t>(value) >= static_cast<std::uint64_t>(least);
}

std::int64_t Param::bytes() const {
    if (structure > 0) return structure;
    return isa::bits(type) / 8;
}

std::int64_t Param::align() const {
    if (structure > 0) return structure_align;
    return type == isa::Type::tensormap ? std::max(sm_90a.tensor_maps.align, structure_align) : bytes();
}

Dim3 Program::grid_like(Dim3 wanted) const {
    return {grid_.x != 0 ? grid_.x : wanted.x, grid_.y != 0 ? grid_.y : wanted.y,
            grid_.z != 0 ? grid_.z : wanted.z};
}

std::size_t Program::passed_params() const {
    const auto passed = std::ranges::count_if(params_, [](const Param& param) { return !param.variable; });
    return static_cast<std::size_t>(passed);
}

std::int64_t Program::param_offset(int index) const {
    std::int64_t end = 0;
    for (std::size_t i = 0; i < params_.size(); ++i) {
        const std::int64_t align = params_[i].align();
        end = (end + align - 1) / align * align;
        if (std::cmp_equal(i, index)) return end;
        end += params_[i].bytes();
    }
    return end;
}

std::int64_t Program::shared_bytes() const {
    return shared_.empty() ? 0 : shared_.back().offset + shared_.back().bytes;
}

std::int64_t Program::shared_align() const {
    std::int64_t align = 16;
    for (const SharedBuffer& buffer : shared_) align = std::max(align, buffer.align);
    return align;
}

isa::PtxVersion Program::min_ptx() const {
    isa::PtxVersion version{8, 0};
    constexpr isa::PtxVersion with_large_parameters{8, 1}, with_wide{8, 3};
    if (param_offset(static_cast<int>(params_.size())) > old_parameter_bytes) version = with_large_parameters;
    for (const RegisterInfo& info : registers_)
        if (isa::bits(info.type) > 64) version = with_wide;
    for_each_step(*this, [&](const Step& step) {
        version = std::max(version, isa::row_of(*step.op, step.form).min_ptx);
    });
    return version;
}

void for_each_step(const Program& program, const std::function<void(const Step&)>& visit) {
    for (const BasicBlock& block : program.blocks())
        for (const Step& step : block.steps) visit(step);
}

Where end_of(const Program& program) {
    const std::vector<BasicBlock>& blocks = program.blocks();
    const BasicBlock& last = blocks.back();
    if (!last.steps.empty()) return last.steps.back().where;
    if (last.label.kind != Label::Kind::none) return last.label.where;
    return blocks.size() > 1 ? blocks[blocks.size() - 2].where : program.where();
}

}  // namespace wgrun
