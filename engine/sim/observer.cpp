#include "sim/observer.hpp"

#include "sim/cluster.hpp"

namespace wgrun::sim {

const Program& View::program() const { return cluster_->scene_.program; }
const Code& View::code() const { return cluster_->scene_.code; }
std::uint64_t View::steps() const { return cluster_->steps_; }
int View::warps() const { return static_cast<int>(cluster_->scene_.warps.size()); }
int View::ctas() const { return static_cast<int>(cluster_->scene_.ctas.size()); }
Dim3 View::cta(int rank) const { return cluster_->scene_.ctas[static_cast<std::size_t>(rank)].position; }

View::Warp View::warp(int warp) const {
    using Inside = sim::Warp::State;
    const sim::Warp& inside = cluster_->scene_.warps[static_cast<std::size_t>(warp)];
    Cta& cta = cluster_->scene_.ctas[static_cast<std::size_t>(warp / cluster_->scene_.warps_per_cta)];
    Warp out;
    out.cta = cta.position;
    out.rank = cluster_->scene_.rank(cta);
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
                            : cluster_->deadlock_.waits_for(inside, cta).text;
        out.waits_at = inside.state == Inside::at_barrier ? inside.pc - 1 : inside.pc;
    }
    return out;
}

const std::byte* View::lanes_of(int warp, isa::Reg reg) const {
    Registers& registers = cluster_->scene_.warps[static_cast<std::size_t>(warp)].registers;
    if (registers.state(reg).written == 0) registers.poison(reg);
    return registers.data(reg);
}

isa::Mask View::written(int warp, isa::Reg reg) const {
    return cluster_->scene_.warps[static_cast<std::size_t>(warp)].registers.state(reg).written;
}

bool View::in_flight(int warp, isa::Reg reg) const {
    Registers& registers = cluster_->scene_.warps[static_cast<std::size_t>(warp)].registers;
    return registers.in_flight(registers.state(reg));
}

std::span<const std::byte> View::shared(int rank) const {
    SharedMemory& memory = cluster_->scene_.ctas[static_cast<std::size_t>(rank)].shared;
    return {memory.at(SharedMemory::base), static_cast<std::size_t>(memory.bytes())};
}

std::vector<View::Mbarrier> View::mbarriers(int rank) const {
    std::vector<Mbarrier> out;
    for (const sim::Mbarrier& inside : cluster_->scene_.ctas[static_cast<std::size_t>(rank)].mbarriers.all())
        out.push_back({inside.offset(), inside.live(), inside.phase(), inside.expected(), inside.pending(),
                       inside.tx(), inside.made().pc});
    return out;
}

const std::byte* View::global(std::uint64_t address, int bytes) const {
    return cluster_->scene_.global.find(address, bytes);
}

std::string View::global_place(std::uint64_t address) const { return cluster_->scene_.global.place(address); }

std::uint64_t View::param(int index) const { return cluster_->scene_.parameters().value(index); }

std::uint32_t View::pc(int warp) const { return cluster_->scene_.warps[static_cast<std::size_t>(warp)].pc; }
isa::Mask View::executed() const { return cluster_->scene_.active; }

std::span<const Diagnostic> View::findings() const { return cluster_->scene_.report.findings(); }

}  // namespace wgrun::sim
