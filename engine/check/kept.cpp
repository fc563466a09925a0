#include "check/kept.hpp"

#include <algorithm>

namespace wgrun::check {

bool Kept::keeps(isa::Reg reg, int loop, BlockId at) {
    loop_ = loop, at_ = at;
    in_flight_.clear();
    return keeps(reg, nullptr);
}

/// Is it written earlier in each turn? What is written later has another value in the first turn.
bool Kept::comes_before(const Writer& writer, const Writer* reader) const {
    if (reader != nullptr && writer.block == reader->block) return writer.number < reader->number;
    return outline_.graph().dominates(writer.block, reader != nullptr ? reader->block : at_);
}

bool Kept::keeps(isa::Reg reg, const Writer* reader) {
    // What depends on itself counts the turns.
    if (std::ranges::find(in_flight_, reg) != in_flight_.end()) return false;
    const Writer* only = nullptr;
    for (const Writer& writer : writers_.of(reg)) {
        if (!outline_.graph().inside(writer.block, loop_)) continue;
        if (only != nullptr) return false;
        only = &writer;
    }
    if (only == nullptr) return true;
    const Step& step = *only->step;
    if (step.guard || step.op->effects != nullptr || step.op->run == nullptr || step.op->convergent ||
        !comes_before(*only, reader))
        return false;
    in_flight_.push_back(reg);
    bool out = true;
    isa::for_each_read(step, [&](isa::Reg source) { out = out && keeps(source, only); });
    in_flight_.pop_back();
    return out;
}

}  // namespace wgrun::check
