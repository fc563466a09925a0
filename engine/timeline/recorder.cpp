#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "timeline/trace.hpp"

namespace wgrun::timeline {
namespace {

constexpr std::size_t most_items = std::size_t{1} << 25;  // 12 bytes each

/// The mbarrier at `offset`, by the script's name of its memory.
std::string mbarrier_name(const Program& program, std::uint32_t offset) {
    constexpr std::int64_t bytes = 8;
    for (const SharedBuffer& buffer : program.shared()) {
        const std::int64_t inside = static_cast<std::int64_t>(offset) - buffer.offset;
        if (inside < 0 || inside >= buffer.bytes || buffer.name.empty()) continue;
        return buffer.bytes == bytes ? buffer.name : fmt::format("{}[{}]", buffer.name, inside / bytes);
    }
    return fmt::format("the mbarrier at {}", offset);
}

}  // namespace

std::string barrier_name(const Program& program, Barrier::Kind kind, std::uint32_t place) {
    return kind == Barrier::Kind::mbarrier ? mbarrier_name(program, place)
           : kind == Barrier::Kind::cta    ? fmt::format("barrier {}", place)
                                           : "the barrier of the cluster";
}

void Recorder::begin(sim::View view) {
    if (began_) return;
    began_ = true;
    first_ = view.cta(0);
    const int warps = view.warps(), of_cta = warps / view.ctas();
    trace_.warps.resize(static_cast<std::size_t>(warps));
    retries_.resize(trace_.warps.size());
    for (int w = 0; w < warps; ++w) {
        trace_.warps[static_cast<std::size_t>(w)].rank = w / of_cta;
        trace_.warps[static_cast<std::size_t>(w)].warp = w % of_cta;
    }
    trace_.read_params.resize(view.program().params().size());
    requests_.begin(view.code());
}

void Recorder::before(sim::View view, int warp) {
    if (mine(view)) requests_.before(view, warp, view.pc(warp));
}

std::uint32_t Recorder::barrier(sim::View view, Barrier::Kind kind, int rank, std::uint32_t place) {
    const auto [found, added] =
        indices_.try_emplace({kind, rank, place}, static_cast<std::uint32_t>(trace_.barriers.size()));
    if (added) {
        trace_.barriers.push_back({kind, rank, barrier_name(view.program(), kind, place), {}});
        generation_.push_back(0);
    }
    return found->second;
}

void Recorder::count(std::uint32_t index, std::uint32_t phase, bool bytes) {
    Barrier& barrier = trace_.barriers[index];
    if (barrier.counted.size() <= phase) barrier.counted.resize(phase + 1);
    ++barrier.counted[phase];
    barrier.counts_bytes |= bytes;
}

// Tensors follow each other in memory, and so do tensor maps.
void Recorder::note_read(sim::View view, std::uint64_t global) {
    const std::vector<Param>& params = view.program().params();
    int found = -1;
    for (int i = 0; i < static_cast<int>(params.size()); ++i)
        if (params[static_cast<std::size_t>(i)].pointee && view.param(i) <= global &&
            (found < 0 || view.param(i) > view.param(found)))
            found = i;
    if (found >= 0) trace_.read_params[static_cast<std::size_t>(found)] = true;
}

void Recorder::signal(sim::View view, int, const sim::Signal& signal) {
    using Kind = sim::Signal::Kind;
    if (!mine(view)) return;
    switch (signal.kind) {
        case Kind::arrival: {
            const std::uint32_t index = barrier(view, Barrier::Kind::mbarrier, signal.rank, signal.place);
            count(index, signal.phase, false);
            return add({Event::Kind::arrive, false, signal.rank, index, signal.phase});
        }
        case Kind::passed: {
            const std::uint32_t index = barrier(view, Barrier::Kind::mbarrier, signal.rank, signal.place);
            return add({Event::Kind::wait, false, signal.rank, index, signal.phase});
        }
        case Kind::copy: {
            const std::uint32_t index = barrier(view, Barrier::Kind::mbarrier, signal.rank, signal.place);
            count(index, signal.phase, true);
            note_read(view, signal.global);
            if (signal.global != 0) requests_.copied(view, signal);
            return add({Event::Kind::copy, false, signal.rank, index, signal.phase, signal.bytes,
                        signal.global != 0});
        }
        case Kind::store:
            requests_.copied(view, signal);
            return add({Event::Kind::store, false, signal.rank, 0, 0, signal.bytes, true});
        case Kind::commit: return add({Event::Kind::commit});
        case Kind::drained: return add({Event::Kind::drained, signal.bytes != 0, 0, 0, signal.phase});
        case Kind::meeting: {
            const std::uint32_t index = barrier(view, Barrier::Kind::cta, signal.rank, signal.place);
            const std::uint32_t phase = generation_[index];
            count(index, phase, false);
            add({Event::Kind::arrive, false, signal.rank, index, phase});
            if (signal.bytes != 0) add({Event::Kind::wait, false, signal.rank, index, phase});
            return;
        }
        case Kind::met: ++generation_[barrier(view, Barrier::Kind::cta, signal.rank, signal.place)]; return;
        case Kind::cluster_arrival:
        case Kind::cluster_passed: {
            const std::uint32_t index = barrier(view, Barrier::Kind::cluster, 0, 0);
            const bool arrives = signal.kind == Kind::cluster_arrival;
            if (arrives) count(index, signal.phase, false);
            return add({arrives ? Event::Kind::arrive : Event::Kind::wait, false, 0, index, signal.phase});
        }
    }
}

void Recorder::after(sim::View view, int w, std::uint32_t pc) {
    if (!mine(view)) return;
    WarpTrace& warp = trace_.warps[static_cast<std::size_t>(w)];
    const sim::Op& op = view.code().ops[pc];
    // Asleep: it will execute the step again.
    if (op.kind == sim::Op::Kind::step && view.pc(w) == pc) return pending_.clear();

    Retry& retry = retries_[static_cast<std::size_t>(w)];
    if (retry.pc == pc) {
        if (retry.events == warp.events.size()) warp.items.resize(retry.items);
        retry.pc = sim::no_pc;
    }
    const isa::Mask executed = op.step == nullptr ? isa::Mask{1} : view.executed();
    if (op.step != nullptr && op.step->op->awaits == isa::Awaits::mbarrier && pending_.empty() &&
        executed != 0)
        retry = {pc, warp.items.size(), warp.events.size()};

    Item item;
    item.pc = pc;
    item.event = static_cast<std::uint32_t>(warp.events.size());
    item.events = static_cast<std::uint16_t>(pending_.size());
    item.lanes = static_cast<std::uint8_t>(std::popcount(executed));
    item.units = static_cast<std::uint8_t>(requests_.after(pc, executed).taken);
    warp.items.push_back(item);
    warp.events.insert(warp.events.end(), pending_.begin(), pending_.end());
    pending_.clear();
    if (++recorded_ > most_items)
        throw ArgumentError(fmt::format("a CTA of this launch executes more than {} warp instructions, "
                                        "too many for a timeline",
                                        most_items),
                            "make the problem smaller");
}

void Recorder::ended(sim::View view) {
    if (!mine(view)) return;
    findings_.assign(view.findings().begin(), view.findings().end());
    throw Recorded{};
}

}  // namespace wgrun::timeline
