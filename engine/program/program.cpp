#include "wgrun/program.hpp"

#include <algorithm>

#include "program/end.hpp"

namespace wgrun {

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
