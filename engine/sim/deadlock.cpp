#include "sim/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "machine/account.hpp"

namespace wgrun::sim {
namespace {

/// The number of rounds in which warps that wait for mbarriers or for memory may look again without doing
/// anything else. A thread that polls memory may count its attempts, as one that waits for an mbarrier is
/// seen to: that ends sooner or later.
constexpr int patience = 1000, patience_of_counters = 100000;

isa::Awaits kind_of(const Warp& warp) {
    if (warp.state != Warp::State::asleep) return isa::Awaits::barrier;
    switch (warp.wait) {
        case Warp::Wait::registers: return isa::Awaits::registers;
        case Warp::Wait::cluster: return isa::Awaits::cluster;
        case Warp::Wait::memory: return isa::Awaits::memory;
        default: return isa::Awaits::mbarrier;
    }
}

}  // namespace

// A wait for an mbarrier ends by itself after a while, and the kernel may then do something else. Before
// that, lanes that have diverged from those that wait get their turn; finally also lanes that wait to
// reconverge with them, such as the one that holds a lock.
bool Deadlock::wake_sleepers() {
    const auto polls = [](const Warp& warp) {
        return warp.state == Warp::State::asleep && warp.wait == Warp::Wait::memory;
    };
    const bool counts = std::ranges::any_of(scene_.warps, [&](const Warp& warp) {
        return polls(warp) || (kind_of(warp) == isa::Awaits::mbarrier &&
                               scene_.code.ops[warp.pc].attempts == Attempts::counted);
    });
    if (++scene_.fruitless > (counts ? patience_of_counters : patience)) return false;
    if (scene_.fruitless >= patience && come_back()) return false;
    bool any = false;
    for (Warp& warp : scene_.warps) {
        if (warp.state != Warp::State::asleep || (warp.wait != Warp::Wait::mbarrier && !polls(warp)))
            continue;
        warp.state = Warp::State::ready;
        any = true;
        if (warp.parted.let_others(warp.running, warp.pc, scene_.fruitless > patience / 2))
            warp.polled = {};
        else
            warp.give_up = true;
    }
    return any;
}

// The warps are remembered after 1024 rounds, 2048, ... (Brent, 1980).
bool Deadlock::come_back() {
    std::vector<Standing> now;
    for (const Warp& warp : scene_.warps) {
        const auto registers = warp.registers.all();
        now.push_back({warp.pc,
                       warp.running,
                       {warp.parted.groups().begin(), warp.parted.groups().end()},
                       {registers.begin(), registers.end()}});
    }
    if (std::has_single_bit(static_cast<unsigned>(scene_.fruitless))) {
        before_ = std::move(now);
        return false;
    }
    return now == before_;
}

bool Deadlock::lacks_room(std::uint32_t pc) {
    if (scene_.crowd.next == 0) return false;
    const Dim3 cluster = scene_.program.cluster();
    const auto name = [&](std::uint64_t index) {
        const Dim3 at = cluster_position(scene_.launch.grid, cluster, scene_.launch.devices.in_grid(index));
        return fmt::format("({}, {}, {})", at.x, at.y, at.z);
    };
    scene_.report.deadlock(
        {&rules::WG_SYNC_06, rules::fewer_ctas}, pc,
        rules::no_room(name(scene_.index), name(scene_.crowd.next), scene_.crowd.room * cluster.volume(),
                       scene_.launch.multiprocessors),
        {}, {}, {});
    return true;
}

// Returns the mbarrier that a sleeping warp waits for, or null.
const Mbarrier* Deadlock::waited_for(const Warp& warp, Cta& cta) {
    const bool waits = warp.state == Warp::State::asleep && warp.wait == Warp::Wait::mbarrier;
    return waits && warp.barrier < Warp::several ? cta.mbarriers.find(warp.barrier) : nullptr;
}

rules::Wait Deadlock::waits_for(const Warp& warp, Cta& cta) const {
    using State = Warp::State;
    using Wait = Warp::Wait;
    if (warp.state == State::at_collective)
        return {fmt::format("for the whole warpgroup at {}", scene_.code.ops[warp.pc].step->op->name)};
    if (warp.state == State::at_barrier) {
        const std::uint32_t id = warp.barrier;
        return rules::at_barrier(id, cta.barriers.arrived(id), cta.barriers.expected(id));
    }
    if (warp.wait == Wait::registers) {
        const auto local = static_cast<int>(&warp - scene_.warps.data()) - cta.first;
        const machine::RegisterPool& pool = cta.registers;
        return rules::for_registers(pool.wanted(local), pool.held(local), pool.free());
    }
    if (warp.wait == Wait::cluster)
        return rules::at_cluster_barrier(barriers_.cluster().arrived(), scene_.warps.size());
    if (warp.wait == Wait::memory) return {"for memory to change that nobody writes any more"};
    const Mbarrier* mbarrier = waited_for(warp, cta);
    if (mbarrier == nullptr) return {"for several mbarriers"};
    return rules::for_phase(mbarrier->phase(), warp.parity, scene_.report.place(*mbarrier),
                            mbarrier->expected() - mbarrier->pending(), mbarrier->expected(), mbarrier->tx());
}

void Deadlock::report() {
    for (const Warp& warp : scene_.warps)
        if (warp.state == Warp::State::asleep && warp.wait == Warp::Wait::memory && warp.polled.global &&
            lacks_room(warp.pc))
            return;
    // The waits: the likeliest cause first, then in the order of the code.
    struct Place {
        isa::Awaits wait;
        bool of_cta;  ///< not of the warpgroup, whose parting is the likelier cause
        std::uint32_t pc;
        std::size_t rank;
        std::string what;
        auto operator<=>(const Place&) const = default;
    };
    struct Waiting {
        std::uint32_t warps = 0;
        std::vector<Fact> facts{};
        const Mbarrier* mbarrier = nullptr;
    };
    std::map<Place, Waiting> places;
    std::vector<Note> notes;
    const auto of = [&](std::size_t rank) {
        return scene_.ctas.size() == 1 ? std::string() : fmt::format(" of CTA {} of the cluster", rank);
    };
    std::string ended;
    for (std::size_t rank = 0; rank < scene_.ctas.size(); ++rank) {
        std::uint32_t done = 0;
        for (int w = 0; w < scene_.warps_per_cta; ++w) {
            const Warp& warp = scene_.warps[static_cast<std::size_t>(scene_.ctas[rank].first + w)];
            if (warp.state == Warp::State::ended) {
                done |= 1U << w;
                continue;
            }
            const std::uint32_t pc = warp.state == Warp::State::at_barrier ? warp.pc - 1 : warp.pc;
            const Mbarrier* mbarrier = waited_for(warp, scene_.ctas[rank]);
            rules::Wait wait = waits_for(warp, scene_.ctas[rank]);
            Waiting& waiting = places[{kind_of(warp), warp.state != Warp::State::at_collective, pc, rank,
                                       std::move(wait.text)}];
            waiting.warps |= 1U << w;
            waiting.mbarrier = mbarrier;
            waiting.facts = std::move(wait.facts);
        }
        if (done != 0)
            ended += (ended.empty() ? "" : "; ") + rules::names_of_warps(done) + of(rank) + " ended";
    }
    if (places.empty()) return;
    std::string message;
    std::vector<Fact> facts;
    rules::Lack lack;
    for (auto& [place, waiting] : places) {
        std::string who = rules::names_of_warps(waiting.warps) + of(place.rank);
        std::string text = who + (std::has_single_bit(waiting.warps) ? " waits " : " wait ") + place.what;
        if (message.empty()) {
            message = rules::kernel_hangs(text);
            facts = std::move(waiting.facts);
            facts.insert(facts.begin(), {"who", std::move(who)});
            if (waiting.mbarrier != nullptr)
                lack = rules::lack_of(machine::account_of(
                    *waiting.mbarrier, [&](std::uint32_t pc) { return scene_.code.where(pc); }));
            notes = std::move(lack.notes);
            continue;
        }
        notes.push_back({scene_.code.where(place.pc), std::move(text)});
    }
    if (!ended.empty()) notes.push_back({scene_.program.where(), std::move(ended)});
    const Place& first = places.begin()->first;
    scene_.report.deadlock(first.of_cta ? wait_words::law(first.wait)
                                        : wait_words::Law{&rules::WG_SYNC_01, wait_words::whole_warpgroup},
                           first.pc, std::move(message), std::move(lack.fix), std::move(notes),
                           std::move(facts));
}

}  // namespace wgrun::sim
