#include "sim/observer.hpp"

#include "sim/cluster.hpp"

namespace wgrun::sim {

const Program& View::program() const { return cluster_->program_; }
const Code& View::code() const { return cluster_->code_; }
std::uint64_t View::steps() const { return cluster_->steps_; }
int View::warps() const { return static_cast<int>(cluster_->warps_.size()); }
int View::ctas() const { return static_cast<int>(cluster_->ctas_.size()); }
Dim3 View::cta(int rank) const { return cluster_->ctas_[static_cast<std::size_t>(rank)].position; }

View::Warp View::warp(int warp) const {
    using Inside = sim::Warp::State;
    const sim::Warp& inside = cluster_->warps_[static_cast<std::size_t>(warp)];
    Cta& cta = cluster_->ctas_[static_cast<std::size_t>(warp / cluster_->warps_per_cta_)];
    Warp out;
    out.cta = cta.position;
    out.rank = cluster_->rank(cta);
    out.warp = warp - cta.first;
    out.pc = inside.pc;
    out.all = inside.all;
    out.running = inside.running;
    if (inside.state == Inside::ended) {
        out.state = State::ended;
    } else if (inside.state != Inside::ready) {
        out.state = State::waits;
        out.waits_for = inside.state == Inside::asleep && inside.wait == sim::Warp::Wait::copies
                            ? "for copies to come"
                            : cluster_->waits_for(inside, cta);
        out.waits_at = inside.state == Inside::at_barrier ? inside.pc - 1 : inside.pc;
    }
    return out;
}

const std::byte* View::lanes_of(int warp, isa::Reg reg) const {
    return cluster_->warps_[static_cast<std::size_t>(warp)].registers.data(reg);
}

isa::Mask View::written(int warp, isa::Reg reg) const {
    return cluster_->warps_[static_cast<std::size_t>(warp)].registers.state(reg).written;
}

bool View::in_flight(int warp, isa::Reg reg) const {
    Registers& registers = cluster_->warps_[static_cast<std::size_t>(warp)].registers;
    return registers.in_flight(registers.state(reg));
}

std::span<const std::byte> View::shared(int rank) const {
    SharedMemory& memory = cluster_->ctas_[static_cast<std::size_t>(rank)].shared;
    return {memory.at(SharedMemory::base), static_cast<std::size_t>(memory.bytes())};
}

std::vector<View::Mbarrier> View::mbarriers(int rank) const {
    std::vector<Mbarrier> out;
    for (const sim::Mbarrier& inside : cluster_->ctas_[static_cast<std::size_t>(rank)].mbarriers.all())
        out.push_back({inside.offset(), inside.live(), inside.phase(), inside.expected(), inside.pending(),
                       inside.tx(), inside.made.pc()});
    return out;
}

const std::byte* View::global(std::uint64_t address, int bytes) const {
    return cluster_->global_.find(address, bytes);
}

std::string View::global_place(std::uint64_t address) const { return cluster_->global_.place(address); }

std::uint64_t View::param(int index) const {
    return cluster_->launch_.params[static_cast<std::size_t>(index)];
}

std::uint32_t View::pc(int warp) const { return cluster_->warps_[static_cast<std::size_t>(warp)].pc; }
isa::Mask View::executed() const { return cluster_->active_; }

std::span<const Diagnostic> View::findings() const { return cluster_->report_.findings(); }

}  // namespace wgrun::sim
