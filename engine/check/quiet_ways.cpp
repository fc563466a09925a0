#include "check/quiet_ways.hpp"

#include <algorithm>
#include <optional>

#include "flow/traps.hpp"
#include "isa/effects.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

bool pauses(const Step& step) {
    struct Listener final : isa::Effects {
        bool heard = false;
        void pause() override { heard = true; }
    } listener;
    isa::visit_effects(step, listener);
    return listener.heard;
}

/// Does nothing but compute, or let time go by.
bool is_quiet(const Step& step) { return step.op->effects == nullptr || pauses(step); }

}  // namespace

void compute(const Step& step, BitsOf& known) {
    const auto of = [&](Reg reg) {
        const auto its = known.find(reg.id);
        return its == known.end() ? isa::KnownBits() : its->second;
    };
    const isa::KnownBits now = step.guard ? isa::KnownBits() : isa::known_bits(step, of);
    isa::for_each_written(step, [&](Reg reg) { known[reg.id] = now; });
}

bool reads(const Step& step, const std::set<std::uint32_t>& registers) {
    bool out = step.guard && registers.contains(step.guard.id);
    isa::for_each_read(step, [&](Reg reg) { out = out || registers.contains(reg.id); });
    return out;
}

bool QuietWays::all_come(Place from, const BitsOf& known, Place to) {
    on_way_.clear();
    return all_come(from.block, from.step, known, to);
}

bool QuietWays::all_come(BlockId block, const Step* from, BitsOf known, Place to) {
    constexpr std::size_t longest = 32;
    if (on_way_.size() > longest) return false;
    const BasicBlock& at = outline_.blocks()[block];
    for (const Step* step = from;; ++step) {
        if (block == to.block && step == to.step) return true;
        if (step == at.steps.data() + at.steps.size()) break;
        passed_.insert(step);
        if (flow::traps(*step)) {
            if (!step->guard) return true;
            continue;
        }
        if (!is_quiet(*step)) return false;
        compute(*step, known);
        isa::for_each_written(*step, [&](Reg reg) {
            const bool constant = known.at(reg.id).value().has_value();
            written_[reg.id] = constant && (!written_.contains(reg.id) || written_.at(reg.id));
        });
    }
    if (at.end == BasicBlock::End::branch) branches_.insert(block);
    std::optional<std::uint64_t> condition;
    if (at.end == BasicBlock::End::branch)
        if (const auto its = known.find(at.condition.id); its != known.end()) condition = its->second.value();
    on_way_.push_back(block);
    bool out = true, any = false;
    at.for_each_successor([&](BlockId next, int arm) {
        if (condition && ((*condition != 0) != at.negated ? 0 : 1) != arm) return;
        any = true;
        if (trapping_[next]) return;
        if (std::ranges::find(on_way_, next) != on_way_.end() && next != to.block) out = false;
        out = out && all_come(next, outline_.blocks()[next].steps.data(), known, to);
    });
    on_way_.pop_back();
    return out && any;
}

bool QuietWays::is_read_elsewhere(const std::set<std::uint32_t>& registers) const {
    if (registers.empty()) return false;
    bool out = false;
    for_each_step(outline_.program(), [&](const Step& step) {
        out = out || (!passed_.contains(&step) && reads(step, registers));
    });
    return out || std::ranges::any_of(outline_.graph().order(), [&](BlockId id) {
               const BasicBlock& block = outline_.blocks()[id];
               return block.end == BasicBlock::End::branch && !branches_.contains(id) &&
                      registers.contains(block.condition.id);
           });
}

}  // namespace wgrun::check
