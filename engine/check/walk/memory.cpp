#include "check/walk/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/walk/banks.hpp"
#include "isa/generic.hpp"
#include "rules/copy_words.hpp"
#include "rules/phrases.hpp"

namespace wgrun::check::walk {

void Memory::access(const isa::MemoryAccess& access) {
    if (scene_.remarks != nullptr) bank_conflicts(scene_, access);
    if (!access.write) scene_.loads = true;
    if (access.space == isa::Space::global || access.space == isa::Space::local) return;
    if (access.write) note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    if (!access.write) {
        copied(region, scene_.step->op->name, false);
        return;
    }
    overwritten(region);
    scene_.state.write(*scene_.step, region, Fact::always());
}

/// Notes which buffers may be written through this address.
void Memory::note_stored(const Operand& address) {
    int buffer = values_.value_of(address).buffer;
    if (address.reg && scene_.state.values[address.reg.id].origin >= 0)
        buffer = scene_.state.values[address.reg.id].origin;
    if (buffer >= 0)
        scene_.stored[static_cast<std::size_t>(buffer)] = true;
    else
        scene_.stored.assign(scene_.stored.size(), true);
}

void Memory::copy(const isa::MemoryAccess& access) {
    note_stored(*access.address);
    const Region region = accessed(access);
    if (region.cell < 0) return;
    overwritten(region);
    scene_.state.copy(*scene_.step, region);
}

bool Memory::copied(const Region& region, std::string_view who, bool by_async_proxy) {
    if (region.cell < 0) return false;
    // If a part of the buffer has been filled, the read may be of that part.
    if (scene_.state.cells[static_cast<std::size_t>(region.cell)].arrived) return false;
    for (std::size_t i = 0; i < scene_.state.copies->size(); ++i) {
        const CopyFlight& flight = (*scene_.state.copies)[i];
        if (!flight.region.overlaps(region) || !scene_.holds(Property::groups, flight.pending)) continue;
        scene_.findings.add(
            rules::WG_GROUP_04, scene_.step->where,
            fmt::format("{} reads `{}` while a cp.async may still bring it", who,
                        scene_.buffer_name(region.cell)),
            sentence(by_async_proxy ? "{}, {} and {} {}" : "{0} and {2} {3}",
                     flight.age == Grouped::uncommitted ? rules::cp_async_wait_all()
                                                        : rules::cp_async_wait_group(flight.age),
                     rules::fence_proxy_async(), rules::bar_sync(), before(scene_.step->where)),
            {{flight.step->where, "issued here"}});
        scene_.state.copies.own()[i].pending = {};
        return true;
    }
    return false;
}

/// Returns the bytes of shared memory that the threads access.
Region Memory::accessed(const isa::MemoryAccess& access) const {
    const Operand& operand = *access.address;
    const isa::Value address = values_.value_of(operand);
    if (operand.reg) {
        const Known& base = scene_.state.values[operand.reg.id];
        if (base.origin >= 0 && base.exact.known()) {
            auto [least, greatest] = base.exact.range();
            if (access.space == isa::Space::generic)
                for (std::int64_t* at : {&least, &greatest})
                    *at = static_cast<std::int64_t>(isa::within_space(static_cast<std::uint64_t>(*at)));
            // All threads together, side by side.
            const bool dense = scene_.copies != nullptr && scene_.scopes.empty() &&
                               greatest - least == access.bytes * (scene_.program.threads() - 1);
            return scene_.cells.access(base.origin, least + operand.offset,
                                       greatest + operand.offset + access.bytes, least == greatest || dense);
        }
    }
    if (address.is_descriptor || address.buffer < 0) return {};
    if (!address.offset) return scene_.cells.somewhere(address.buffer);
    return scene_.cells.access(address.buffer, *address.offset, *address.offset + access.bytes, true);
}

namespace {

/// Returns the calls that wait for `flight`, after a commit_group if there is none.
template <class... Calls>
std::vector<Remedy> mended_before(Where here, const Flight& flight, Calls... wait) {
    std::vector<Phrase> calls;
    if (flight.age == Flight::uncommitted) calls.push_back(rules::wgmma_commit_group());
    (calls.push_back(std::move(wait)), ...);
    return {{insert_before(here, std::move(calls))}};
}

}  // namespace

/// Reports a write to memory that a wgmma may still read.
void Memory::overwritten(const Region& region) {
    for (const Flight& flight : *scene_.state.flights) {
        const bool b = flight.b.overlaps(region);
        if (!b && !flight.a.overlaps(region)) continue;
        const std::string name = scene_.buffer_name(region.cell);
        const Where here = scene_.step->where;
        if (scene_.holds(Property::shared_races, flight.pending)) {
            const int pending = std::max(flight.age, 0);
            scene_.findings.add(
                rules::WG_RACE_02, here,
                fmt::format("`{}` is written while a wgmma may still read it as operand {}", name,
                            b ? 'B' : 'A'),
                mended_before(here, flight, rules::wgmma_wait_group(pending), rules::bar_sync()),
                {{flight.mma->where, "issued here"}});
            flights_.assume_waited(flight);
        } else if (b && scene_.holds(Property::shared_races, flight.retired)) {
            // The wait covers its own warpgroup's reads. Others read their own rows of A, but the same B.
            scene_.findings.add(
                rules::WG_RACE_02, here,
                fmt::format("`{}` is written while the wgmma of another warpgroup may still read it: "
                            "wgmma.wait_group waits for the warpgroup that executes it",
                            name),
                std::vector<Remedy>{{insert_before(here, {rules::bar_sync()})}},
                {{flight.mma->where, "issued here"}});
        } else {
            continue;
        }
        for (Flight& other : scene_.state.flights.own()) other.retired = {};
        return;
    }
}

void Memory::fence(std::optional<isa::Space> space) {
    if (machine::ProxyFence(space).orders_shared()) scene_.state.fence_proxies();
    scene_.state.proxy_fence = scene_.step;
}

void Memory::taken(const isa::BulkAccess& copy) {
    if (scene_.copies == nullptr || copy.direction != isa::BulkCopy::Direction::to_global) return;
    // However long it is, it takes its first unit.
    const Region source = accessed({isa::Space::shared, false, copy.from, isa::BulkCopy::unit});
    if (source.cell < 0) return;
    for (const CellState::Write* write :
         scene_.state.cells[static_cast<std::size_t>(source.cell)].unpublished.without_fence())
        if (write->region.overlaps(source) && scene_.holds(Property::proxies, write->fact))
            scene_.copies->add(rules::written_before_copy(write->step->where, scene_.step->where),
                               scene_.step->where, {{write->step->where, "written here"}});
}

void Memory::left_over(Where end) {
    for (const CopyFlight& flight : *scene_.state.copies)
        if (scene_.holds(Property::groups, flight.pending))
            scene_.findings.add(rules::thread_copy_at_end("the kernel", "", flight.step->where, end),
                                flight.step->where);
}

}  // namespace wgrun::check::walk
