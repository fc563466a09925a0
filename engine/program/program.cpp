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
    for_each_step(body_, [&](const Step& step) {
        version = std::max(version, isa::row_of(*step.op, step.form).min_ptx);
    });
    return version;
}

void for_each_step(const Block& block, const std::function<void(const Step&)>& visit) {
    for (const Node& node : block) {
        if (const auto* step = std::get_if<Step>(&node)) {
            visit(*step);
        } else if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node)) {
            for_each_step((*loop)->head, visit);
            for_each_step((*loop)->body, visit);
            for_each_step((*loop)->next, visit);
        } else if (const auto* branch = std::get_if<std::unique_ptr<Branch>>(&node)) {
            for_each_step((*branch)->then_body, visit);
            for_each_step((*branch)->else_body, visit);
        }
    }
}

Where end_of(const Program& program) {
    if (program.body().empty()) return program.where();
    const Node& last = program.body().back();
    if (const auto* step = std::get_if<Step>(&last)) return step->where;
    if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&last)) return (*loop)->where;
    if (const auto* leave = std::get_if<Leave>(&last)) return leave->where;
    return std::get<std::unique_ptr<Branch>>(last)->where;
}

}  // namespace wgrun
