// What of an abstract execution's state decides how it goes on. Places in the code that only messages name
// are left out.
#include "check/abstract/barriers.hpp"
#include "check/abstract/copies.hpp"
#include "check/abstract/register_grants.hpp"

namespace wgrun::check::abstract {
namespace {

/// The actor of what is counted for each warp, and compared between warps.
constexpr int nobody = -1;

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

}  // namespace

void ExecutionState::encode(Encoder& to, int actors) {
    to.number(static_cast<std::uint64_t>(fruitless));
    for (Warp& warp : warps) {
        to.number(std::uint64_t{warp.pc} << 32 | warp.running);
        to.number(std::uint64_t{warp.all} << 32 | warp.barrier);
        to.number(static_cast<std::uint64_t>(warp.state) << 16 | static_cast<std::uint64_t>(warp.wait) << 8 |
                  std::uint64_t{warp.give_up});
        warp.parted.encode(to);
        to.known(warp.number, warp.now);
        to.known_at(warp.number, warp.gathered);
        to.known(Encoder::accesses_of(warp.number), warp.together);
        to.known(Encoder::fences_of(warp.number), warp.published);
        to.number(std::uint64_t{warp.touched} << 32 | warp.some);
        to.memory(warp.of_some, actors);
        for (Knowledge* knowledge : {&warp.known, &warp.fenced, &warp.seen}) to.knowledge(*knowledge, actors);
    }
}

void Mbarriers::encode(Encoder& to) {
    for (Cta& cta : ctas_) {
        to.number(cta.objects.size());
        for (const auto& object : cta.objects) {
            to.number(object->offset());
            object->encode(to);
            to.number(std::uint64_t{object->brought != nullptr} << 1 | std::uint64_t{object->known_to_warp});
            to.clock(object->actor(), object->landed);
            to.knowledge(object->arriving, actors_);
            to.knowledge(object->complete, actors_);
            to.clocks(object->waited, actors_);
        }
    }
    for (const Waiting& waiting : waiting_)
        to.number(address_of(waiting.mbarrier) ^ std::uint64_t{waiting.several} ^
                  static_cast<std::uint64_t>(waiting.parity & 1) << 1);
    for (const Asked& asked : asked_) {
        to.number(address_of(asked.mbarrier) ^ asked.lanes);
        to.number(asked.mbarrier == nullptr ? 0 : asked.mbarrier->phase() - asked.phase);
    }
}

void Barriers::encode(Encoder& to, int actors) {
    cluster().encode(to);
    to.knowledge(meeting_, actors);
    to.knowledge(met_, actors);
    for (Cta& cta : ctas_) {
        cta.barriers.encode(to);
        for (Knowledge& knowledge : cta.meetings) to.knowledge(knowledge, actors);
        for (const Knowledge& passed : cta.passed) {
            to.number(passed.empty() ? 0 : 1);
            if (!passed.empty()) to.clocks(passed, actors);
        }
    }
}

void Contents::encode(Encoder& to) const {
    for (const Cta& cta : ctas_) {
        to.number(cta.written.size());
        for (const auto& [lo, written] : cta.written) {
            to.number(std::uint64_t{lo} << 32 | written.hi);
            to.number(address_of(written.box));
            to.number(address_of(written.mbarrier));
            to.clock(written.mbarrier->actor(), written.clock);
        }
        to.number(cta.brought.size());
        for (const auto& [lo, hi] : cta.brought) to.number(std::uint64_t{lo} << 32 | hi);
    }
}

void MmaReads::encode(Encoder& to) {
    settle();
    for (const Warp& warp : execution_.warps) {
        const Issuer& issuer = issuers_[static_cast<std::size_t>(warp.number)];
        issuer.groups.encode(to);
        to.clock(Encoder::products_of(execution_.mates(warp).front().number), issuer.groups.issued());
        to.issued(Encoder::products_of(warp.number), issuer.groups.issued());
    }
    for (const Issued& issued : issued_) {
        to.number(issued.steps.size());
        for (std::uint32_t number = issued.first; const auto& [step, opened] : issued.steps) {
            to.number(address_of(step));
            to.number(number++ - opened);
        }
    }
    for (const auto& points : points_) {
        to.number(points.size());
        for (const Point& point : points) {
            to.number(point.address);
            to.number(point.readers.size());
            for (const Point::Reader& reader : point.readers) {
                const Warp& warp = execution_.warps[static_cast<std::size_t>(reader.warp)];
                const Issuer& issuer = issuers_[static_cast<std::size_t>(reader.warp)];
                to.number(static_cast<std::uint64_t>(reader.warp));
                to.clock(reader.warp, reader.clock);
                if (reader.clock == 0) to.number(issuer.groups.issued() - reader.product);
                // Which readers of a warpgroup have the same number matters, also of those to come.
                const bool level = std::ranges::all_of(execution_.mates(warp), [&](const Warp& mate) {
                    return issuers_[static_cast<std::size_t>(mate.number)].steps == issuer.steps;
                });
                to.number(level ? 1 : 0);
                if (level)
                    to.clock(Encoder::steps_of(execution_.mates(warp).front().number), reader.serial);
                else
                    to.number(issuer.steps - reader.serial);
            }
        }
    }
}

void Copies::encode(Encoder& to) const {
    to.number(in_flight_.size());
    for (const Copy& copy : in_flight_) {
        to.number(address_of(copy.mbarrier));
        to.number(std::uint64_t{copy.pc} << 32 | (copy.mbarrier->phase() - copy.phase));
        to.number(static_cast<std::uint64_t>(copy.bytes.value_or(-1)));
    }
    for (std::size_t warp = 0; warp < stores_.size(); ++warp) {
        const Stores& stores = stores_[warp];
        stores.groups.encode(to);
        to.issued(Encoder::stores_of(static_cast<int>(warp)), stores.groups.issued());
        to.number(stores.running.size());
        for (const Stores::Store& store : stores.running) {
            to.number(static_cast<std::uint64_t>(store.lane));
            to.number(stores.groups.issued() - store.number);
        }
    }
}

void RegisterGrants::encode(Encoder& to) const {
    for (const machine::RegisterPool& grants : ctas_) grants.encode(to);
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        to.clock(nobody, static_cast<std::uint32_t>(warps_[warp].times));
        to.clock(static_cast<int>(warp), warps_[warp].clock);
    }
}

void Peers::encode(Encoder& to) const {
    for (const Cta& cta : ctas_) {
        to.number(std::uint64_t{cta.ended} << 32 | cta.visits.size());
        for (const Visit& visit : cta.visits) {
            to.number(static_cast<std::uint64_t>(visit.warp));
            to.clock(visit.warp, visit.clock);
        }
    }
}

}  // namespace wgrun::check::abstract
