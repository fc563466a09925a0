#include "check/abstract/execution_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "isa/generic.hpp"
#include "isa/order.hpp"
#include "machine/mbarrier.hpp"
#include "program/wait_words.hpp"

namespace wgrun::check::abstract {

using isa::lanes;

ExecutionState::ExecutionState(const Program& program, const Skeleton& skeleton, LaunchSizes sizes,
                               Dim3 cluster)
    : program(program),
      skeleton(skeleton),
      sizes(std::move(sizes)),
      at(cluster),
      warps_per_cta((program.threads() + lanes - 1) / lanes),
      ctas(static_cast<int>(program.cluster().volume())),
      warps(static_cast<std::size_t>(warps_per_cta * ctas)) {
    waits.reset(warps.size());
    for (int w = 0; w < static_cast<int>(warps.size()); ++w) {
        Warp& warp = warps[static_cast<std::size_t>(w)];
        warp.number = w;
        warp.cta = w / warps_per_cta;
        const int threads = program.threads() - w % warps_per_cta * lanes;
        warp.all = warp.running = threads >= lanes ? UINT32_MAX : (1U << threads) - 1;
    }
}

void ExecutionState::release(Knowledge& place) {
    warp->known.learn(warp->number, warp->now);
    place.learn(warp->known);
    ++warp->now;
    if (!proves) return;
    const std::uint32_t covered = this->covered();
    place.memory.learn(ordered_by(warp->number), covered);
    place.memory.learn(fenced_by(warp->number), std::min(covered, warp->published));
    place.memory.learn(multiplied_by(warp->number), warp->multiplied);
    if (warp->some != 0 && (active & ~warp->some) == 0) place.memory.learn(warp->of_some);
    ++warp->accesses;
}

std::uint32_t ExecutionState::known(const Warp& warp, int index, isa::Mask lanes) {
    std::uint32_t out = warp.known.memory.of(index);
    if ((lanes & ~warp.some) == 0) out = std::max(out, warp.of_some.of(index));
    return out;
}

bool ExecutionState::comes_after(const Warp& warp, int before, isa::Mask of, std::uint32_t clock,
                                 isa::Mask by) {
    if (before != warp.number) return known(warp, ordered_by(before), by) >= clock;
    const bool same_lane = of == by && std::has_single_bit(by);
    return same_lane || clock <= warp.together;
}

std::optional<machine::SharedPlace> ExecutionState::shared_place(isa::Space space,
                                                                 std::uint64_t address) const {
    if (space == isa::Space::generic) {
        const isa::Space window = isa::space_of(address);
        if (window != isa::Space::shared_cluster && window != isa::Space::shared) return std::nullopt;
        address = isa::within_space(address);
    }
    return machine::locate(address, static_cast<std::uint32_t>(warp->cta), static_cast<std::size_t>(ctas));
}

void ExecutionState::gather(Warp& warp) {
    warp.known.memory.learn(warp.of_some);
    warp.of_some.clear();
    warp.some = warp.touched = 0;
    warp.together = warp.accesses++;
}

void ExecutionState::publish() {
    warp->published = std::max(warp->published, covered());
    ++warp->accesses;
    const bool all = (warp->all & ~active) == 0;
    if (!all && warp->some != active) {
        warp->some = active;
        warp->of_some.clear();
    }
    Clocks& to = all ? warp->known.memory : warp->of_some;
    for (const Warp& other : warps) {
        if (other.number == warp->number) continue;
        to.learn(fenced_by(other.number), warp->known.memory.of(ordered_by(other.number)));
        to.learn(fenced_by(other.number), warp->of_some.of(ordered_by(other.number)));
    }
}

void ExecutionState::fence(const isa::MemoryOrder& order) {
    if (order.acquire) acquire(*warp, warp->seen);
    if (order.release) release(warp->fenced);
}

void ExecutionState::acquire(Warp& learns, const Knowledge& place) const {
    const Clocks before = proves ? learns.known.memory : Clocks();
    learns.known.learn(place);
    learns.gathered = std::max(learns.gathered, place.of(learns.number));
    // What some lanes learn, the others know when they have met.
    if (!proves || &learns != warp || (learns.all & ~active) == 0) return;
    learns.known.memory = before;
    if (learns.some != active) {
        learns.some = active;
        learns.of_some.clear();
    }
    learns.of_some.learn(place.memory);
}

bool ExecutionState::known_in(int cta, int actor, std::uint32_t clock) const {
    for (int w = first(cta); w < first(cta) + warps_per_cta; ++w)
        if (warps[static_cast<std::size_t>(w)].known.of(actor) >= clock) return true;
    return false;
}

std::string ExecutionState::name(const Warp& warp) const {
    return ctas == 1 ? fmt::format("warp {}", local(warp))
                     : fmt::format("warp {} of CTA {}", local(warp), warp.cta);
}

std::string ExecutionState::place(std::uint32_t offset) const { return wait_words::place(program, offset); }

const Step* ExecutionState::step(std::uint32_t pc) const {
    return pc == machine::no_pc ? nullptr : skeleton.ops[pc].step;
}

Where ExecutionState::where(std::uint32_t pc) const {
    return pc == machine::no_pc ? Where{} : skeleton.ops[pc].where;
}

}  // namespace wgrun::check::abstract
