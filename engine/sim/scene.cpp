#include "sim/scene.hpp"

#include "machine/coordinates.hpp"
#include "machine/peers.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::sim {

Scene::Scene(Cluster& cluster, const Program& program, const Code& code, const SimulatedLaunch& launch,
             Turns& turns, Exchange& exchange)
    : program(program),
      code(code),
      launch(launch),
      turns(turns),
      exchange(exchange),
      warps_per_cta((program.threads() + isa::lanes - 1) / isa::lanes),
      entry_registers(machine::registers_at_entry(program)),
      global(program, launch),
      report(program, code, launch, waits),
      global_shadow(program, launch, warps_per_cta * static_cast<int>(program.cluster().volume()), *this),
      clocks(warps_per_cta * static_cast<int>(program.cluster().volume()), warps_per_cta),
      release_acquire(clocks, warps_per_cta, exchange),
      dependents(*this, launch.overlap),
      register_data_(static_cast<std::size_t>(clocks.warps()) * code.register_bytes),
      cluster_(cluster) {
    for (std::uint32_t on = 0; on < launch.devices.count; ++on) params.emplace_back(program, launch, on);
    const auto count_of_warps = static_cast<std::size_t>(clocks.warps());
    warps.reserve(count_of_warps);
    for (std::size_t i = 0; i < count_of_warps; ++i)
        warps.emplace_back(code, register_data_.data() + i * code.register_bytes);
    const auto count = static_cast<int>(program.cluster().volume());
    ctas.reserve(static_cast<std::size_t>(count));
    for (int rank = 0; rank < count; ++rank)
        ctas.emplace_back(program, Shadow::Warps{clocks.warps(), rank * warps_per_cta, warps_per_cta},
                          launch.detect_races, report);
}

void Scene::reset(std::uint64_t number) {
    const Dim3 size = program.cluster();
    index = number;
    const std::uint64_t first = launch.synthetic != nullptr ? launch.synthetic->first : 0;
    device = launch.devices.of(number);
    position = cluster_position(launch.grid, size, first + launch.devices.in_grid(number));
    random_ = launch.seed + number * 0x9E3779B97F4A7C15U;
    fruitless = 0;
    report.reset(position, device);
    waits.reset(warps.size());
    clocks.reset();
    global_shadow.reset();
    dependents.reset();
    pollers = wrote = stands_back = put_off = cluster_has_met = false;
    for (std::size_t rank = 0; rank < ctas.size(); ++rank) {
        const auto r = static_cast<std::uint32_t>(rank);
        ctas[rank].reset(
            machine::ThreadCoordinates{.cluster_size = size, .cluster = position, .rank = r}.cta(),
            warps_per_cta, entry_registers);
        int threads = program.threads();
        for (int w = 0; w < warps_per_cta; ++w, threads -= isa::lanes)
            warps[static_cast<std::size_t>(ctas[rank].first + w)].reset(threads);
    }
}

// SplitMix64 (Steele, Lea and Flood, 2014).
std::byte* Scene::nowhere(int bytes) {
    if (!makes_up_memory() || bytes > static_cast<int>(sizeof nowhere_)) return nullptr;
    nowhere_.fill(*launch.synthetic->memory);
    return reinterpret_cast<std::byte*>(nowhere_.data());
}

std::uint32_t Scene::draw(std::uint32_t below) {
    random_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = random_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return static_cast<std::uint32_t>(z >> 32) % below;
}

Cta* Scene::peer(std::uint64_t& address, int lane, bool owes) {
    using Whose = machine::SharedPlace::Whose;
    const auto [whose, rank, there] =
        machine::locate(address, static_cast<std::uint32_t>(this->rank(*cta)), ctas.size());
    if (whose == Whose::nobodys) {
        report.shared_out_of_bounds(false, 1, address);
        return nullptr;
    }
    address = there;
    if (whose == Whose::own) return cta;
    Cta& other = ctas[rank];
    if (other.running == 0)
        report.fault(rules::peer_has_ended(report.who(), rank, true, report.end()));
    else if (owes && launch.detect_races)
        other.owe(Epoch(clocks.now(current), pc, current, lane));
    return &other;
}

void Scene::expect_begun(const Cta& other, int lane) {
    if (cluster_has_met || !launch.detect_races || report.said_of_any(rules::WG_RACE_01)) return;
    const KnownClocks knows = clocks.of(current, lane);
    for (int w = other.first; w < other.first + warps_per_cta; ++w)
        if (knows.seen[w] != 0 || (knows.parts != nullptr && knows.parts[w].clock != 0)) return;
    report.fault(rules::peer_may_not_have_begun(report.who(), static_cast<std::uint64_t>(rank(other)),
                                                report.where(pc)));
}

void Scene::global_race(const GlobalRace& race) {
    const bool by_warp = race.other.actor() < clocks.warps(),
               same_cta = race.other.actor() / warps_per_cta == current / warps_per_cta;
    if (by_warp && code.meet(pc, race.other.pc(), same_cta)) return;
    if (race.same_value && ((code.ops[pc].fixed && code.ops[race.other.pc()].fixed) ||
                            (by_warp && !same_cta && code.ctas_alike)))
        return;
    report.global_race(race, global.place(race.address));
}

void Scene::global_unfenced(const GlobalRace& race) {
    report.global_unfenced(race, global.place(race.address));
}

void Scene::global_discarded(std::uint64_t address, Epoch by) {
    report.global_discarded(by, global.place(address));
}

void Scene::global_stale(const GlobalRace& race) { report.global_stale(race, global.place(race.address)); }

}  // namespace wgrun::sim
